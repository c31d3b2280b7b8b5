"""The formulas of composites, whose parts are rounded: the intervals of their results.

Unit tests compare these with another implementation, and cases of operations do not: a backend has no bounds to get
wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from flint import arb

from opconform.operations.arguments import NoGolden
from opconform.operations.arithmetic.composition import Composition, Interval, constant, is_number, square_root
from opconform.operations.arithmetic.units import DIVISION, UNITS
from opconform.tensors.exact import Exact, unit
from opconform.tensors.exact import largest as largest_number

_ZERO, _HALF, _ONE = Exact(0), Exact(1, 2), Exact(1)
#: The constants of both kinds of Gelu.
_ROOT_OF_HALF, _ROOT = constant(lambda: arb(0.5).sqrt()), constant(lambda: 1 / (arb.pi() / 2).sqrt())
_FACTOR = Interval(Exact(44715, 1_000_000), Exact(44715, 1_000_000))
#: The least value of both kinds of Gelu, rounded down.
_LEAST = Exact(-171, 1000)
#: The most elements of a slice whose differences to each other are computed, and what two formulas can differ by.
_MOST_SHARES, _SLACK = 64, Exact(1, 8)
#: The least value of Mish, rounded down.
_LEAST_MISH = Exact(-309, 1000)
#: From the first number on, SoftPlus may be the number itself, to which its page allows a difference of 1e-6. From the
#: second one on it is, in f32 and narrower types; from the third one, where the exponential overflows, in f64.
_FIRST_LINEAR, _LINEAR, _LINEAR_F64 = Exact(138155, 10000), Exact(20), Exact(7097827, 10000)
#: The units in the last place of a square root with the sum in it, and of a product with a reciprocal or a division
#: (OpenCL C 3.0, section 7.4: 3 and 2.5, and one for the sum or the product).
_ROOT_UNITS, _QUOTIENT_UNITS = Exact(4), Exact(4)
#: Those of a square root alone.
_ROOT_UNITS_ALONE = Exact(3)


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


def softplus(way: Composition, x: Exact | Interval) -> Interval:
    """Log(exp(x) + 1), or x itself from a threshold on, which page and type leave open within limits."""
    operand = way.operand(x)
    linear = way.rounded(operand) if way.is_reduced else operand
    if operand.low >= (_LINEAR_F64 if way.kind.name == "f64" else _LINEAR):
        return linear
    formula = _logarithm(way, way.sum(_exponential(way, operand), _exact(_ONE))).clipped(_ZERO)
    return formula if way.is_exact or operand.high < _FIRST_LINEAR else _joined(formula, linear)


def elu(way: Composition, x: Exact | Interval, alpha: Exact) -> Interval:
    """X, or alpha * (exp(x) - 1) for numbers that are not positive."""
    operand = way.operand(x)
    if operand.low > 0:
        return operand
    power = way.sum(_exponential(way, operand.clipped(None, _ZERO)), _exact(-_ONE)).clipped(-_ONE, _ZERO)
    negative = way.product(_factor(way, alpha), power).clipped(None, _ZERO)
    if not alpha and not way.is_exact:  # a zero of either sign
        negative = Interval(-unit(way.kind, _ZERO), unit(way.kind, _ZERO))
    return negative if operand.high <= 0 else Interval(negative.low, operand.high)


def swish(way: Composition, x: Exact | Interval, beta: Exact) -> Interval:
    """X * 1 / (1 + exp(-beta * x)); the exponential may overflow, so that the result is 0."""
    operand = way.operand(x)
    inner = operand if beta == 1 else way.product(way.operand(beta), operand)
    total = way.sum(_exact(_ONE), _exponential(way, -inner))
    return _part_of(way, operand, way.product(operand, way.quotient(_exact(_ONE), total)))


def mish(way: Composition, x: Exact | Interval) -> Interval:
    """X * tanh(log(1 + exp(x)))."""
    operand = way.operand(x)
    tanh = way.applied(lambda y: y.tanh(), softplus(way, x), UNITS["tanh"].wide).clipped(_ZERO)
    return _part_of(way, operand, way.product(operand, tanh)).clipped(_LEAST_MISH)


def softsign(way: Composition, x: Exact | Interval) -> Interval:
    """X / (1 + abs(x)), which is monotone; 1 vanishes beside numbers whose sum with it would be beyond the range."""
    operand = way.operand(x)
    totals = [way.sum(_exact(_ONE), _exact(abs(end))) for end in operand[:2]]
    low, high = (
        way.quotient(_exact(end), Interval(total.low, total.high))
        for end, total in zip(operand[:2], totals, strict=True)
    )
    return _part_of(way, operand, _joined(low, high))


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
    results = [way.quotient(power, total).clipped(_ZERO) for power in powers]
    if not (spread and way.is_reduced) or len(elements) > _MOST_SHARES:
        return results
    return [_common(result, _share(way, x, elements)) for x, result in zip(elements, results, strict=True)]


def _share(
    way: Composition, own: "Exact | Interval | float", elements: Sequence["Exact | Interval | float"]
) -> Interval:
    """The share of an element: the reciprocal of the sum of the exponentials of the differences of all to it.

    It says that shares are numbers up to 1 also where errors of the largest elements are large.
    """
    if isinstance(own, float):
        return _exact(_ZERO)
    others = [x for x in elements if x is not own and not isinstance(x, float)]
    subtracted = -way.operand(own)
    powers = [_exponential(way, way.sum(way.operand(x), subtracted, _ONE)) for x in others]
    return way.quotient(_exact(_ONE), way.total([_exact(_ONE), *powers]).clipped(_HALF)).clipped(_ZERO)


def _common(part: Interval, share: Interval) -> Interval:
    """What two formulas of one number have in common, whose errors add up differently by less than an eighth."""
    return part.clipped(share.low * (1 - _SLACK), share.high * (1 + _SLACK))


def differences(way: Composition, elements: Sequence[Exact | Interval]) -> list[Interval]:
    """The differences of elements to their mean, whose sum is in any order."""
    operands = [way.operand(x) for x in elements]
    subtracted = -_mean(way, operands)
    return [way.sum(x, subtracted) for x in operands]


def _mean(way: Composition, operands: Sequence[Interval]) -> Interval:
    """The mean of some parts, whose sum is in any order."""
    count, total = len(operands), way.total(operands)
    quotient = Interval(total.low / count, total.high / count, total.overflows)
    # a product with the rounded reciprocal, which is exact for a power of two
    return replace(way, keeps_exact=False).rounded(quotient, _ONE) if count & (count - 1) else quotient


def _variance(way: Composition, numerators: Sequence[Interval], parts: int) -> Interval:
    """The sum of the squares of differences, divided by a number."""
    squares = way.total([square(way, x) for x in numerators])
    mean_square = Interval(squares.low / parts, squares.high / parts, squares.overflows)
    return way.rounded(mean_square, Exact(DIVISION)).clipped(_ZERO)


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
    variance = _variance(way, numerators, parts)
    root = Interval(divisor_of(variance.low), divisor_of(variance.high), variance.overflows)
    divisor = replace(way, keeps_exact=False).rounded(root, _ROOT_UNITS).clipped(root.low / 2)
    most = Exact(len(elements)) if way.is_reduced else None  # the range of the formula, and more
    return [
        x if not x.size else way.quotient(x, divisor, _QUOTIENT_UNITS).clipped(most and -most, most) for x in numerators
    ]


def norm(way: Composition, elements: Sequence[Exact | Interval]) -> Interval:
    """The square root of the sum of the squares of elements, in any order."""
    squares = way.total([square(way, way.operand(x)) for x in elements]).clipped(_ZERO)
    root = Interval(square_root(squares.low), square_root(squares.high), squares.overflows)
    return way.rounded(root, _ROOT_UNITS_ALONE).clipped(_ZERO)


def log_softmax(
    way: Composition, elements: Sequence[Exact | Interval], largest: Exact, spread: Exact = _ZERO
) -> list[Interval]:
    """The rounded differences to the largest element, less the logarithm of the sum of their exponentials.

    The largest element may be larger than `largest` by `spread`.
    """
    subtracted = -way.operand(largest)
    rests = [way.sum(way.operand(x), subtracted, _ONE).clipped(None, spread) for x in elements]
    logarithm = _logarithm(way, way.total([_exponential(way, x) for x in rests]).clipped(_HALF))
    return [way.sum(x, -logarithm) for x in rests]


def batch_normalized(way: Composition, row: Sequence[Interval], divisor_of: Callable[[Exact], Exact]) -> Interval:
    """An element less a mean, divided by what a variance gives, times gamma, plus beta.

    Kernels also multiply with a scale, or add a shift that is computed of the mean first. `row` has the element, gamma,
    beta, the mean and the variance.
    """
    x, gamma, beta, mean, variance = map(way.operand, row)
    root = Interval(divisor_of(variance.low), divisor_of(variance.high), variance.overflows)
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


def group_normalized(
    way: Composition, rows: Sequence[Sequence[Interval]], parts: int, divisor_of: Callable[[Exact], Exact]
) -> list[Interval]:
    """The elements of a group less their mean, divided by what their variance gives, times scale, plus bias.

    `rows` has the elements, their scales and their biases, and `parts` is what the sum of the squares of the
    differences is divided by.
    """
    elements, scale, bias = rows
    mean = _mean(way, [way.operand(x) for x in elements])
    variance = _variance(way, differences(way, elements), parts)
    return [
        batch_normalized(way, (x, gamma, beta, mean, variance), divisor_of)
        for x, gamma, beta in zip(elements, scale, bias, strict=True)
    ]


def hull(parts: Iterable[Interval]) -> Interval:
    """The numbers that any of some parts can be."""
    lows, highs, overflows = zip(*parts, strict=True)
    return Interval(min(lows), max(highs), any(overflows))


def _exact(number: Exact) -> Interval:
    return Interval(number, number)


def _joined(a: Interval, b: Interval) -> Interval:
    """The numbers of either of two intervals."""
    return Interval(min(a.low, b.low), max(a.high, b.high), a.overflows or b.overflows)


def _part_of(way: Composition, x: Interval, product: Interval) -> Interval:
    """The product of a number and a factor between 0 and 1, which is not beyond the range."""
    part = product.clipped(_ZERO if x.low >= 0 else None, _ZERO if x.high <= 0 else None)
    if way.is_reduced:  # the factor may be larger
        return part
    most = max(x.size, largest_number(way.kind.name))
    return Interval(max(part.low, -most), min(part.high, most))


def _factor(way: Composition, number: Exact) -> Interval:
    """A number of the formula, which the type may not have."""
    return _exact(number) if is_number(way.kind, number) and not way.is_reduced else way.rounded(_exact(number))


def _logarithm(way: Composition, part: Interval) -> Interval:
    """The logarithm of a positive part."""
    return way.applied(lambda x: x.log(), part, UNITS["log"].wide, far=None)


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


def square(way: Composition, part: Interval) -> Interval:
    """The rounded square of a part, which is not negative."""
    low = _ZERO if part.low <= 0 <= part.high else min(abs(part.low), abs(part.high)) ** 2
    return way.rounded(Interval(low, part.size**2, part.overflows)).clipped(_ZERO)
