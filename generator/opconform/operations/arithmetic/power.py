"""Power-1, from its specification page: powers by MPFR, with the bounds of OpenCL's pow, and of integers exactly."""

import math
from collections.abc import Callable

import gmpy2
import numpy as np

from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.broadcasting import FEWER_RULES, stretched
from opconform.operations.arithmetic.composition import PRECISION
from opconform.operations.arithmetic.elementwise import BinaryPage, Kernel, binary, computed, elements_of
from opconform.operations.arithmetic.functions import FUNCTION_WORK, exact_of_value
from opconform.operations.arithmetic.propagation.pairs import of_pairs
from opconform.operations.arithmetic.propagation.powers import power
from opconform.operations.arithmetic.reduced import FAR, power_ends, reduced_result
from opconform.operations.arithmetic.units import UNITS
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor
from opconform.tensors.tensor import Tensor

#: The widest integers, in bits.
_WIDEST = 64


def _value(base: float, exponent: float) -> gmpy2.mpfr:
    """The power by MPFR, which has the special cases of IEEE 754."""
    with gmpy2.context(precision=PRECISION, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        return gmpy2.mpfr(base) ** gmpy2.mpfr(exponent)


def _result(kind: ElementType, base: float, exponent: float, value: gmpy2.mpfr) -> Result:
    """A power, and the error that is right; what is beyond every type is infinite, or the same tiny number."""
    is_finite = math.isfinite(base) and math.isfinite(exponent) and base != 0
    if not gmpy2.is_finite(value) or (not value and not is_finite):
        return float(value)
    size = gmpy2.frexp(value)[0]
    if size > FAR:
        return math.copysign(math.inf, value)
    exact = exact_of_value(value) if size > -FAR else Exact(math.copysign(1, value)) / Exact(2) ** FAR
    return reduced_result(kind, exact, UNITS["pow"].of(kind, exact), power_ends(_value, base, exponent, exact))


def _power_of_integers(base: int, exponent: int) -> int:
    """The power, or a number beyond the range of every type with its sign and its low bits."""
    if abs(base) <= 1:
        return int(base ** abs(exponent))
    if exponent <= _WIDEST:
        return int(base**exponent)
    beyond = -4 if base < 0 and exponent % 2 else 2
    return pow(base, exponent, 1 << _WIDEST) + (beyond << _WIDEST)


def _is_undefined(arguments: Arguments) -> bool:
    """Whether the power of two integers is not an integer, for which the page has no result."""
    if not arguments.operand("a").is_integer:
        return False
    bases, exponents = map(elements_of, stretched(arguments))
    return bool(((exponents < 0) & (np.abs(bases) != 1)).any())


def _of_script(base: float, exponent: float) -> gmpy2.mpfr:
    """The power in ECMAScript, in which 1 has no power to NaN or infinity, nor has -1."""
    is_open = math.isnan(exponent) or (abs(base) == 1 and math.isinf(exponent))
    return gmpy2.nan() if is_open else _value(base, exponent)


def _of_logarithm(base: float, exponent: float) -> gmpy2.mpfr:
    """The power by a logarithm (IEEE 754, powr)."""
    is_open = base < 0 or math.isnan(base) or (exponent == 0 and (base == 0 or math.isinf(base)))
    return gmpy2.nan() if is_open else _of_script(base, exponent)


def _computed(of: Callable[[float, float], gmpy2.mpfr]) -> Calculate:
    """The outputs by a function with its own special cases."""

    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        bases, exponents = stretched(arguments)
        if bases.element_type not in REALS:
            floats = np.vectorize(lambda a, b: float(of(a, b)), otypes=[np.float64])
            return (computed(Kernel(floats=floats, integers=_INTEGERS), bases, exponents),)
        pairs = [*zip(*(elements_of(x).reshape(-1).tolist() for x in (bases, exponents)), strict=True)]
        results = [_result(bases.type, base, exponent, of(base, exponent)) for base, exponent in pairs]
        return (bounded_tensor(bases.element_type, bases.shape, results),)

    return calculate


_INTEGERS = np.frompyfunc(_power_of_integers, 2, 1)
POWER = binary(
    "Power-1",
    Kernel(floats=None, integers=_INTEGERS),
    BinaryPage(
        rules=FEWER_RULES,
        undefined=_is_undefined,
        may_overflow=True,
        readings={"values.special": Reading(computes=(*map(_computed, (_of_script, _of_logarithm)),), by_element=True)},
        calculate=_computed(_value),
        rounded=of_pairs(power, keeps_integers=False),
        work=FUNCTION_WORK,
        denormals=None,
    ),
)
