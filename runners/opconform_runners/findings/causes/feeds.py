"""The arrays of a failed case, and its likely cause."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opconform.explanation.origins import Origin, origin_of
from opconform.explanation.reference import has_several_outputs
from opconform.suite.bounds import Bounds
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.findings.causes.cause import accepted_as, causes_of, overrun
from opconform_runners.findings.causes.roundings import rounding_causes
from opconform_runners.verdicts.comparison import Mismatch, output_number
from opconform_runners.verdicts.results import Result

#: The most elements of a case whose tensors are read.
_ELEMENTS = 1 << 22
Arrays = Mapping[str, Array]
#: What a backend returned, by feed and number of the output.
Outputs = Mapping[tuple[int, int], Array]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedArrays:
    """The arrays of one feed of a case: its inputs, its golden outputs, and the outputs that the run kept.

    `bounds` has the bounds of the golden outputs that were computed.
    """

    number: int
    inputs: Arrays
    golden: Arrays
    actual: Arrays
    bounds: Mapping[str, Bounds]


def is_read(case: Case) -> bool:
    """Whether the tensors of a case are small enough to be read for a report."""
    return sum(math.prod(input_.shape) for input_ in case.inputs) <= _ELEMENTS


def feeds_of(suite: Suite, entry: Entry, result: Result, outputs: Outputs) -> list[FeedArrays]:
    """The feeds of a case, the one at fault first; none if its tensors are too large to be drawn."""
    case = suite.recent_case(entry)
    if not is_read(case):
        return []
    at_fault = result.mismatch.feed if result.mismatch else case.feeds - 1 if isinstance(case.expect, Reject) else 0
    return [
        FeedArrays(
            number=number,
            inputs=suite.arrays(entry, inputs_name(number)),
            golden=suite.golden(entry, number) if expected_name(number) in entry.files else {},
            actual={f"output_{output}": o for (feed, output), o in outputs.items() if feed == number},
            bounds=_bounds(suite, entry, number) if expected_name(number) in entry.files else {},
        )
        for number in sorted(range(case.feeds), key=lambda x: x != at_fault)
    ]


def _bounds(suite: Suite, entry: Entry, feed: int) -> dict[str, Bounds]:
    pairs = zip(suite.recent_case(entry).outputs, suite.bounds(entry, feed), strict=True)
    return {output.name: bounds for output, bounds in pairs if bounds is not None}


def divided_shape(case: Case, feed: FeedArrays) -> tuple[int, ...]:
    """The shape of the first tensor input if outputs of the operation divide one, otherwise ()."""
    if not has_several_outputs(case.op):
        return ()
    return next((feed.inputs[input_.name].shape for input_ in case.inputs if input_.role == "data"), ())


def origin_of_mismatch(case: Case, feed: FeedArrays, mismatch: Mismatch | None) -> Origin | None:
    """The input element that the first element that differs should equal, or None."""
    if mismatch is None or mismatch.output is None or mismatch.at is None:
        return None
    return origin_of(case, feed.inputs, mismatch.output, mismatch.at)


def origin_line(mismatch: Mismatch | None, origin: Origin | None) -> str:
    """The element that differs and the one that it should equal, or an empty string."""
    if mismatch is None or mismatch.at is None or origin is None:
        return ""
    return f"{_element(mismatch.output or '', mismatch.at)} should equal {_element(*origin)}"


def _element(name: str, at: tuple[int, ...]) -> str:
    return f"{name}{[*at]}" if at else name


def likely_causes(case: Case, result: Result, feed: FeedArrays) -> Iterator[str]:
    """The causes that a failure in the feed at fault can have, one by one, the likeliest first."""
    mismatch = result.mismatch
    if mismatch is not None and isinstance(case.expect, Accept):
        wrong = next((output for output in case.expect.accept if output.name == mismatch.output), None)
        if wrong is None or not {wrong.name} <= feed.golden.keys() & feed.actual.keys():
            return
        others = {**feed.inputs, **{name: x for name, x in feed.golden.items() if name != wrong.name}}
        causes = rounding_causes(case, feed.inputs, feed.golden, feed.actual)
        if (first := next(causes, None)) is not None:
            yield first
            yield from causes
        else:
            yield from causes_of(feed.golden[wrong.name], feed.actual[wrong.name], wrong.element_type, others)
    elif result.reason == "accepted-invalid" and feed.actual:
        shapes = [feed.actual[name].shape for name in sorted(feed.actual, key=output_number)]
        if read := overrun(divided_shape(case, feed), shapes) or accepted_as(case, feed.inputs, shapes):
            yield read


def likely_cause(case: Case, result: Result, feed: FeedArrays) -> str:
    """The likeliest cause of a failure in the feed at fault, or an empty string."""
    return next(likely_causes(case, result, feed), "")
