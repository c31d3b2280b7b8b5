"""The evidence of a case on the page: its inputs, expected and actual outputs and IR."""

import math
from dataclasses import asdict, replace
from operator import add

from opconform.dialects import DIALECTS
from opconform.errors import SuiteError
from opconform.model.highlight import highlight_of
from opconform.suite.case import Accept, Case, Output, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.case_text import input_lines
from opconform_runners.reports.excerpt import UNKNOWN, Excerpt, excerpt_of
from opconform_runners.reports.html.subject import short
from opconform_runners.verdicts.comparison import Mismatch, output_number
from opconform_runners.verdicts.results import Result

#: The most outputs, the most values of an input, and the most elements of a case whose tensors are drawn.
_OUTPUTS = 4
_VALUES = 12
_ELEMENTS = 1 << 22
#: The most characters of a model.
_LONGEST = 20_000
#: The operation alone, which is shown for a case without a graph around it.
_LAYER = "openvino/layer.xml"
#: The reasons that come from comparing elements.
_ELEMENTWISE = ("value", "nan-payload")
Arrays = dict[str, Array]
Excerpts = tuple[Excerpt, ...]


def evidence_of(suite: Suite, entry: Entry, result: Result, kept: Kept) -> dict[str, object]:
    """The evidence of a case as a JSON object without empty values; `kept` has the outputs that the run kept."""
    case, mismatch = suite.case(entry), result.mismatch
    feed = mismatch.feed if mismatch is not None else case.feeds - 1 if isinstance(case.expect, Reject) else 0
    note = "" if feed == 0 else f"This is feed {feed}: a further inference on the model already built."
    arrays: Arrays = {}
    golden: Arrays = {}
    actual: Arrays = {}
    if sum(math.prod(each.shape) for each in case.inputs) > _ELEMENTS:
        note = "The tensors are too large to be drawn here."
    else:
        arrays = suite.arrays(entry, inputs_name(feed))
        golden = suite.arrays(entry, expected_name(feed)) if expected_name(feed) in entry.files else {}
        actual = {f"output_{number}": each for (of, number), each in kept.outputs(entry.id).items() if of == feed}
    data = _picture(case, arrays, mismatch) if arrays else None
    wanted, got = _outputs(case, golden, actual, mismatch)
    evidence: dict[str, object] = {
        "title": case.title,
        "inputs": [*input_lines(case, arrays), f"context: {case.context}"],
        "data": None if data is None else _filled(asdict(data)),
        "expected": _expected(case),
        "wanted": [_filled(asdict(each)) for each in wanted],
        "actual": short(result.sentence),
        "got": [_filled(asdict(each)) for each in got],
        "note": note,
        "models": _models(suite, entry),
        "twin": case.twin,
    }
    return _filled(evidence)


def _filled(document: dict[str, object]) -> dict[str, object]:
    return {name: each for name, each in document.items() if each}


def _outputs(case: Case, golden: Arrays, actual: Arrays, mismatch: Mismatch | None) -> tuple[Excerpts, Excerpts]:
    """The expected and the actual outputs: the one at fault, or the first ones."""
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    at_fault = next((each for each in outputs if mismatch is not None and each.name == mismatch.output), None)
    if mismatch is not None and mismatch.reason in _ELEMENTWISE and at_fault is not None and at_fault.name in golden:
        wanted, got = _compared(at_fault, golden[at_fault.name], actual.get(at_fault.name), mismatch)
        return (wanted,), (got,)
    tensors = (each.element_type for each in case.inputs if each.role == "tensor")
    element_type = outputs[0].element_type if outputs else next(tensors, "f32")
    listed = [each for each in ([at_fault] if at_fault else outputs) if each.name in golden][:_OUTPUTS]
    names = [at_fault.name] if at_fault else sorted(actual, key=output_number)[:_OUTPUTS]
    return (
        tuple(excerpt_of(each.name, golden[each.name], each.element_type) for each in listed),
        tuple(excerpt_of(each, actual[each], element_type) for each in names if each in actual),
    )


def _compared(output: Output, want: Array, actual: Array | None, mismatch: Mismatch) -> tuple[Excerpt, Excerpt]:
    name, element_type, at = output.name, output.element_type, mismatch.at or ()
    if actual is not None and (actual.dtype.kind, actual.shape) == (want.dtype.kind, want.shape):
        return (
            excerpt_of(name, want, element_type, other=actual, at=at),
            excerpt_of(name, actual, element_type, other=want, at=at),
        )
    wanted = excerpt_of(name, want, element_type, at=at)
    row, column = first = wanted.first or (0, 0)
    cells = tuple(
        tuple((mismatch.actual or UNKNOWN) if (y, x) == first else UNKNOWN for x in range(len(line)))
        for y, line in enumerate(wanted.rows)
    )
    return (
        replace(wanted, differs=((row, column, mismatch.expected or ""),)),
        replace(wanted, rows=cells, differs=((row, column, mismatch.actual or ""),)),
    )


def _picture(case: Case, arrays: Arrays, mismatch: Mismatch | None) -> Excerpt | None:
    """The input that is divided into the outputs, around the first difference; otherwise the first tensor."""
    tensors = {each.name: each.element_type for each in case.inputs if each.role == "tensor" and each.name in arrays}
    highlight = highlight_of(case, arrays)
    if highlight is None:
        name = next(iter(tensors), None)
        return None if name is None else excerpt_of(name, arrays[name], tensors[name])
    at = None
    if mismatch is not None and mismatch.at is not None:
        starts = {f"output_{number}": region.start for number, region in enumerate(highlight.regions)}
        start = starts.get(mismatch.output or "", ())
        if len(start) == len(mismatch.at):  # results that were not made with this suite may name any element
            at = tuple(map(add, start, mismatch.at))
    name = highlight.input
    return excerpt_of(name, arrays[name], tensors[name], highlight=highlight, at=at)


def _expected(case: Case) -> str:
    match case.expect:
        case Reject(reject=requirement):
            return f"It is rejected, since it violates {requirement}."
        case Accept(accept=()):
            return "It is accepted, with no output."
        case Accept(accept=outputs):
            kinds = ", ".join(f"{each.element_type}{list(each.shape)}" for each in outputs[:_VALUES])
            more = f", … {len(outputs)} in all" if len(outputs) > _VALUES else ""
            return f"It is accepted, with the outputs {kinds}{more}."
        case None:
            return ""


def _models(suite: Suite, entry: Entry) -> list[tuple[str, str]]:
    models = []
    for name, file in suite.header.dialects.items():
        shown = _LAYER if file == DIALECTS["openvino"].model and suite.case(entry).context == "bare" else file
        if shown in entry.files:
            text = _model_text(shown, suite.read(entry, shown))
            models.append((shown, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n…"))
        elif name in entry.left_out:
            models.append((name, entry.left_out[name]))
    return models


def _model_text(name: str, content: bytes) -> str:
    if not name.endswith(".onnx"):
        return content.decode("utf-8", "replace")
    from opconform.dialects.onnx import printed

    try:
        return printed(content)
    except ImportError:
        return "Printing this model needs the onnx package, which is not installed."
    except ValueError as fault:
        raise SuiteError(f"{name} is not an ONNX model: {fault}.") from fault
