"""The formulas of composites, whose parts are rounded: the intervals of their results.

Unit tests compare these with another implementation, and cases of operations do not: a backend has no bounds to get
wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from flint import arb

from opconform.operations.arguments import NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval, constant
from opconform.operations.arithmetic.units import DIVISION, UNITS
from opconform.tensors.exact import Exact

_ZERO, _HALF, _ONE = Exact(0), Exact(1, 2), Exact(1)
#: The constants of both kinds of Gelu.
_ROOT_OF_HALF, _ROOT = constant(lambda: arb(0.5).sqrt()), constant(lambda: 1 / (arb.pi() / 2).sqrt())
_FACTOR = Interval(Exact(44715, 1_000_000), Exact(44715, 1_000_000))
#: The least value of both kinds of Gelu, rounded down.
_LEAST = Exact(-171, 1000)
#: The units in the last place of a square root with the sum in it, and of a product with a reciprocal or a division
#: (OpenCL C 3.0, section 7.4: 3 and 2.5, and one for the sum or the product).
_ROOT_UNITS, _QUOTIENT_UNITS = Exact(4), Exact(4)


def sigmoid(way: Composition, x: Exact | Interval) -> Interval:
    """1 / (1 + exp(-x)); the exponential may overflow, so that the quotient is 0."""
    total = way.sum(_exact(_ONE), _exponential(way, -way.operand(x)))
    return way.quotient(_exact(_ONE), total).clipped(_ZERO)


def gelu_erf(way: Composition, x: Exact | Interval) -> Interval:
    """X / 2 * (1 + erf(x / sqrt(2))), whose sum cancels for negative numbers."""
    units = UNITS["erf"].wide
    inner = way.product(way.operand(x), way.rounded(_ROOT_OF_HALF))
    erf = way.applied(lambda y: y.erf(), inner, units).clipped(-_ONE, _ONE)
    return _half_product(way, x, erf, units)


def gelu_tanh(way: Composition, x: Exact | Interval) -> Interval:
    """X / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))."""
    operand = way.operand(x)
    cube = way.product(way.product(operand, operand), operand)
    sum_ = way.sum(operand, way.product(way.rounded(_FACTOR), cube))
    inner = way.product(way.rounded(_ROOT), sum_)
    tanh = way.applied(lambda y: y.tanh(), inner, UNITS["tanh"].wide).clipped(-_ONE, _ONE)
    return _half_product(way, x, tanh, UNITS["exp"].wide + DIVISION + 1)


def softmax(
    way: Composition, elements: Sequence["Exact | Interval | float"], largest: Exact, spread: Exact = _ZERO
) -> list[Interval]:
    """The exponentials of the rounded differences to the largest element, divided by their sum in any order.

    An element that is a float is minus infinity. The largest element may be larger than `largest` by `spread`.
    """
    subtracted = -way.operand(largest)
    powers = [
        _exact(_ZERO)
        if isinstance(x, float)
        else _exponential(way, way.sum(way.operand(x), subtracted, _ONE).clipped(None, spread))
        for x in elements
    ]
    total = way.total(powers).clipped(_HALF)  # the largest element has the exponential 1
    return [way.quotient(power, total).clipped(_ZERO) for power in powers]


def differences(way: Composition, elements: Sequence[Exact | Interval]) -> list[Interval]:
    """The differences of elements to their mean, whose sum is in any order."""
    count = len(elements)
    operands = [way.operand(x) for x in elements]
    total = way.total(operands)
    quotient = Interval(total.low / count, total.high / count, total.overflows)
    # a product with the rounded reciprocal, which is exact for a power of two
    mean = replace(way, keeps_exact=False).rounded(quotient, _ONE) if count & (count - 1) else quotient
    return [way.sum(x, -mean) for x in operands]


def normalized(
    way: Composition, elements: Sequence[Exact | Interval], parts: int, divisor_of: Callable[[Exact], Exact]
) -> list[Interval]:
    """The differences to the mean, divided by what the variance gives.

    Args:
        way: How parts are rounded.
        elements: The elements.
        parts: What the sum of the squares of the differences is divided by.
        divisor_of: The divisor for a variance, which has a square root in it.
    """
    numerators = differences(way, elements)
    squares = way.total([_square(way, x) for x in numerators])
    mean_square = Interval(squares.low / parts, squares.high / parts, squares.overflows)
    variance = way.rounded(mean_square, Exact(DIVISION)).clipped(_ZERO)
    root = Interval(divisor_of(variance.low), divisor_of(variance.high), variance.overflows)
    divisor = replace(way, keeps_exact=False).rounded(root, _ROOT_UNITS).clipped(root.low / 2)
    most = Exact(len(elements)) if way.is_reduced else None  # the range of the formula, and more
    return [
        x if not x.size else way.quotient(x, divisor, _QUOTIENT_UNITS).clipped(most and -most, most) for x in numerators
    ]


def batch_normalized(way: Composition, row: Sequence[Interval], divisor_of: Callable[[Exact], Exact]) -> Interval:
    """An element less a mean, divided by what a variance gives, times gamma, plus beta.

    Kernels also multiply with a scale, or add a shift that is computed of the mean first. `row` has the element, gamma,
    beta, the mean and the variance.
    """
    x, gamma, beta, mean, variance = map(way.operand, row)
    root = Interval(divisor_of(variance.low), divisor_of(variance.high))
    if not root.low:
        raise NoGolden("a rounded number that is divided by may be 0")
    divisor = replace(way, keeps_exact=False).rounded(root, _ROOT_UNITS).clipped(root.low / 2)
    scale, difference = way.quotient(gamma, divisor, _QUOTIENT_UNITS), way.sum(x, -mean)
    results = (
        way.sum(way.product(way.quotient(difference, divisor, _QUOTIENT_UNITS), gamma), beta),
        way.sum(way.product(difference, scale), beta),
        way.sum(way.product(x, scale), way.sum(beta, -way.product(mean, scale))),
    )
    return hull(results)


def hull(parts: Iterable[Interval]) -> Interval:
    """The numbers that any of some parts can be."""
    lows, highs, overflows = zip(*parts, strict=True)
    return Interval(min(lows), max(highs), any(overflows))


def _exact(number: Exact) -> Interval:
    return Interval(number, number)


def _exponential(way: Composition, part: Interval) -> Interval:
    """The exponential of a part, which is not negative."""
    return way.applied(lambda x: x.exp(), part, UNITS["exp"].wide).clipped(_ZERO)


def _half_product(way: Composition, x: Exact | Interval, odd: Interval, units: int) -> Interval:
    """X / 2 * (1 + odd); the sum may be erfc or 2 / (1 + exp), which is within some units."""
    total = way.rounded(Interval(1 + odd.low, 1 + odd.high), Exact(units)).clipped(_ZERO, 2 * _ONE)
    part = way.product(way.product(way.operand(x), _exact(_HALF)), total)
    is_beyond = way.product(way.operand(x), total).overflows  # x times the sum is halved in the end
    lowest, highest = x[:2] if isinstance(x, Interval) else (x, x)
    low, high = _LEAST if lowest < 0 else _ZERO, _ZERO if highest < 0 else None
    return Interval(part.low, part.high, part.overflows or is_beyond).clipped(low, high)


def _square(way: Composition, part: Interval) -> Interval:
    """The rounded square of a part, which is not negative."""
    low = _ZERO if part.low <= 0 <= part.high else min(abs(part.low), abs(part.high)) ** 2
    return way.rounded(Interval(low, part.size**2, part.overflows)).clipped(_ZERO)
