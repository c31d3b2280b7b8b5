"""Operations on two rounded numbers, or on one and its limits, whose results are exact or rounded once."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden
from opconform.operations.arithmetic.broadcasting import places
from opconform.operations.arithmetic.composition import Composition, Interval, is_number
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point
from opconform.operations.arithmetic.sums import allowed_error, reduced_error
from opconform.tensors.exact import FEW_BITS, Exact, has_few_bits

#: A function of two elements.
Pairwise = Callable[[Composition, Part, Part], Part]
_HALF, _ONE, _ZERO = Exact(1, 2), Exact(1), Exact(0)


def of_pairs(of: Pairwise, *, square: Pairwise | None = None, keeps_integers: bool = True) -> Formula:
    """The formula of an operation on two tensors, which are broadcast; `square` if both are the same one."""

    def formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
        first, second = places(arguments)
        a, b = parts["a"], parts["b"]
        is_same = arguments.tensor("a") is arguments.tensor("b") and first == second
        function = square if is_same and square is not None else of
        return [function(way, a[x], b[y]) for x, y in zip(first, second, strict=True)]

    return Formula(of=formula, keeps_integers=keeps_integers)


def added(way: Composition, a: Part, b: Part) -> Part:
    """The sum."""
    if isinstance(a, float) or isinstance(b, float):
        return _float_of(a) + _float_of(b)
    part = Interval(a.low + b.low, a.high + b.high)
    return rounded(way, part, (a, b), a.size + b.size, _HALF)


def subtracted(way: Composition, a: Part, b: Part) -> Part:
    """The difference."""
    return added(way, a, -b)


def multiplied(way: Composition, a: Part, b: Part) -> Part:
    """The product; a rewrite may multiply with a product of constants, which is rounded otherwise."""
    if isinstance(a, float) or isinstance(b, float):
        return _special(operator.mul, a, b)
    return rounded(way, product_of(a, b), (a, b), a.size * b.size, _ONE)


def squared(way: Composition, a: Part, _: Part) -> Part:
    """The product of an element with itself, which is not negative."""
    if isinstance(a, float):
        return a * a
    part = square_of(a)
    return _clipped(rounded(way, part, (a,), part.high, _ONE))


def divided(way: Composition, a: Part, b: Part) -> Part:
    """The quotient; `NoGolden` if the divisor may be 0."""
    if isinstance(b, Interval) and b.low <= 0 <= b.high:
        raise NoGolden("a rounded number may be divided by 0")
    if isinstance(a, float) or isinstance(b, float):
        return _special(operator.truediv, a, b)
    ends = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    part = Interval(min(ends), max(ends))
    return rounded(way, part, (a, b), part.size, _ONE)


def remainder(way: Composition, a: Part, b: Part) -> Part:
    """The remainder of the division towards zero, which is exact; `NoGolden` if errors decide the quotient."""
    if isinstance(b, Interval) and b.low <= 0 <= b.high:
        raise NoGolden("a rounded number may be divided by 0")
    if isinstance(a, float) or isinstance(b, float):
        return math.nan if isinstance(a, float) or math.isnan(_float_of(b)) else a
    quotients = {int(x / y) for x in (a.low, a.high) for y in (b.low, b.high)}
    if len(quotients) > 1:
        raise NoGolden("the errors of rounded numbers decide the quotient of a remainder")
    [quotient] = quotients
    ends = [x - quotient * y for x in (a.low, a.high) for y in (b.low, b.high)]
    part = Interval(min(ends), max(ends))
    return rounded(way, part, (a, b), part.size, _ZERO)


def squared_difference(way: Composition, a: Part, b: Part) -> Part:
    """The square of the difference."""
    difference = subtracted(way, a, b)
    return squared(way, difference, difference)


def largest_of(_: Composition, a: Part, b: Part) -> Part:
    """The larger one; a NaN if there is one."""
    if isinstance(a, float) or isinstance(b, float):
        floats = [x for x in (a, b) if isinstance(x, float)]
        other = a if isinstance(b, float) else b
        return math.nan if any(map(math.isnan, floats)) else math.inf if math.inf in floats else other
    return Interval(max(a.low, b.low), max(a.high, b.high))


def smallest_of(way: Composition, a: Part, b: Part) -> Part:
    """The smaller one; a NaN if there is one."""
    return -largest_of(way, -a, -b)


def is_less(_: Composition, a: Part, b: Part) -> Part:
    """1 if the first is less, and 0 if it is not."""
    (low, high), (least, most) = _limits(a), _limits(b)
    return Interval(Exact(bool(high < least)), Exact(bool(low < most)))


def is_greater(way: Composition, a: Part, b: Part) -> Part:
    """1 if the first is greater, and 0 if it is not."""
    return is_less(way, b, a)


def is_less_or_equal(_: Composition, a: Part, b: Part) -> Part:
    """1 if the first is less or equal, and 0 if it is not."""
    (low, high), (least, most) = _limits(a), _limits(b)
    return Interval(Exact(bool(high <= least)), Exact(bool(low <= most)))


def is_greater_or_equal(way: Composition, a: Part, b: Part) -> Part:
    """1 if the first is greater or equal, and 0 if it is not."""
    return is_less_or_equal(way, b, a)


def is_equal(_: Composition, a: Part, b: Part) -> Interval:
    """1 if they are equal, and 0 if they are not."""
    (low, high), (least, most) = _limits(a), _limits(b)
    is_one = low == high == least == most
    return Interval(Exact(is_one), Exact(bool(low <= most and least <= high)))


def is_not_equal(way: Composition, a: Part, b: Part) -> Part:
    """1 if they are not equal, and 0 if they are."""
    part = is_equal(way, a, b)
    return Interval(1 - part.high, 1 - part.low)


def rounded(way: Composition, part: Interval, operands: Sequence[Interval], magnitude: Exact, units: Exact) -> Interval:
    """A result of one rounding; by reduced arithmetic, of operands of few bits, whose magnitude says the error."""
    if not way.is_reduced or not magnitude:
        return way.rounded(part, units)
    bits = part.low.numerator.bit_length()
    is_short = all(x.low == x.high and has_few_bits(x.low) for x in operands) and part.low == part.high
    if is_short and bits <= 2 * FEW_BITS and is_number(way.kind, part.low):
        error = allowed_error(way.kind, magnitude, 2)
    else:
        error = reduced_error(way.kind, magnitude, 2, is_exact=False)
    return Interval(part.low - error, part.high + error)


def product_of(a: Interval, b: Interval) -> Interval:
    """The product without an error."""
    if a.low == a.high and b.low == b.high:
        return point(a.low * b.low)
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(ends), max(ends))


def square_of(part: Interval) -> Interval:
    """The square without an error."""
    low = _ZERO if part.low <= 0 <= part.high else min(abs(part.low), abs(part.high)) ** 2
    return Interval(low, part.size**2)


def _clipped(part: Interval) -> Interval:
    return part.clipped(_ZERO)


def _limits(part: Part) -> tuple[Exact | float, Exact | float]:
    return (part, part) if isinstance(part, float) else part[:2]


def _float_of(part: Part) -> float:
    return part if isinstance(part, float) else 0.0


def sign_of(part: Part) -> float:
    """An infinity or a NaN as it is, and the sign of a number otherwise; `NoGolden` if it is not known."""
    if isinstance(part, float):
        return part
    if part.low < 0 < part.high or (part.low != part.high and 0 in part[:2]):
        raise NoGolden("the sign of a rounded number beside an infinity is not known")
    return float(np.sign(float(part.high > 0) - float(part.low < 0)))


def _special(of: Callable[[float, float], float], a: Part, b: Part) -> Part:
    value = of(sign_of(a), sign_of(b))
    return value if not math.isfinite(value) else point(_ZERO)
