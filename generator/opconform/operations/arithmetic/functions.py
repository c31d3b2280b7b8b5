"""Functions of one number that are not exact: their values by MPFR, and how large an error is right."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import gmpy2

from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import PRECISION, Composition, Interval, composed
from opconform.operations.arithmetic.reduced import ends_near, reduced_result
from opconform.operations.arithmetic.units import UNITS, Units
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Exact, Result, has_few_bits, numbers
from opconform.tensors.tensor import Tensor

#: The bits of values near a number of a type, from which they differ by as little as the least denormal number.
_MORE = 2400
#: The largest exponent of values, beyond that of every type; an exact number of a larger one would not fit in memory.
EXPONENT = 20_000
#: The work of a value and its bounds, and of those of a composite, in exact products of two numbers.
FUNCTION_WORK, COMPOSITE_WORK = 30, 60

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
    parts: Callable[[Composition, Exact | Interval], Interval] | None = None


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
        [result] = composed(kind, [exact], lambda way: [parts(way, Exact(x))], limits=function.range)
        return result
    error = function.units.of(kind, exact)
    ends = (
        (exact, exact) if has_few_bits(Exact(x)) else ends_near(partial(value_of, function), exact_of_value, Exact(x))
    )
    return reduced_result(kind, exact, error, ends, function.range)


def _sigmoid(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return 1 / (1 + gmpy2.exp(-x))


def _gelu_erf(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return x / 2 * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2)))


def _gelu_tanh(x: gmpy2.mpfr) -> gmpy2.mpfr:
    inner = gmpy2.sqrt(2 / gmpy2.const_pi()) * (x + gmpy2.mpfr("0.044715") * x**3)
    return x * _sigmoid(2 * inner)  # 1 + tanh(y) = 2 / (1 + exp(-2 y))


#: The functions of one number.
FUNCTIONS: Mapping[str, RealFunction] = {
    "exp": RealFunction(value=gmpy2.exp, limits=(0.0, math.inf), range=(0, None), units=UNITS["exp"]),
    "log": RealFunction(value=gmpy2.log, limits=(math.nan, math.inf), root=1, units=UNITS["log"]),
    "tanh": RealFunction(value=gmpy2.tanh, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=UNITS["tanh"]),
    "erf": RealFunction(value=gmpy2.erf, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=UNITS["erf"]),
    "sigmoid": RealFunction(value=_sigmoid, limits=(0.0, 1.0), range=(0, 1), parts=composites.sigmoid),
    "gelu-erf": RealFunction(value=_gelu_erf, limits=(math.nan, math.inf), root=0, parts=composites.gelu_erf),
    "gelu-tanh": RealFunction(value=_gelu_tanh, limits=(math.nan, math.inf), root=0, parts=composites.gelu_tanh),
}
