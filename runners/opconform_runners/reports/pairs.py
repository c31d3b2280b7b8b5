"""Expected and actual outputs beside each other, with the differences marked."""

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from opconform.model.highlight import highlight_of
from opconform.suite.case import Accept, Case
from opconform_runners.reports.cause import divided_axis
from opconform_runners.reports.excerpt import Excerpt, Marks, excerpt_of
from opconform_runners.reports.feeds import Arrays, Feed, divided_shape
from opconform_runners.verdicts.comparison import Mismatch, output_number

#: The most outputs whose elements are drawn, and whose sizes are.
_OUTPUTS = 4
_BARS = 12
Pair = tuple[Excerpt | None, Excerpt | None]


class Bars(NamedTuple):
    """The outputs that divide a dimension of an input: their names, where they begin, and their sizes."""

    axis: int
    size: int
    outputs: list[tuple[str, int, int]]


def bars_of(shape: tuple[int, ...], outputs: Arrays) -> Bars | None:
    """How outputs divide an input of this shape; None if they do not, or if there are too many of them."""
    names = sorted(outputs, key=output_number)
    axis = divided_axis(shape, [outputs[each].shape for each in names])
    if axis is None or len(names) > _BARS:
        return None
    sizes = [outputs[each].shape[axis] for each in names]
    return Bars(axis, shape[axis], list(zip(names, accumulate(sizes, initial=0), sizes, strict=False)))


def pairs_of(case: Case, feed: Feed, mismatch: Mismatch | None) -> Iterator[Pair]:
    """Expected and actual outputs beside each other: the one at fault, or the first ones.

    The differences are marked, or the elements past the end of the input.
    """
    outputs = {each.name: each for each in case.expect.accept} if isinstance(case.expect, Accept) else {}
    data_type = next((each.element_type for each in case.inputs if each.role == "tensor"), "f32")
    shape = divided_shape(case, feed)
    bars = None if feed.golden else bars_of(shape, feed.actual)
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
