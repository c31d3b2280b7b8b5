"""Functions of one number that are not exact: their values by MPFR, and how large an error is right."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import gmpy2
from flint import arb

from opconform.operations.arithmetic.composition import (
    DIVISION,
    PRECISION,
    Composition,
    Interval,
    composed,
    compositions,
    constant,
)
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import (
    REDUCED,
    Exact,
    Result,
    Rounded,
    has_few_bits,
    is_narrow,
    least_normal,
    numbers,
    unit,
)
from opconform.tensors.tensor import Tensor

#: The bits of values near a number of a type, from which they differ by as little as the least denormal number.
_MORE = 2400
#: The largest exponent of values, beyond that of every type; an exact number of a larger one would not fit in memory.
EXPONENT = 20_000
#: The work of a value and its bounds, and of those of a composite, in exact products of two numbers.
FUNCTION_WORK, COMPOSITE_WORK = 30, 60
_HALF = Exact(1, 2)
#: The constants of both kinds of Gelu.
_ROOT_OF_HALF, _ROOT = constant(lambda: arb(0.5).sqrt()), constant(lambda: 1 / (arb.pi() / 2).sqrt())
_FACTOR = Interval(Exact(44715, 1_000_000), Exact(44715, 1_000_000))


class Units(NamedTuple):
    """The units in the last place within which a result is right, of f32 and f64, and of the narrower types."""

    wide: int
    narrow: int

    def of(self, kind: ElementType, exact: Exact) -> Exact:
        """The error that is right for an exact result."""
        return (self.narrow if is_narrow(kind) else self.wide) * unit(kind, exact)


_UNUSED = Units(0, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class RealFunction:
    """A function, and how large an error of a right implementation may be.

    Attributes:
        value: The value at a finite number.
        limits: The values at minus infinity and infinity; a NaN gives a NaN.
        range: The least and the largest value; None for an infinity.
        root: The number whose value is a zero, which must have the sign of the number; None if there is none.
        units: Its own error; unused for a composite.
        parts: For a composite, what its formula gives at a number if its parts are rounded.
    """

    value: Callable[[gmpy2.mpfr], gmpy2.mpfr]
    limits: tuple[float, float]
    range: tuple[int | None, int | None] = (None, None)
    root: float | None = None
    units: Units = _UNUSED
    parts: Callable[[Composition, Exact], Interval] | None = None


def value_of(function: RealFunction, x: "Exact | float", precision: int = PRECISION) -> gmpy2.mpfr:
    """The value at a finite number; an infinity or a zero far beyond the range of every type.

    A value with few digits may only be near such a number, as the Gelu of a denormal number is near its half.
    """
    with gmpy2.context(precision=precision, emin=-EXPONENT, emax=EXPONENT):
        value = function.value(gmpy2.mpfr(x))
    return value_of(function, x, _MORE) if precision < _MORE and _is_short(value) else value


def _is_short(value: gmpy2.mpfr) -> bool:
    """Whether a number has few digits, like those of types and the numbers halfway between them."""
    if not gmpy2.is_finite(value):
        return False
    mantissa = int(abs(value.as_mantissa_exp()[0]))
    return mantissa.bit_length() - (mantissa & -mantissa).bit_length() < PRECISION // 2


def exact_of_value(value: gmpy2.mpfr) -> Exact:
    """The number of a finite value; one that was rounded to few digits is moved towards the exact result a little.

    So it is on the right side of every number of a type: tanh is below 1, where units in the last place are smaller.
    """
    exact = Exact(value)
    if not value:  # too small for a number: it has the sign of the exact result
        return Exact(int(math.copysign(1, value))) / Exact(2) ** EXPONENT
    return exact - int(value.rc) * abs(exact) / Exact(2) ** PRECISION if _is_short(value) else exact


def results_of(function: RealFunction, tensor: Tensor) -> list[Result]:
    """The values of a function at the elements of a tensor, with the errors that are right."""
    return [_result(function, tensor.type, x) for x in numbers(tensor).ravel().tolist()]


def _result(function: RealFunction, kind: ElementType, x: float) -> Result:
    if not math.isfinite(x):
        return math.nan if math.isnan(x) else function.limits[x > 0]
    if x == function.root:
        return math.copysign(0.0, x)
    value = value_of(function, x)
    if not gmpy2.is_finite(value):
        return float(value)
    exact = exact_of_value(value)
    if function.parts is not None:
        parts = function.parts
        return composed(kind, exact, *(parts(way, Exact(x)) for way in compositions(kind)), limits=function.range)
    error = function.units.of(kind, exact)
    ends = (exact, exact) if has_few_bits(Exact(x)) else _values_near(function, Exact(x))
    return reduced_result(kind, exact, error, ends, function.range)


def reduced_result(
    kind: ElementType,
    exact: Exact,
    error: Exact,
    ends: tuple[Exact | float, Exact | float],
    limits: tuple[int | None, int | None] = (None, None),
) -> Rounded:
    """A value with the error that is right, and those of reduced arithmetic at the ends of its operand.

    Right values do not leave the limits, and less accurate ones not those of 0. Values below the least normal
    number may be lost.
    """
    least = least_normal(kind.name)
    low, high = exact - error, exact + error
    wide = [
        end if isinstance(end, float) else end + sign * max(abs(end) * REDUCED, least)
        for sign, end in zip((-1, 1), sorted(ends), strict=True)
    ]
    least_right, most_right = limits
    right = (
        low if least_right is None else max(low, Exact(least_right)),
        high if most_right is None else min(high, Exact(most_right)),
    )
    reduced = (min(low, wide[0]), max(high, wide[1]))
    return Rounded(exact, right, (max(reduced[0], Exact(0)) if least_right == 0 else reduced[0], reduced[1]))


def _values_near(function: RealFunction, x: Exact) -> tuple[Exact | float, Exact | float]:
    """The values of a monotone function at the ends of an operand of few digits."""
    values = (value_of(function, x * (1 + sign * REDUCED / 2)) for sign in (-1, 1))
    low, high = (exact_of_value(value) if gmpy2.is_finite(value) else float(value) for value in values)
    return low, high


def _sigmoid(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return 1 / (1 + gmpy2.exp(-x))


def _exact(number: "Exact | int") -> Interval:
    return Interval(Exact(number), Exact(number))


def exponential(way: Composition, part: Interval) -> Interval:
    """The exponential of a part, which is not negative."""
    return way.applied(lambda x: x.exp(), part, FUNCTIONS["exp"].units.wide).clipped(Exact(0))


def _sigmoid_parts(way: Composition, x: Exact) -> Interval:
    """1 / (1 + exp(-x)); the exponential may overflow, so that the quotient is 0."""
    total = way.sum(_exact(1), exponential(way, -way.operand(x)))
    return way.quotient(_exact(1), total).clipped(Exact(0))


def _gelu_erf(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return x / 2 * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2)))


def _gelu_erf_parts(way: Composition, x: Exact) -> Interval:
    """X / 2 * (1 + erf(x / sqrt(2))), whose sum cancels for negative numbers."""
    units = FUNCTIONS["erf"].units.wide
    inner = way.product(way.operand(x), way.rounded(_ROOT_OF_HALF))
    erf = way.applied(lambda y: y.erf(), inner, units).clipped(Exact(-1), Exact(1))
    return _half_product(way, x, erf, units)


def _gelu_tanh(x: gmpy2.mpfr) -> gmpy2.mpfr:
    inner = gmpy2.sqrt(2 / gmpy2.const_pi()) * (x + gmpy2.mpfr("0.044715") * x**3)
    return x * _sigmoid(2 * inner)  # 1 + tanh(y) = 2 / (1 + exp(-2 y))


def _gelu_tanh_parts(way: Composition, x: Exact) -> Interval:
    """X / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))."""
    operand = way.operand(x)
    cube = way.product(way.product(operand, operand), operand)
    sum_ = way.sum(operand, way.product(way.rounded(_FACTOR), cube))
    inner = way.product(way.rounded(_ROOT), sum_)
    tanh = way.applied(lambda y: y.tanh(), inner, FUNCTIONS["tanh"].units.wide).clipped(Exact(-1), Exact(1))
    return _half_product(way, x, tanh, FUNCTIONS["exp"].units.wide + DIVISION + 1)


def _half_product(way: Composition, x: Exact, odd: Interval, units: int) -> Interval:
    """X / 2 * (1 + odd); the sum may be erfc or 2 / (1 + exp), which is within some units."""
    total = way.rounded(Interval(1 + odd.low, 1 + odd.high), Exact(units)).clipped(Exact(0), Exact(2))
    part = way.product(way.product(way.operand(x), _exact(_HALF)), total)
    is_beyond = way.product(way.operand(x), total).overflows  # x times the sum is halved in the end
    low, high = (_LEAST, Exact(0)) if x < 0 else (Exact(0), None)
    return Interval(part.low, part.high, part.overflows or is_beyond).clipped(low, high)


#: The least value of both kinds of Gelu, rounded down.
_LEAST = Exact(-171, 1000)


# The units of OpenCL C 3.0, section 7.4 (full profile), and of its extension cl_khr_fp16 for the narrower types.
#: Those of pow.
POWER_UNITS = Units(16, 4)
#: The functions of one number.
FUNCTIONS: Mapping[str, RealFunction] = {
    "exp": RealFunction(value=gmpy2.exp, limits=(0.0, math.inf), range=(0, None), units=Units(3, 2)),
    "log": RealFunction(value=gmpy2.log, limits=(math.nan, math.inf), root=1, units=Units(3, 2)),
    "tanh": RealFunction(value=gmpy2.tanh, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=Units(5, 2)),
    "erf": RealFunction(value=gmpy2.erf, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=Units(16, 4)),
    "sigmoid": RealFunction(value=_sigmoid, limits=(0.0, 1.0), range=(0, 1), parts=_sigmoid_parts),
    "gelu-erf": RealFunction(value=_gelu_erf, limits=(math.nan, math.inf), root=0, parts=_gelu_erf_parts),
    "gelu-tanh": RealFunction(value=_gelu_tanh, limits=(math.nan, math.inf), root=0, parts=_gelu_tanh_parts),
}
