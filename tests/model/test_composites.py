"""Bounds of composites against intervals of mpmath: what right kernels can have is inside, and bounds are not much wider.

A kernel computes each part of a formula within the units of the part. The goldens are the exact results, rounded once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

from opconform.operations.arguments import Arguments
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers
from tests.model.test_exact_values import FAR, fraction, last_place, on_grid, outputs_of

#: Bits of mpmath; the Gelu of a denormal number differs from its half by so small a part.
PRECISE = 1300

#: The most rows of an output, and elements of a row, that are compared.
ROWS, COUNT = 1, 12
#: How much wider than the interval a bound may be.
WIDER = 3


class Interval(NamedTuple):
    """The numbers that right kernels can have in place of an exact one, as numbers of mpmath."""

    low: Any
    high: Any

    def of(self, monotone: Callable[[Any], Any]) -> "Interval":
        """A monotone function."""
        return Interval(*sorted(map(monotone, self)))

    def with_(self, other: "Interval", of: Callable[[Any, Any], Any]) -> "Interval":
        """A function of two numbers that is monotone in each of them."""
        corners = [of(a, b) for a in self for b in other]
        return Interval(min(corners), max(corners))

    def near(self, kind: ElementType, units: float) -> "Interval":
        """A result with an error of some units in the last place, which does not change the sign."""
        low, high = self.low - units * place(kind, self.low), self.high + units * place(kind, self.high)
        return Interval(max(low, 0) if self.low >= 0 else low, min(high, 0) if self.high <= 0 else high)

    def rounded(self, kind: ElementType) -> "Interval":
        """A result that is rounded to the nearest number, which is itself if the type has it."""
        return self.of(lambda x: mpmath.mpf(on_grid(kind, fraction(x), round)))

    def within(self, low: Any, high: Any) -> "Interval":
        """The results that are in the range of a function, which kernels do not leave."""
        return Interval(*(min(max(x, low), high) for x in self))

    def or_(self, other: "Interval") -> "Interval":
        """The results of either of two formulas."""
        return Interval(min(self.low, other.low), max(self.high, other.high))


def place(kind: ElementType, number: Any) -> Any:
    """One unit in the last place of a number of mpmath; 0 for an infinity."""
    if mpmath.isinf(number):
        return mpmath.mpf(0)
    exponent = mpmath.mag(number) - 1 if number else -FAR
    return mpmath.ldexp(1, max(int(exponent), int(kind.layout.minexp)) - int(kind.layout.nmant))


def alone(number: Any) -> Interval:
    """An exact number."""
    return Interval(number, number)


def added(a: Any, b: Any) -> Any:
    """The sum."""
    return a + b


def subtracted(a: Any, b: Any) -> Any:
    """The difference."""
    return a - b


def multiplied(a: Any, b: Any) -> Any:
    """The product."""
    return a * b


def divided(a: Any, b: Any) -> Any:
    """The quotient."""
    return a / b


def below_one(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function whose values are between -1 and 1 alone, also where all bits are those of 1."""

    def value(x: Any) -> Any:
        result = of(x)
        return result * (1 - mpmath.ldexp(1, -PRECISE)) if abs(result) == 1 else result

    return value


def sigmoid(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula."""
    power = alone(-x).of(mpmath.exp).near(kind, 3)
    total = power.with_(alone(1), added).rounded(kind)
    return 1 / (1 + mpmath.exp(-x)), alone(1).with_(total, divided).near(kind, 3).within(0, 1)


def of_sign(x: Any, result: Interval) -> Interval:
    """The results of Gelu, which is between -0.171 and 0 for negative numbers."""
    return result.within(mpmath.mpf("-0.171"), 0) if x < 0 else result.within(0, mpmath.inf)


def gelu_erf(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula, in which a sum can cancel."""
    root = alone(mpmath.sqrt(0.5)).rounded(kind)
    part = alone(x).with_(root, multiplied).rounded(kind)
    total = part.of(below_one(mpmath.erf)).near(kind, 16).within(-1, 1).with_(alone(1), added).rounded(kind)
    total = total.or_(
        part.of(lambda y: below_one(lambda z: mpmath.erfc(-z))(y) if y < 0 else mpmath.erfc(-y))
        .near(kind, 16)
        .within(0, 2)
    )
    half = alone(x / 2).rounded(kind)
    return x / 2 * mpmath.erfc(-x * mpmath.sqrt(0.5)), of_sign(x, half.with_(total, multiplied).rounded(kind))


def gelu_tanh(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula."""
    factor, root = mpmath.mpf("0.044715"), mpmath.sqrt(2 / mpmath.pi)
    cube = alone(x * x).rounded(kind).with_(alone(x), multiplied).rounded(kind)
    part = cube.with_(alone(factor).rounded(kind), multiplied).rounded(kind)
    inner = part.with_(alone(x), added).rounded(kind).with_(alone(root).rounded(kind), multiplied).rounded(kind)
    total = inner.of(below_one(mpmath.tanh)).near(kind, 5).within(-1, 1).with_(alone(1), added).rounded(kind)
    powers = inner.of(lambda y: mpmath.exp(-2 * y)).near(kind, 3).with_(alone(1), added).rounded(kind)
    total = total.or_(alone(2).with_(powers, divided).near(kind, 3).within(0, 2))
    exact = x / (1 + mpmath.exp(-2 * root * (x + factor * x**3)))
    return exact, of_sign(x, alone(x / 2).rounded(kind).with_(total, multiplied).rounded(kind))


def softplus(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula, or the number itself where its page allows that."""
    total = alone(x).of(mpmath.exp).near(kind, 3).with_(alone(1), added).near(kind, 0.5)
    span = total.of(mpmath.log).near(kind, 3).within(0, mpmath.inf)
    if x >= (mpmath.mpf("709.7827") if kind.name == "f64" else 20):
        span = alone(x)
    elif x >= mpmath.mpf("13.8155"):
        span = span.or_(alone(x))
    return mpmath.log1p(mpmath.exp(x)), span


def elu(kind: ElementType, x: Any, alpha: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula, in which a difference can cancel."""
    if x >= 0:
        return x, alone(x)
    power = alone(x).of(mpmath.exp).near(kind, 3).with_(alone(-1), added).near(kind, 0.5).within(-1, 0)
    return alpha * mpmath.expm1(x), power.with_(alone(alpha).rounded(kind), multiplied).rounded(kind)


def swish(kind: ElementType, x: Any, beta: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula, which are 0 if the exponential overflows."""
    total = (
        alone(x * beta).rounded(kind).of(lambda y: mpmath.exp(-y)).near(kind, 3).with_(alone(1), added).rounded(kind)
    )
    quotient = alone(1).with_(total, divided).near(kind, 3).within(0, 1)
    exact = x / (1 + mpmath.exp(-x * beta))
    return exact, quotient.with_(alone(x), multiplied).rounded(kind).or_(alone(exact))


def mish(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula, which are at least -0.309."""
    exact, span = softplus(kind, x)
    tanh = span.of(below_one(mpmath.tanh)).near(kind, 5).within(0, 1)
    result = tanh.with_(alone(x), multiplied).rounded(kind)
    return x * mpmath.tanh(exact), result.within(mpmath.mpf("-0.309"), mpmath.inf)


def softsign(kind: ElementType, x: Any) -> tuple[Any, Interval]:
    """The function, and the results of its formula."""
    return x / (1 + abs(x)), alone(x).with_(alone(1 + abs(x)).rounded(kind), divided).near(kind, 3).within(-1, 1)


def log_softmax(kind: ElementType, row: Sequence[Any]) -> list[tuple[Any, Interval]]:
    """The differences to the largest element, less the logarithm of the sum of their exponentials in any order."""
    largest = max(row)
    rests = [alone(x - largest).near(kind, 1) for x in row]
    powers = [x.of(mpmath.exp).near(kind, 3) for x in rests]
    grown = len(row) * mpmath.ldexp(1, -int(kind.layout.nmant) - 1)
    total = Interval(sum(x.low for x in powers) * (1 - grown), sum(x.high for x in powers) * (1 + grown))
    logarithm = total.of(mpmath.log).near(kind, 3)
    rest = sum((mpmath.exp(x - largest) for x in row), mpmath.mpf(-1))
    return [
        (x - largest - mpmath.log1p(rest), y.with_(logarithm, subtracted).rounded(kind).within(-mpmath.inf, 0))
        for x, y in zip(row, rests, strict=True)
    ]


def softmax(kind: ElementType, row: Sequence[Any]) -> list[tuple[Any, Interval]]:
    """The exponentials of the differences to the largest element, divided by their sum in any order."""
    largest = max(row)
    powers = [alone(x - largest).near(kind, 1).of(mpmath.exp).near(kind, 3) for x in row]
    grown = len(row) * mpmath.ldexp(1, -int(kind.layout.nmant) - 1)
    low, high = sum(x.low for x in powers), sum(x.high for x in powers)
    total = Interval(low * (1 - grown), high * (1 + grown))
    exact = [mpmath.exp(x - largest) for x in row]
    quotients = [power.with_(total, divided).near(kind, 3).within(0, 1) for power in powers]
    return [(x / sum(exact), quotient) for x, quotient in zip(exact, quotients, strict=True)]


def lowest_bit(row: Sequence[Any], least: Any) -> Any:
    """The value of the lowest bit of all numbers; `least` if all are 0."""
    return min((mpmath.ldexp(1, int(x._mpf_[2])) for x in row if x), default=least)


def normalized(kind: ElementType, row: Sequence[Any], attributes: Mapping[str, Any]) -> list[tuple[Any, Interval]]:
    """The differences to the mean, divided by the standard deviation if the attributes ask for it."""
    count, last = len(row), mpmath.ldexp(1, -int(kind.layout.nmant))
    least = mpmath.mpf(float(kind.layout.smallest_normal))
    size = sum(map(abs, row))
    is_exact = size * last <= 2 * lowest_bit(row, least)  # every partial sum has no more digits than the type
    error = 0 if is_exact else 2 * count * max(size * last / 2, least)  # of a sum (docs/rounding.md)
    ends = (fraction(sum(row) - error), fraction(sum(row) + error))
    total = Interval(*(mpmath.mpf(on_grid(kind, x, of)) for x, of in zip(ends, (math.ceil, math.floor), strict=True)))
    mean = total.of(lambda x: x / count).rounded(kind)
    found = [Interval(x - mean.high, x - mean.low).rounded(kind) for x in row]
    exact = [x - sum(row) / count for x in row]
    if attributes["normalize_variance"] is not True:
        return [*zip(exact, found, strict=True)]
    eps, is_inside = mpmath.mpf(str(attributes["eps"])), attributes["eps_mode"] == "inside_sqrt"
    sizes = [(min(abs(x.low), abs(x.high)) * (x.low * x.high > 0), max(abs(x.low), abs(x.high))) for x in found]
    grown = (count + 2) * last
    low, high = (sum(size[side] ** 2 for size in sizes) / count for side in (0, 1))
    variance = Interval(max(low * (1 - grown) - least, 0), high * (1 + grown) + least)
    squares = [x.low**2 for x in found]
    if is_exact and not count & (count - 1) and low == high and sum(squares) * last <= 2 * lowest_bit(squares, least):
        variance = Interval(low, high)

    def divisor(x: Any) -> Any:
        return mpmath.sqrt(x + eps) if is_inside else mpmath.sqrt(x) + eps

    scale = variance.of(divisor).near(kind, 4)
    of_exact = divisor(sum(x * x for x in exact) / count)
    return [(x / of_exact, y.with_(scale, divided).near(kind, 4)) for x, y in zip(exact, found, strict=True)]


def each(of: Callable[[ElementType, Any], tuple[Any, Interval]]) -> Callable[..., list[tuple[Any, Interval]]]:
    """A function of each element of a row."""
    return lambda kind, row, _: [of(kind, x) for x in row]


def rows_of(arguments: Arguments) -> list[int]:
    """The dimensions that an element of the output depends on."""
    rank = len(arguments.shape("data"))
    if "axis" in arguments.attributes:
        return [arguments.number("axis") % rank]
    return [axis % rank for axis in arguments.integers("axes")] if "axes" in arguments.inputs else []


def attributes_of(arguments: Arguments) -> dict[str, Any]:
    """The attributes, and the number that is another input than data."""
    beta = float(numbers(arguments.tensor("beta"))) if "beta" in arguments.inputs else 1.0
    return {**arguments.attributes, "beta": beta}


def gelu(kind: ElementType, row: Sequence[Any], attributes: Mapping[str, Any]) -> list[tuple[Any, Interval]]:
    """The function of the mode."""
    of = gelu_tanh if attributes["approximation_mode"] == "tanh" else gelu_erf
    return [of(kind, x) for x in row]


COMPOSITES: Mapping[str, Callable[..., list[tuple[Any, Interval]]]] = {
    "Sigmoid-1": each(sigmoid),
    "Gelu-7": gelu,
    "SoftPlus-4": each(softplus),
    "Elu-1": lambda kind, row, attributes: [elu(kind, x, mpmath.mpf(attributes["alpha"])) for x in row],
    "Swish-4": lambda kind, row, attributes: [swish(kind, x, mpmath.mpf(attributes["beta"])) for x in row],
    "Mish-4": each(mish),
    "SoftSign-9": each(softsign),
    "LogSoftmax-5": lambda kind, row, _: log_softmax(kind, row),
    "SoftMax-8": lambda kind, row, _: softmax(kind, row),
    "MVN-6": normalized,
}


def some(array: Any, count: int) -> Any:
    """Some rows or elements from all over an array."""
    return array[:: max(1, -(-len(array) // count))]


@pytest.mark.ci_only
@pytest.mark.parametrize("op", COMPOSITES)
def test_bounds_of_composites_have_the_results_of_right_kernels(core_suite: Path, op: str) -> None:
    """Each end of the interval is within the bounds, and the golden is the exact result rounded once."""
    compared = 0
    for output in outputs_of(open_suite(core_suite), op):
        kind, data, axes = output.kind, numbers(output.arguments.tensor("data")), rows_of(output.arguments)
        wide = ELEMENT_TYPES["f32"] if kind.bits <= 16 else kind
        count = math.prod(data.shape[axis] for axis in axes)
        if not data.size:
            continue
        arrays = (data, output.golden, output.lower, output.upper)
        last = tuple(range(data.ndim - len(axes), data.ndim))
        rows = zip(
            *(some(np.moveaxis(x, axes, last).reshape(-1, count), COUNT if not axes else ROWS) for x in arrays),
            strict=True,
        )
        for row, *stored in rows:
            if not np.isfinite(row).all():
                continue
            with mpmath.workprec(PRECISE):
                elements = [mpmath.mpf(x) for x in row.tolist()]
                results = COMPOSITES[op](wide, elements, attributes_of(output.arguments))
                for result, golden, lower, upper in some(
                    [*zip(results, *(x.tolist() for x in stored), strict=True)], COUNT
                ):
                    compared += 1
                    check(kind, wide, result, (golden, lower, upper))
    assert compared > 200


def check(
    kind: ElementType, wide: ElementType, result: tuple[Any, Interval], stored: tuple[float, float, float]
) -> None:
    """Compare the stored golden and bounds of an element with its exact result and the interval."""
    (exact, span), (golden, lower, upper) = result, stored
    assert golden == on_grid(kind, fraction(exact), round)
    if lower == upper or not all(map(math.isfinite, (lower, upper, *map(float, span)))):
        return
    ways: tuple[Callable[[Fraction], int], ...] = (math.ceil, math.floor) if kind is wide else (round, round)
    least, most = (on_grid(kind, fraction(x), of) for x, of in zip(span, ways, strict=True))
    assert lower <= least, (kind.name, stored, least, float(exact))
    assert most <= upper, (stored, most, float(exact))
    if abs(golden) > 4 * float(max(x.layout.smallest_normal for x in (kind, wide))):
        unit = float(last_place(kind, fraction(exact)))
        assert upper - lower <= WIDER * (most - least + 4 * unit), (stored, (least, most), float(exact), unit)
