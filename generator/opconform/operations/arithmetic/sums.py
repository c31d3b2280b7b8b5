"""Sums of products: their exact results, and how large an error is right (MatMul-1, Convolution-1, ReduceSum-1, …).

The rule has the form of TOSA's check of dot products. It does not depend on the order of the sum.
"""

import math
from collections.abc import Sequence

import gmpy2

from opconform.operations.arguments import NoGolden
from opconform.operations.checks import INTEGERS
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, REDUCED, Exact, Result, has_few_bits, least_normal, unit, wide_type, within

_Number = Exact | float
#: How many bits of an accumulator the transforms of a fast algorithm cost.
_TRANSFORM_BITS = 7
#: The types of sums.
SUMMED = (*REALS, *INTEGERS)
#: Why a page has no result.
OPEN = "the order in which the elements are reduced decides whether the result is finite or negative"


def sum_of_products(
    kind: ElementType, left: Sequence[_Number], right: Sequence[_Number], divisor: int = 1, *, is_sum: bool = False
) -> Result:
    """The sum of the products of two lists of equal length, divided by an integer; `is_sum` if no product is -0.

    `NoGolden` if the order decides whether a partial sum is beyond the accumulator's range.
    """
    if any(isinstance(x, float) for x in (*left, *right)):
        special = _special(left, right) / divisor
        if math.isinf(special) and _may_overflow(kind, left, right):
            raise NoGolden("a finite product that overflows decides whether an infinite sum is a NaN")
        return special
    products = [Exact(a) * Exact(b) for a, b in zip(left, right, strict=True)]
    exact, magnitude = sum(products, Exact(0)), sum(map(abs, products), Exact(0))
    if abs(exact) < magnitude and magnitude > Exact(float(wide_type(kind).layout.max)):
        raise NoGolden("the order in which the products are added decides whether a sum is finite")
    if products and not magnitude and not is_sum:  # accumulators begin with 0, or with a product of either sign
        least = Exact(float(kind.layout.smallest_subnormal))
        return within(exact, least, least)
    step = min(map(_step, filter(None, products)), default=None)
    allowed = _allowed(kind, step, magnitude, len(products))
    is_short = all(has_few_bits(Exact(x)) for x in (*left, *right))
    quotient, rounding = exact / divisor, _rounding(kind, exact, allowed, divisor)
    is_exact = is_short and not allowed and not rounding
    reduced = reduced_error(kind, magnitude, len(products), is_exact=is_exact) / divisor
    other = 2 * unit(kind, quotient) if reduced and divisor > 1 else Exact(0)
    return within(quotient, allowed / divisor + rounding, reduced + other)


def _may_overflow(kind: ElementType, left: Sequence[_Number], right: Sequence[_Number]) -> bool:
    """Whether partial sums of the finite products can be beyond the accumulator's range."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if not isinstance(a, float) and not isinstance(b, float)]
    return sum((abs(Exact(a) * Exact(b)) for a, b in pairs), Exact(0)) > Exact(float(wide_type(kind).layout.max))


def partial_sums(kind: ElementType, numbers: Sequence[float]) -> list[Result]:
    """The sums of the first number, of the first two, and so on."""
    results: list[Result] = []
    special, total, magnitude, step, is_short = 0.0, Exact(0), Exact(0), None, True
    for count, number in enumerate(numbers, 1):
        if math.isfinite(number):
            is_short = is_short and has_few_bits(Exact(number))
            total, magnitude = total + Exact(number), magnitude + abs(Exact(number))
            step = min(x for x in (step, _step(Exact(number))) if x is not None) if number else step
        else:
            special += number
        is_finite = math.isfinite(special) and special == 0
        allowed = _allowed(kind, step, magnitude, count)
        reduced = reduced_error(kind, magnitude, count, is_exact=not allowed and is_short)
        results.append(within(total, allowed, reduced) if is_finite else special)
    return results


def is_open(kind: ElementType, numbers: Sequence[float], divisor: int = 1) -> bool:
    """Whether the order decides a sum or mean: zeros with a sign, or partial sums beyond the accumulator's range."""
    finite = [Exact(x) for x in numbers if math.isfinite(x)]
    magnitude = sum(map(abs, finite), Exact(0))
    is_beyond = magnitude > Exact(float(wide_type(kind).layout.max))
    is_infinite = divisor == 1 and len(finite) == len(numbers) and magnitude == abs(sum(finite, Exact(0)))
    return (is_beyond and not is_infinite) or (
        len(numbers) > 0 and all(x == 0 and math.copysign(1, x) < 0 for x in numbers)
    )


def _rounding(kind: ElementType, exact: Exact, allowed: Exact, divisor: int) -> Exact:
    """The error of a division or a product with the rounded reciprocal, which is exact for a power of two."""
    quotient = exact / divisor
    is_number = (quotient / unit(kind, quotient)).denominator == 1
    is_exact = not allowed and (not exact or (divisor & (divisor - 1) == 0 and is_number))
    return Exact(0) if is_exact or divisor == 1 else 2 * unit(kind, quotient)


def _special(left: Sequence[_Number], right: Sequence[_Number]) -> float:
    """The sum of products of which one is a NaN or an infinity; finite ones do not change it, however large."""
    pairs = zip(left, right, strict=True)
    return sum(float(a) * float(b) for a, b in pairs if isinstance(a, float) or isinstance(b, float))


def _step(number: Exact) -> int:
    """The exponent of the lowest bit of a number other than 0."""
    return int(gmpy2.bit_scan1(number.numerator)) - (number.denominator.bit_length() - 1)


def _allowed(kind: ElementType, step: int | None, magnitude: Exact, count: int) -> Exact:
    """The error that is right for a sum of multiples of a power of two: none if every partial sum is a number."""
    layout = kind.layout
    fraction, least = int(layout.nmant), int(layout.minexp)
    if step is None:
        return Exact(0)
    largest = min(Exact(2) ** (step + fraction + 1), Exact(float(layout.max)))
    is_exact = step >= least - fraction and magnitude <= largest
    return Exact(0) if is_exact else allowed_error(kind, magnitude, count)


def right_error(kind: ElementType, numbers: Sequence[Exact]) -> Exact:
    """The error that is right for the sum of some numbers of a type."""
    step = min(map(_step, filter(None, numbers)), default=None)
    return _allowed(kind, step, sum(map(abs, numbers), Exact(0)), len(numbers))


def allowed_error(kind: ElementType, magnitude: Exact, count: int) -> Exact:
    """The error that is right for a sum of products, not all 0, whose absolute values have the sum `magnitude`."""
    layout = kind.layout
    fraction, wide = int(layout.nmant), int(wide_type(kind).layout.nmant)
    unit = max(magnitude / Exact(2) ** (fraction + 1), Exact(float(layout.smallest_normal)))
    return 2 * math.ceil(count / 2 ** ((wide - fraction) / 2)) * unit


def reduced_error(kind: ElementType, magnitude: Exact, count: int, *, is_exact: bool) -> Exact:
    """The error of a sum of products that is less accurate, and not wrong.

    Of operands and sums that reduced arithmetic has as well (`is_exact`), it is that of rounding in any order, or what
    the transforms of a fast algorithm cost the accumulator: 55 of its units in Winograd's F(4, 3) in two dimensions.
    """
    if not magnitude:
        return Exact(0)
    if is_exact:
        transformed = magnitude / Exact(2) ** (int(wide_type(kind).layout.nmant) + 1 - _TRANSFORM_BITS)
        return max(allowed_error(kind, magnitude, count), transformed)
    return max(magnitude * REDUCED, least_normal(kind.name))
