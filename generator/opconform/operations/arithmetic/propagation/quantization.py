"""The formula of linear quantization, whose parts are rounded: the intervals of its results.

Kernels divide by the range and multiply by the levels, or multiply by a scale and add a shift. Both are the same
formula, so an element near the middle of two levels can become either of them, and others become one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.composites import hull
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.propagation.composites import RowsOf
from opconform.operations.arithmetic.propagation.functions import last, wide
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.tensors.exact import Exact

_ZERO, _HALF, _ONE = Exact(0), Exact(1, 2), Exact(1)


class Limits(NamedTuple):
    """The ranges of inputs and outputs of an element."""

    input_low: Interval
    input_high: Interval
    output_low: Interval
    output_high: Interval

    @property
    def are_equal(self) -> bool:
        """Whether both limits of inputs are surely the same number."""
        return len({*self.input_low[:2], *self.input_high[:2]}) == 1

    @property
    def are_ordered(self) -> bool:
        """Whether the lower limit of inputs is surely below the upper one."""
        return self.input_low.high < self.input_high.low


def fake_quantized(rows: RowsOf) -> Formula:
    """The formula of an operation that quantizes elements; the limits may be rounded themselves, too."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        levels, inside = arguments.number("levels"), replace(wide(way), keeps_exact=way.keeps_exact)
        return [_part(way, inside, levels, row) for row in rows(arguments, parts)]

    return Formula(of=formula)


def _part(way: Composition, inside: Composition, levels: int, row: Sequence[Part]) -> Part:
    x, *limits = row
    known = [limit for limit in limits if not isinstance(limit, float)]
    if len(known) < len(limits):
        raise NoGolden("a limit is an infinity or a NaN")
    if isinstance(x, float):
        return x if math.isnan(x) else known[3 if x > 0 else 2]
    return last(way, level(inside, x, Limits(*known), levels))


def level(way: Composition, x: Interval, limits: Limits, levels: int) -> Interval:
    """The level of the output range that stands for an element, by the branches of the page.

    Raises:
        NoGolden: Errors decide whether the input range is empty, or a part may be beyond the range of the type.
    """
    low, high, output_low, output_high = map(way.operand, limits)
    range_, x = Limits(low, high, output_low, output_high), way.operand(x)
    least, most = min(low.low, high.low), max(low.high, high.high)
    if x.high <= least:
        return output_low
    results = [output_low] if x.low <= min(low.high, high.high) else []
    if x.high > max(low.low, high.low):
        results.append(output_high)
        if limits.are_ordered:  # a kernel may clip the element first, and compute the last level
            results.append(_number(way, Exact(levels - 1), range_, levels))
    if not limits.are_equal and x.low <= most:
        codes = _codes(way, x.clipped(least, most), range_, levels)
        results += [_number(way, code, range_, levels) for code in codes]
    return hull(results)


def _codes(way: Composition, x: Interval, limits: Limits, levels: int) -> tuple[Exact, ...]:
    """The least and the largest code that an element within the range can become."""
    steps, width = way.rounded(point(Exact(levels - 1))), way.sum(limits.input_high, -limits.input_low)
    if width.low <= 0 <= width.high:
        if not way.is_reduced:
            raise NoGolden("errors decide whether the input range is empty")
        return _ZERO, Exact(levels - 1)
    scale, difference = way.quotient(steps, width), way.sum(x, -limits.input_low)
    codes = hull(
        (
            way.product(way.quotient(difference, width), steps),
            way.product(difference, scale),
            way.sum(way.product(x, scale), -way.product(limits.input_low, scale)),
        )
    )
    if codes.overflows:
        raise NoGolden("the input range may be beyond the range of the type")
    if way.is_exact and codes.low == codes.high:
        return (Exact(round(codes.low)),)  # the even one of two
    return Exact(max(math.ceil(codes.low - _HALF), 0)), Exact(min(math.floor(codes.high + _HALF), levels - 1))


def _number(way: Composition, code: Exact, limits: Limits, levels: int) -> Interval:
    """The number that a code stands for, by both ways to compute it."""
    low = limits.output_low
    if not code:
        return low
    steps, width = way.rounded(point(Exact(levels - 1))), way.sum(limits.output_high, -low)
    share = way.quotient(point(code), steps) if code < levels - 1 else point(_ONE)
    result = hull(
        (
            way.sum(way.product(share, width), low),
            way.sum(way.product(point(code), way.quotient(width, steps)), low),
        )
    )
    if result.overflows:
        raise NoGolden("the output range may be beyond the range of the type")
    return result
