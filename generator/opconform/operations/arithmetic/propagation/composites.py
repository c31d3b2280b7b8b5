"""Composites of several rounded numbers: softmax, the normalization by mean and variance, and norms."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import Composition, Interval, is_number
from opconform.operations.arithmetic.propagation.functions import absolute, last, wide
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


def softmax(way: Composition, parts: Sequence[Part], *, keeps_exact: bool = False) -> list[Part]:
    """The exponentials of the elements of a slice, divided by their sum.

    `keeps_exact` says that shares are exact where the type has every part of the formula, as for equal elements.
    """
    if (ends := _largest(parts)) is None:
        return [math.nan] * len(parts)
    inside = replace(wide(way), keeps_exact=keeps_exact and way.keeps_exact)
    results = composites.softmax(inside, parts, *ends)
    most = None if way.is_reduced else _ONE
    return [
        point(_ZERO)
        if isinstance(x, float)
        else result
        if inside.keeps_exact and result.low == result.high and is_number(way.kind, result.low)
        else last(way, result).clipped(_ZERO, most)
        for x, result in zip(parts, results, strict=True)
    ]


def log_softmax(way: Composition, parts: Sequence[Part]) -> list[Part]:
    """The logarithms of the same quotients."""
    if (ends := _largest(parts)) is None:
        return [math.nan] * len(parts)
    intervals = [x for x in parts if isinstance(x, Interval)]
    results = iter(composites.log_softmax(wide(way), intervals, *ends))
    most = None if way.is_reduced else _ZERO
    return [x if isinstance(x, float) else last(way, next(results)).clipped(None, most) for x in parts]


def _largest(parts: Sequence[Part]) -> tuple[Exact, Exact] | None:
    """A number near the largest element of a slice, and how much larger that can be; None if it is no number.

    Results do not change if the number is subtracted from all elements.
    """
    intervals = [x for x in parts if isinstance(x, Interval)]
    if not intervals or any(isinstance(x, float) and not x < 0 for x in parts):
        return None
    low, high = max(x.low for x in intervals), max(x.high for x in intervals)
    return low, high - low


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


def group_normalized(
    way: Composition, columns: Sequence[Sequence[Part]], divisor_of: Callable[[Exact], Exact]
) -> list[Part]:
    """The elements of a group, normalized by their mean and variance, times scale, plus bias."""
    parts = columns[0]
    rows = [[x for x in row if isinstance(x, Interval)] for row in columns]
    if len(rows[0]) < len(parts):
        return [math.nan] * len(parts)
    if any(len(row) < len(parts) for row in rows):
        raise NoGolden("an element beside rounded numbers is an infinity")
    total(way, parts)  # which may be beyond the range
    inside = replace(wide(way), keeps_exact=way.keeps_exact)
    return [last(way, x) for x in composites.group_normalized(inside, rows, len(parts), divisor_of)]


def absolute_total(way: Composition, parts: Sequence[Part]) -> Part:
    """The sum of the elements without their signs."""
    return total(way, [absolute(way, x) for x in parts])


def norm(way: Composition, parts: Sequence[Part]) -> Part:
    """The square root of the sum of the squares of the elements."""
    intervals = [x for x in parts if isinstance(x, Interval)]
    if len(intervals) < len(parts):
        return math.nan if any(isinstance(x, float) and math.isnan(x) for x in parts) else math.inf
    return last(way, composites.norm(replace(wide(way), keeps_exact=way.keeps_exact), intervals))
