"""The evidence of a case on the page: its inputs, expected and actual outputs, likely cause and IR."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import accumulate
from operator import add
from typing import NamedTuple

import numpy as np

from opconform.dialects import DIALECTS
from opconform.errors import SuiteError
from opconform.model.highlight import highlight_of
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.reports.case_text import input_lines, seen_link
from opconform_runners.reports.cause import divided_axis
from opconform_runners.reports.excerpt import Excerpt, Marks, excerpt_of
from opconform_runners.reports.feeds import Arrays, Feed, divided_shape
from opconform_runners.verdicts.comparison import Mismatch, output_number
from opconform_runners.verdicts.results import Result

#: The most outputs whose elements are drawn, and whose sizes are listed.
_OUTPUTS = 4
_VALUES = 12
#: The most characters of a model.
_LONGEST = 20_000
#: The operation alone, which is shown for a case without a graph around it.
_LAYER = "openvino/layer.xml"
Pair = tuple[Excerpt | None, Excerpt | None]


def evidence_of(suite: Suite, entry: Entry, result: Result, feeds: list[Feed]) -> dict[str, object]:
    """The evidence of a case as a JSON object without empty values."""
    case = suite.case(entry)
    inputs = input_lines(case, feeds[0].inputs if feeds else {})
    evidence: dict[str, object] = {
        "title": case.title,
        "inputs": [*inputs, f"context: {case.context}"],
        "expected": _expected(case),
        "feeds": [filled(_drawn(case, each, result.mismatch)) for each in feeds],
        "models": _models(suite, entry),
        "seen": [(each, seen_link(each)) for each in case.seen],
    }
    return filled(evidence)


def filled(document: Mapping[str, object]) -> dict[str, object]:
    """A JSON object without its empty values; 0 is not empty."""
    return {name: each for name, each in document.items() if each or each == 0}


def _drawn(case: Case, feed: Feed, mismatch: Mismatch | None) -> dict[str, object]:
    here = mismatch if mismatch is not None and mismatch.feed == feed.number else None
    data = _picture(case, feed.inputs, here)
    wanted, got = (_bars(divided_shape(case, feed), each) for each in (feed.golden, feed.actual))
    return {
        "number": feed.number,
        "data": None if data is None else filled(asdict(data)),
        "pairs": [[each and filled(asdict(each)) for each in pair] for pair in _pairs(case, feed, here)],
        "wanted": None if wanted is None or wanted == got else wanted._asdict(),
        "got": None if got is None or wanted == got else got._asdict(),
    }


class Bars(NamedTuple):
    """The outputs that divide a dimension of an input: their names, where they begin, and their sizes."""

    axis: int
    size: int
    outputs: list[tuple[str, int, int]]


def _bars(shape: tuple[int, ...], outputs: Arrays) -> Bars | None:
    names = sorted(outputs, key=output_number)
    axis = divided_axis(shape, [outputs[each].shape for each in names])
    if axis is None or len(names) > _VALUES:
        return None
    sizes = [outputs[each].shape[axis] for each in names]
    return Bars(axis, shape[axis], list(zip(names, accumulate(sizes, initial=0), sizes, strict=False)))


def _pairs(case: Case, feed: Feed, mismatch: Mismatch | None) -> Iterator[Pair]:
    """Expected and actual outputs beside each other: the one at fault, or the first ones.

    The differences are marked, or the elements past the end of the input.
    """
    outputs = {each.name: each for each in case.expect.accept} if isinstance(case.expect, Accept) else {}
    data_type = next((each.element_type for each in case.inputs if each.role == "tensor"), "f32")
    shape = divided_shape(case, feed)
    bars = None if feed.golden else _bars(shape, feed.actual)
    starts = {} if bars is None else {name: start for name, start, size in bars.outputs if start + size > bars.size}
    highlight = highlight_of(case, feed.inputs)
    names = sorted(feed.golden.keys() | feed.actual.keys(), key=output_number)[:_OUTPUTS]
    if mismatch is not None and mismatch.output is not None:
        names = [mismatch.output] if mismatch.output in outputs else []
    for name in names:
        want, got = feed.golden.get(name), feed.actual.get(name)
        element_type = outputs[name].element_type if name in outputs else data_type
        at, past = None if mismatch is None else mismatch.at, None
        if bars is not None and got is not None and name in starts:
            room = max(0, bars.size - starts[name])
            at = tuple(room if each == bars.axis else 0 for each in range(got.ndim))
            indices = np.arange(got.shape[bars.axis]).reshape(
                [-1 if each == bars.axis else 1 for each in range(got.ndim)]
            )
            past = np.broadcast_to(indices >= room, got.shape)
        alike = want is not None and got is not None and (want.dtype.kind, want.shape) == (got.dtype.kind, got.shape)
        joined = highlight if highlight is not None and highlight.tensor == name else None
        of_want = Marks(at=at, other=got if alike else None)
        of_got = Marks(at=at, other=want if alike else None, past=past)
        yield (
            None if want is None else excerpt_of(name, want, element_type, highlight=joined, marks=of_want),
            None
            if got is None
            else excerpt_of(name, got, element_type, highlight=joined if alike else None, marks=of_got),
        )


def _picture(case: Case, arrays: Arrays, mismatch: Mismatch | None) -> Excerpt | None:
    """The input that is divided into the outputs, around the first difference; otherwise the first tensor."""
    tensors = {each.name: each.element_type for each in case.inputs if each.role == "tensor" and each.name in arrays}
    highlight = highlight_of(case, arrays)
    if highlight is None or highlight.tensor not in arrays:
        name = next(iter(tensors), None)
        return None if name is None else excerpt_of(name, arrays[name], tensors[name])
    at = None
    if mismatch is not None and mismatch.at is not None:
        starts = {name: region.start for name, region in zip(highlight.names, highlight.regions, strict=True)}
        start = starts.get(mismatch.output or "", ())
        if len(start) == len(mismatch.at):  # results that were not made with this suite may name any element
            at = tuple(map(add, start, mismatch.at))
    name = highlight.tensor
    return excerpt_of(name, arrays[name], tensors[name], highlight=highlight, marks=Marks(at=at))


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
