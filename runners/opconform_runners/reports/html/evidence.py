"""The evidence of a case on the page: its inputs, expected and actual outputs, likely cause and IR."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from operator import add

from opconform.dialects import DIALECTS
from opconform.errors import SuiteError
from opconform.model.highlight import highlight_of
from opconform.suite.case import Accept, Case, Output, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.case_text import input_lines, seen_link
from opconform_runners.reports.cause import accepted_as, cause_of, divided_axis, overrun
from opconform_runners.reports.excerpt import UNKNOWN, Excerpt, excerpt_of
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
Arrays = Mapping[str, Array]
Pair = tuple[Excerpt | None, Excerpt | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """The arrays of one feed of a case: its inputs, its golden outputs, and the outputs that the run kept."""

    number: int
    inputs: Arrays
    golden: Arrays
    actual: Arrays


def feeds_of(suite: Suite, entry: Entry, result: Result, kept: Kept) -> list[Feed]:
    """The feeds of a case, the one at fault first; none if its tensors are too large to be drawn."""
    case = suite.case(entry)
    if sum(math.prod(each.shape) for each in case.inputs) > _ELEMENTS:
        return []
    at_fault = result.mismatch.feed if result.mismatch else case.feeds - 1 if isinstance(case.expect, Reject) else 0
    outputs = kept.outputs(entry.id)
    return [
        Feed(
            number=number,
            inputs=suite.arrays(entry, inputs_name(number)),
            golden=suite.arrays(entry, expected_name(number)) if expected_name(number) in entry.files else {},
            actual={f"output_{output}": each for (feed, output), each in outputs.items() if feed == number},
        )
        for number in sorted(range(case.feeds), key=lambda each: each != at_fault)
    ]


def likely_cause(case: Case, result: Result, feed: Feed) -> str:
    """The likely cause of a failure in the feed at fault, or an empty string."""
    mismatch = result.mismatch
    if mismatch is not None and mismatch.reason in _ELEMENTWISE and isinstance(case.expect, Accept):
        found = next((each for each in case.expect.accept if each.name == mismatch.output), None)
        if found is None or not {found.name} <= feed.golden.keys() & feed.actual.keys():
            return ""
        others = {**feed.inputs, **{name: each for name, each in feed.golden.items() if name != found.name}}
        return cause_of(feed.golden[found.name], feed.actual[found.name], found.element_type, others)
    if result.reason != "accepted-invalid" or not feed.actual:
        return ""
    shapes = [feed.actual[name].shape for name in sorted(feed.actual, key=output_number)]
    return overrun(_divided(case, feed), shapes) or accepted_as(case, feed.inputs, shapes)


def evidence_of(suite: Suite, entry: Entry, result: Result, feeds: list[Feed]) -> dict[str, object]:
    """The evidence of a case as a JSON object without empty values."""
    case = suite.case(entry)
    inputs = input_lines(case, feeds[0].inputs if feeds else {})
    evidence: dict[str, object] = {
        "title": case.title,
        "inputs": [*inputs, f"context: {case.context}"],
        "expected": _expected(case),
        "feeds": [_filled(_drawn(case, each, result.mismatch)) for each in feeds],
        "models": _models(suite, entry),
        "twin": case.twin,
        "seen": [(each, seen_link(each)) for each in case.seen],
    }
    return _filled(evidence)


def _filled(document: dict[str, object]) -> dict[str, object]:
    return {name: each for name, each in document.items() if each or each == 0}


def _drawn(case: Case, feed: Feed, mismatch: Mismatch | None) -> dict[str, object]:
    here = mismatch if mismatch is not None and mismatch.feed == feed.number else None
    data = _picture(case, feed.inputs, here)
    wanted, got = (_bars(_divided(case, feed), each) for each in (feed.golden, feed.actual))
    return {
        "number": feed.number,
        "data": None if data is None else _filled(asdict(data)),
        "pairs": [[each and _filled(asdict(each)) for each in pair] for pair in _pairs(case, feed, here)],
        "wanted": {} if wanted == got else wanted,
        "got": {} if wanted == got else got,
    }


def _divided(case: Case, feed: Feed) -> tuple[int, ...]:
    """The shape of the first tensor input, which the outputs may divide."""
    return next((feed.inputs[each.name].shape for each in case.inputs if each.role == "tensor"), ())


def _bars(shape: tuple[int, ...], outputs: Arrays) -> dict[str, object]:
    """The sizes of outputs over the dimension of an input that they divide, for a drawing; empty if there is none."""
    names = sorted(outputs, key=output_number)
    axis = divided_axis(shape, [outputs[each].shape for each in names])
    if axis is None or len(names) > _VALUES:
        return {}
    return {"axis": axis, "size": shape[axis], "outputs": [(each, outputs[each].shape[axis]) for each in names]}


def _past_the_end(shape: tuple[int, ...], outputs: Arrays) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The first element of each output that is past the end of the input that the outputs divide."""
    axis, start = divided_axis(shape, [each.shape for each in outputs.values()]), 0
    if axis is None:
        return
    for name in sorted(outputs, key=output_number):
        size = outputs[name].shape[axis]
        if start + size > shape[axis]:
            yield name, tuple(max(0, shape[axis] - start) if each == axis else 0 for each in range(len(shape)))
        start += size


def _pairs(case: Case, feed: Feed, mismatch: Mismatch | None) -> Iterator[Pair]:
    """Expected and actual outputs beside each other: the one at fault, or the first ones."""
    outputs = {each.name: each for each in case.expect.accept} if isinstance(case.expect, Accept) else {}
    fallback = next((each.element_type for each in case.inputs if each.role == "tensor"), "f32")
    names = sorted(feed.golden.keys() | feed.actual.keys(), key=output_number)[:_OUTPUTS]
    if mismatch is not None and mismatch.output is not None:
        names = [mismatch.output] if mismatch.output in outputs else []
    past = dict([] if feed.golden else _past_the_end(_divided(case, feed), feed.actual))
    for name in names:
        want, got = feed.golden.get(name), feed.actual.get(name)
        if want is not None and mismatch is not None and mismatch.reason in _ELEMENTWISE:
            yield _compared(outputs[name], want, got, mismatch)
            continue
        element_type = outputs[name].element_type if name in outputs else fallback
        yield (
            None if want is None else excerpt_of(name, want, element_type),
            None if got is None else excerpt_of(name, got, element_type, at=past.get(name)),
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
