"""Functions of one number that are not exact: their values by MPFR, and how large an error is right."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

import gmpy2

from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import PRECISION, Composition, Interval, composed
from opconform.operations.arithmetic.reduced import Ends, reduced_result
from opconform.operations.arithmetic.units import UNITS, Units
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REDUCED, Exact, Result, Rounded, has_few_bits, least_normal, numbers
from opconform.tensors.tensor import Tensor

#: The bits of values near a number of a type, from which they differ by as little as the least denormal number.
_MORE = 2400
#: The largest exponent of values, beyond that of every type; an exact number of a larger one would not fit in memory.
EXPONENT = 20_000
#: The work of a value and its bounds, and of those of a composite, in exact products of two numbers.
FUNCTION_WORK, COMPOSITE_WORK = 30, 60

_UNUSED = Units(0, 0)
#: A quarter turn, in half turns.
_QUARTER = Exact(1, 2)
#: The values at infinities where a function has no limit, or its formula gives none.
_NO_LIMITS = (math.nan, math.nan)


@dataclass(frozen=True, kw_only=True, slots=True)
class RealFunction:
    """A function, and how large an error of a right implementation may be.

    Attributes:
        value: The value at a finite number.
        limits: The values at minus infinity and infinity; a NaN gives a NaN.
        range: The least and the largest value; None for an infinity.
        root: The number whose value is a zero; None if there is none.
        has_signed_zero: Whether the zero has the sign of the number; otherwise both signs are right.
        units: Its own error; unused for a composite.
        parts: For a composite, what its formula gives at a number if its parts are rounded.
        is_product: Whether it is the product of the number and a factor that is small for negative numbers.
        turns: The extreme values of a periodic function between two numbers, which are infinities at a pole; None for a
            monotone one. Reduced arithmetic multiplies its argument by a rounded constant.
    """

    value: Callable[[gmpy2.mpfr], gmpy2.mpfr]
    limits: tuple[float, float]
    range: tuple[int | None, int | None] = (None, None)
    root: float | None = None
    has_signed_zero: bool = True
    units: Units = _UNUSED
    parts: Callable[[Composition, Exact | Interval], Interval] | None = None
    is_product: bool = False
    turns: Callable[[Exact, Exact], Collection[float]] | None = None


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


def ends_between(function: RealFunction, low: Exact, high: Exact) -> Ends:
    """The least and the largest value between two numbers."""
    values = [value_of(function, x) for x in (low, high)]
    ends = [float(x) if not gmpy2.is_finite(x) else exact_of_value(x) if x else Exact(0) for x in values]
    turns = function.turns(low, high) if function.turns else ()
    ends += [Exact(x) if math.isfinite(x) else x for x in turns]
    return min(ends), max(ends)


def reduced_operand(function: RealFunction, x: Exact) -> tuple[Exact, Exact]:
    """The ends of what an operand is in reduced arithmetic."""
    if function.turns is None and has_few_bits(x):
        return x, x
    low, high = sorted(x * (1 + sign * REDUCED / 2) for sign in (-1, 1))
    return low, high


def _result(function: RealFunction, kind: ElementType, x: float) -> Result:
    if not math.isfinite(x):
        return math.nan if math.isnan(x) else function.limits[x > 0]
    if x == function.root:
        return math.copysign(0.0, x) if function.has_signed_zero else _zero(kind)
    value = value_of(function, x)
    if not gmpy2.is_finite(value):
        return float(value)
    exact = exact_of_value(value)
    if function.parts is not None:
        parts, is_short = function.parts, has_few_bits(Exact(x))
        [result] = composed(kind, [exact], lambda way: [parts(way, Exact(x))], is_short=is_short, limits=function.range)
        return _with_lost_factor(kind, Exact(x), result) if function.is_product else result
    error, operand = function.units.of(kind, exact), reduced_operand(function, Exact(x))
    ends = (exact, exact) if operand[0] == operand[1] else ends_between(function, *operand)
    return reduced_result(kind, exact, error, ends, function.range)


def _with_lost_factor(kind: ElementType, x: Exact, result: Result) -> Result:
    """A product with a factor below the least normal number, of which reduced arithmetic loses digits."""
    least = abs(x) * least_normal(kind.name)
    if isinstance(result, float) or x > 0 or abs(result.exact) >= least:
        return result
    low, high = result.reduced
    return result._replace(reduced=(min(low, result.exact - least * REDUCED), max(high, Exact(0))))


def _zero(kind: ElementType) -> Rounded:
    """A zero of either sign."""
    least = Exact(float(kind.layout.smallest_subnormal))
    return Rounded(Exact(0), (-least, least), (-least, least))


def _sigmoid(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return 1 / (1 + gmpy2.exp(-x))


def _gelu_erf(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return x / 2 * gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2)))


def _gelu_tanh(x: gmpy2.mpfr) -> gmpy2.mpfr:
    inner = gmpy2.sqrt(2 / gmpy2.const_pi()) * (x + gmpy2.mpfr("0.044715") * x**3)
    return x * _sigmoid(2 * inner)  # 1 + tanh(y) = 2 / (1 + exp(-2 y))


def _softplus(x: gmpy2.mpfr) -> gmpy2.mpfr:
    return max(x, gmpy2.mpfr(0)) + gmpy2.log1p(gmpy2.exp(-abs(x)))


def _mish(x: gmpy2.mpfr) -> gmpy2.mpfr:
    power = gmpy2.exp(-abs(x))  # tanh(log(1 + y)) = y (y + 2) / (y (y + 2) + 2)
    above, below = (1 + 2 * power, 2 * power**2) if x > 0 else (power * (power + 2), gmpy2.mpfr(2))
    return x * above / (above + below)


def _half_turns(x: Exact, shift: Exact) -> int:
    """How many half turns plus a shift, of a half turn, are below an angle."""
    with gmpy2.context(precision=_MORE):
        return int(gmpy2.floor(gmpy2.mpfr(x) / gmpy2.const_pi() - shift))


def _extrema(shift: Exact) -> Callable[[Exact, Exact], Collection[float]]:
    """1 and -1, as far as they are between two angles; `shift` is the angle of the first 1, in half turns."""

    def between(low: Exact, high: Exact) -> Collection[float]:
        first, last = _half_turns(low, shift), _half_turns(high, shift)
        return [1 - 2 * (turn % 2) for turn in range(max(first + 1, last - 1), last + 1)]

    return between


def _poles(low: Exact, high: Exact) -> Collection[float]:
    """Both infinities if the tangent has a pole between two angles."""
    return (-math.inf, math.inf) if _half_turns(low, _QUARTER) < _half_turns(high, _QUARTER) else ()


@cache
def elu(alpha: float) -> RealFunction:
    """The exponential linear unit with a factor for negative numbers."""
    return RealFunction(
        value=lambda x: x if x > 0 else gmpy2.mpfr(alpha) * gmpy2.expm1(x),
        limits=(-alpha, math.inf),
        root=0,
        has_signed_zero=False,
        parts=lambda way, x: composites.elu(way, x, Exact(alpha)),
    )


@cache
def swish(beta: float) -> RealFunction:
    """The number times the sigmoid of its product with beta; of infinities and a beta of 0, a NaN."""
    return RealFunction(
        value=lambda x: x * _sigmoid(gmpy2.mpfr(beta) * x),
        limits=(math.nan, math.inf if beta else math.nan),
        root=0,
        is_product=True,
        parts=lambda way, x: composites.swish(way, x, Exact(beta)),
    )


#: The functions of one number.
FUNCTIONS: Mapping[str, RealFunction] = {
    "exp": RealFunction(value=gmpy2.exp, limits=(0.0, math.inf), range=(0, None), units=UNITS["exp"]),
    "log": RealFunction(value=gmpy2.log, limits=(math.nan, math.inf), root=1, units=UNITS["log"]),
    "tanh": RealFunction(value=gmpy2.tanh, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=UNITS["tanh"]),
    "erf": RealFunction(value=gmpy2.erf, limits=(-1.0, 1.0), range=(-1, 1), root=0, units=UNITS["erf"]),
    "sigmoid": RealFunction(value=_sigmoid, limits=(0.0, 1.0), range=(0, 1), parts=composites.sigmoid),
    "gelu-erf": RealFunction(value=_gelu_erf, limits=(math.nan, math.inf), root=0, parts=composites.gelu_erf),
    "gelu-tanh": RealFunction(value=_gelu_tanh, limits=(math.nan, math.inf), root=0, parts=composites.gelu_tanh),
    "softplus": RealFunction(value=_softplus, limits=(0.0, math.inf), range=(0, None), parts=composites.softplus),
    "mish": RealFunction(value=_mish, limits=(math.nan, math.inf), root=0, is_product=True, parts=composites.mish),
    "softsign": RealFunction(
        value=lambda x: x / (1 + abs(x)), limits=_NO_LIMITS, range=(-1, 1), root=0, parts=composites.softsign
    ),
    "sin": RealFunction(
        value=gmpy2.sin, limits=_NO_LIMITS, range=(-1, 1), root=0, units=UNITS["sin"], turns=_extrema(_QUARTER)
    ),
    "cos": RealFunction(
        value=gmpy2.cos, limits=_NO_LIMITS, range=(-1, 1), units=UNITS["cos"], turns=_extrema(Exact(0))
    ),
    "tan": RealFunction(value=gmpy2.tan, limits=_NO_LIMITS, root=0, units=UNITS["tan"], turns=_poles),
}
