"""Functions of one number that are not exact: their values by MPFR, and how large an error is right."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import gmpy2

from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Exact, Result, is_narrow, numbers, wide_type
from opconform.tensors.tensor import Tensor

#: The bits of precision of values; their own error is far below any bound.
PRECISION = 240
#: Those of values near a number of a type, which differ from it by as little as the least denormal number does from 1.
_MORE = 2400
#: The largest exponent of values, beyond that of every type; an exact number of a larger one would not fit in memory.
EXPONENT = 20_000
#: The work of a value and its bounds, and of those of a composite, in exact products of two numbers.
FUNCTION_WORK, COMPOSITE_WORK = 30, 60
#: The units in the last place of a division (OpenCL C 3.0, section 7.4).
DIVISION = 3
_HALF = Exact(1, 2)
_NONE = Exact(0)


@dataclass(frozen=True, slots=True)
class Part:
    """An exact number and the error with which a right implementation has it."""

    exact: Exact
    error: Exact = _NONE


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
        root: The number whose value is a zero, which must have the sign of the number; None if there is none.
        units: Its own error; unused for a composite.
        error: For a composite, the error of its parts at a number, in the type in which kernels compute.
    """

    value: Callable[[gmpy2.mpfr], gmpy2.mpfr]
    limits: tuple[float, float]
    root: float | None = None
    units: Units = _UNUSED
    error: Callable[[ElementType, Exact], Exact] | None = None


def unit(kind: ElementType, exact: Exact) -> Exact:
    """One unit in the last place of a number of a floating-point type; of the least normal number for smaller ones."""
    layout = kind.layout
    exponent = int(layout.minexp)
    if exact:
        with gmpy2.context(precision=53, round=gmpy2.RoundToZero):
            exponent = max(exponent, gmpy2.frexp(gmpy2.mpfr(abs(exact)))[0] - 1)
    return Exact(2) ** (exponent - int(layout.nmant))


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
    if function.error is None:
        return exact, function.units.of(kind, exact)
    allowed = function.error(wide_type(kind), Exact(x))
    return exact, allowed + (unit(kind, abs(exact) + allowed) if is_narrow(kind) else 0)


def _rounded(kind: ElementType, exact: Exact, error: Exact, units: Exact = _HALF) -> Part:
    """A result of parts, which is rounded itself."""
    return Part(exact, error + units * unit(kind, abs(exact) + error))


def _sum(kind: ElementType, a: Part, b: Part) -> Part:
    return _rounded(kind, a.exact + b.exact, a.error + b.error)


def _product(kind: ElementType, a: Part, b: Part) -> Part:
    error = abs(a.exact) * b.error + abs(b.exact) * a.error + a.error * b.error
    return _rounded(kind, a.exact * b.exact, error)


def _quotient(kind: ElementType, a: Part, b: Part) -> Part:
    """The quotient by a part whose error is below its number."""
    error = (abs(a.exact) * b.error + abs(b.exact) * a.error) / (abs(b.exact) * (abs(b.exact) - b.error))
    return _rounded(kind, a.exact / b.exact, error, Exact(DIVISION))


def _applied(kind: ElementType, name: str, x: Part) -> Part:
    """A monotone function of a part."""
    function = FUNCTIONS[name]
    low, exact, high = (Exact(value_of(function, number)) for number in (x.exact - x.error, x.exact, x.exact + x.error))
    return _rounded(kind, exact, max(exact - low, high - exact), Exact(function.units.wide))


def _constant(kind: ElementType, value: gmpy2.mpfr) -> Part:
    return _rounded(kind, Exact(value), Exact(0))


def _sigmoid(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return 1 / (1 + gmpy2.exp(-x))


def _sigmoid_error(kind: ElementType, x: Exact) -> Exact:
    """The error of 1 / (1 + exp(-x)); the exponential may overflow, so that the quotient is 0."""
    if not gmpy2.is_finite(value_of(FUNCTIONS["exp"], -x)):
        return unit(kind, Exact(0))
    power = _applied(kind, "exp", Part(-x))
    quotient = _quotient(kind, Part(Exact(1)), _sum(kind, Part(Exact(1)), power))
    is_beyond = power.exact + power.error > Exact(float(kind.layout.max))
    return max(quotient.error, quotient.exact + unit(kind, quotient.exact)) if is_beyond else quotient.error


def _gelu_erf(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return x / 2 * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2)))


def _gelu_erf_error(kind: ElementType, x: Exact) -> Exact:
    """The error of x / 2 * (1 + erf(x / sqrt(2))), whose sum cancels for negative numbers."""
    with gmpy2.context(precision=PRECISION):
        root = gmpy2.sqrt(gmpy2.mpfr(1) / 2)
    erf = _applied(kind, "erf", _product(kind, Part(x), _constant(kind, root)))
    return _half_product(kind, x, erf, Exact(FUNCTIONS["erf"].units.wide))


def _gelu_tanh(x: gmpy2.mpfr) -> gmpy2.mpfr:
    inner = gmpy2.sqrt(2 / gmpy2.const_pi()) * (x + gmpy2.mpfr("0.044715") * x**3)
    return x * _sigmoid(2 * inner)  # 1 + tanh(y) = 2 / (1 + exp(-2 y))


def _gelu_tanh_error(kind: ElementType, x: Exact) -> Exact:
    """The error of x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))."""
    with gmpy2.context(precision=PRECISION):
        factor, root = gmpy2.mpfr("0.044715"), gmpy2.sqrt(2 / gmpy2.const_pi())
    cube = _product(kind, _product(kind, Part(x), Part(x)), Part(x))
    inner = _sum(kind, Part(x), _product(kind, _constant(kind, factor), cube))
    tanh = _applied(kind, "tanh", _product(kind, _constant(kind, root), inner))
    return _half_product(kind, x, tanh, Exact(FUNCTIONS["exp"].units.wide + DIVISION + 1))


def _half_product(kind: ElementType, x: Exact, odd: Part, units: Exact) -> Exact:
    """The error of x / 2 * (1 + odd); the sum may be erfc or 2 / (1 + exp), which is within some units."""
    total = _rounded(kind, 1 + odd.exact, odd.error, units)
    error = _product(kind, _product(kind, Part(x), Part(_HALF)), total).error
    is_beyond = 2 * x > Exact(float(kind.layout.max))  # x times the sum overflows before it is halved
    return max(error, x) if is_beyond else error


# The units of OpenCL C 3.0, section 7.4 (full profile), and of its extension cl_khr_fp16 for the narrower types.
#: Those of pow.
POWER_UNITS = Units(16, 4)
#: The functions of one number.
FUNCTIONS: Mapping[str, RealFunction] = {
    "exp": RealFunction(value=gmpy2.exp, limits=(0.0, math.inf), units=Units(3, 2)),
    "log": RealFunction(value=gmpy2.log, limits=(math.nan, math.inf), root=1, units=Units(3, 2)),
    "tanh": RealFunction(value=gmpy2.tanh, limits=(-1.0, 1.0), root=0, units=Units(5, 2)),
    "erf": RealFunction(value=gmpy2.erf, limits=(-1.0, 1.0), root=0, units=Units(16, 4)),
    "sigmoid": RealFunction(value=_sigmoid, limits=(0.0, 1.0), error=_sigmoid_error),
    "gelu-erf": RealFunction(value=_gelu_erf, limits=(math.nan, math.inf), root=0, error=_gelu_erf_error),
    "gelu-tanh": RealFunction(value=_gelu_tanh, limits=(math.nan, math.inf), root=0, error=_gelu_tanh_error),
}
