"""Composites of several rounded numbers: softmax, and the normalization by mean and variance."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.propagation.functions import last, wide
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.arithmetic.propagation.sums import total
from opconform.tensors.exact import Exact

_ZERO, _ONE = Exact(0), Exact(1)
#: The elements of several inputs that each element of the output depends on, from those of inputs by their names.
RowsOf = Callable[[Arguments, Mapping[str, Sequence[Part]]], Iterable[tuple[Part, ...]]]


def of_rows(rows: RowsOf, of: Callable[[Arguments, Composition, Sequence[Interval]], Interval]) -> Formula:
    """The formula of a composite of several elements; a NaN among them gives a NaN."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        inside = replace(wide(way), keeps_exact=way.keeps_exact)
        return [_of_row(way, lambda x: of(arguments, inside, x), row) for row in rows(arguments, parts)]

    return Formula(of=formula)


def _of_row(way: Composition, of: Callable[[Sequence[Interval]], Interval], row: Sequence[Part]) -> Part:
    intervals = [x for x in row if isinstance(x, Interval)]
    if len(intervals) == len(row):
        return last(way, of(intervals))
    if any(isinstance(x, float) and math.isnan(x) for x in row):
        return math.nan
    raise NoGolden("an element beside rounded numbers is an infinity")


def softmax(way: Composition, parts: Sequence[Part]) -> list[Part]:
    """The exponentials of the elements of a slice, divided by their sum.

    The result does not change if the same number is subtracted from all: here it is one near the largest element.
    """
    intervals = [x for x in parts if isinstance(x, Interval)]
    if not intervals or any(isinstance(x, float) and not x < 0 for x in parts):
        return [math.nan] * len(parts)
    low, high = max(x.low for x in intervals), max(x.high for x in intervals)
    spread = high - low
    results = composites.softmax(wide(way), parts, low, spread)
    most = None if way.is_reduced else _ONE
    return [
        point(_ZERO) if isinstance(x, float) else last(way, result).clipped(_ZERO, most)
        for x, result in zip(parts, results, strict=True)
    ]


def normalized(
    way: Composition, parts: Sequence[Part], count: int, divisor_of: Callable[[Exact], Exact] | None
) -> list[Part]:
    """The differences of the elements of a slice to their mean, divided by what the variance gives, if it gives one.

    `count` is what the sum of the squares of the differences is divided by.
    """
    intervals = [x for x in parts if isinstance(x, Interval)]
    if len(intervals) < len(parts):
        return [math.nan] * len(parts)
    total(way, parts)  # which may be beyond the range
    parts_of = replace(wide(way), keeps_exact=way.keeps_exact)
    if divisor_of is None:
        results = composites.differences(parts_of, intervals)
    else:
        results = composites.normalized(parts_of, intervals, count, divisor_of)
    return [last(way, x) for x in results]
