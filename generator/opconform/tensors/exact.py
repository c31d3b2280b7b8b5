"""Exact numbers, and tensors whose elements are exact results rounded once, with the bounds of right results.

MPFR rounds; its results are the same on every machine.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import gmpy2
import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor

if TYPE_CHECKING:
    from fractions import Fraction  # gmpy2 has no types, and its rational numbers behave alike

    Exact = Fraction
else:
    Exact = gmpy2.mpq
#: The floating-point types whose results have bounds.
REALS = ("bf16", "f16", "f32", "f64")
#: The significant bits of the operands of reduced arithmetic, and the error of its parts, relative to their magnitude.
FEW_BITS, REDUCED = 8, Exact(1, 1 << 7)
#: The part of the largest number of a type from which on a result may overflow.
_NEAR = 4


class Rounded(NamedTuple):
    """An exact result that may be rounded.

    Attributes:
        right: The least and the largest right number.
        reduced: Those of reduced arithmetic, at least as wide: what is outside is wrong, and not less accurate.
    """

    exact: Exact
    right: "tuple[Exact | float, Exact | float]"
    reduced: "tuple[Exact | float, Exact | float]"


#: A result; a float is a NaN, an infinity or a zero, which must be exact.
Result = Rounded | float


def within(exact: Exact, error: Exact, reduced: Exact) -> Rounded:
    """An exact result with the error that is right, and the one of reduced arithmetic."""
    wide = max(error, reduced)
    return Rounded(exact, (exact - error, exact + error), (exact - wide, exact + wide))


def has_few_bits(exact: Exact) -> bool:
    """Whether a number keeps its value as an operand of reduced arithmetic."""
    number = abs(exact.numerator)
    bits = number.bit_length() - (number & -number).bit_length() + 1
    return not exact.denominator & (exact.denominator - 1) and bits <= FEW_BITS


def exact_of(tensor: Tensor) -> list[Exact | float]:
    """The elements of a tensor of a common floating-point type, in row-major order; NaN and infinities are floats."""
    return [Exact(x) if math.isfinite(x) else x for x in numbers(tensor).ravel().tolist()]


def numbers(tensor: Tensor) -> Array:
    """The elements of a tensor of a floating-point type in f64, which has them exactly."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.asarray(tensor.array.view(tensor.type.arithmetic).astype(np.float64))


def is_narrow(kind: ElementType) -> bool:
    """Whether kernels compute results of a floating-point type in f32."""
    return kind.bits < ELEMENT_TYPES["f32"].bits


def wide_type(kind: ElementType) -> ElementType:
    """The type in which kernels compute and sum."""
    return ELEMENT_TYPES["f32"] if is_narrow(kind) else kind


def unit(kind: ElementType, exact: Exact) -> Exact:
    """One unit in the last place of a number of a floating-point type; of the least normal number for smaller ones."""
    least, fraction = _form(kind.name)
    exponent = least
    if exact:
        above, below = abs(exact.numerator), exact.denominator
        exponent = above.bit_length() - below.bit_length()
        is_less = above < below << exponent if exponent >= 0 else above << -exponent < below
        exponent = max(least, exponent - is_less)
    return _power(exponent - fraction)


@cache
def _form(name: str) -> tuple[int, int]:
    """The exponent of the least normal number of a type, and its fraction bits."""
    layout = ELEMENT_TYPES[name].layout
    return int(layout.minexp), int(layout.nmant)


@cache
def _power(exponent: int) -> Exact:
    return Exact(2) ** exponent


def rounded(kind: ElementType, array: Array) -> Array:
    """Numbers of f64 rounded to the nearest of bf16, f16, f32 or f64, and to the even one of two."""
    with np.errstate(all="ignore"):
        if kind.name != "bf16":  # numpy rounds once
            return np.asarray(array.astype(kind.storage))
        layout = kind.layout
        exponents = np.maximum(np.frexp(array)[1] - 1, int(layout.minexp)) - int(layout.nmant)
        steps = np.where(np.isfinite(array), np.rint(np.ldexp(array, -exponents)), array)
        near = np.ldexp(steps, exponents).astype(np.float32)
    return np.asarray((near.view(np.uint32) >> np.uint32(16)).astype(np.uint16)).reshape(array.shape)


def bounded_tensor(element_type: str, shape: Sequence[int], results: Iterable[Result]) -> Tensor:
    """The tensor of some results, each rounded to the nearest number of its type, with the bounds of right results.

    A bound is the last number of the type within a limit, or an infinity where that is beyond all numbers.
    """
    kind = ELEMENT_TYPES[element_type]
    rows = [_row(kind, result) for result in results]
    flat = np.array(rows, np.float64).reshape(-1, 5)
    nearest, lower, upper, least, most = (rounded(kind, column).reshape(shape) for column in flat.T)
    is_exact, is_alone = (np.array_equal(flat[:, i], flat[:, i + 1], equal_nan=True) for i in (1, 3))
    return Tensor(
        element_type=element_type,
        array=nearest,
        bounds=None if is_exact else (lower, upper),
        reduced=None if is_alone else (least, most),
        is_computed=True,
    )


def with_reduced(tensor: Tensor, results: Array, errors: Array) -> Tensor:
    """A tensor of the given results in f64, with the bounds of reduced arithmetic, whose errors have no sign.

    An element without an error must be exact.
    """
    with np.errstate(all="ignore"):
        least, most = (_not_infinite(tensor.type, results, results + side * errors) for side in (-1, 1))
        is_exact = ~(errors > 0) | np.isnan(results)
        ends = [np.where(is_exact, results, np.where(np.isnan(end), results, end)) for end in (least, most)]
    arrays = [np.where(is_exact, tensor.array, rounded(tensor.type, end)) for end in ends]
    return tensor if is_exact.all() else replace(tensor, reduced=(arrays[0], arrays[1]))


def few_bits(array: Array, bits: int = FEW_BITS) -> Array:
    """Whether numbers of f64 have no more significant bits than some."""
    scaled = np.ldexp(np.frexp(array)[0], bits)
    return np.asarray(scaled == np.rint(scaled))


def _not_infinite(kind: ElementType, results: Array, ends: Array) -> Array:
    """The ends of bounds; infinities only where a result is near the largest number."""
    most = float(kind.layout.max)
    return np.asarray(np.where(np.abs(results) * _NEAR >= most, ends, np.clip(ends, -most, most)))


def _row(kind: ElementType, result: Result) -> tuple[float, ...]:
    """A result as the nearest number of a type, and the ends of what is right, and of reduced arithmetic."""
    if isinstance(result, float):
        return (result,) * 5
    nearest = _rounded(kind, result.exact, gmpy2.RoundToNearest)
    lower, upper = (_last_inside(kind, result.right[side], is_up=side == 1) for side in (0, 1))
    least, most = (_last_inside(kind, result.reduced[side], is_up=side == 1) for side in (0, 1))
    if abs(result.exact) * _NEAR < largest(kind.name):
        least, most = max(least, min(lower, -float(kind.layout.max))), min(most, max(upper, float(kind.layout.max)))
    lower, upper = min(lower, nearest), max(upper, nearest)
    return nearest, lower, upper, min(least, lower), max(most, upper)


def _last_inside(kind: ElementType, limit: "Exact | float", *, is_up: bool) -> float:
    """The last number of a type within a limit."""
    if isinstance(limit, float):
        return limit
    if abs(limit) > largest(kind.name):
        return math.inf if limit > 0 else -math.inf  # too large to be a float
    return _rounded(kind, limit, gmpy2.RoundDown if is_up else gmpy2.RoundUp)


def _rounded(kind: ElementType, exact: Exact, rounding: int) -> float:
    with gmpy2.context(_context(kind.name), round=rounding):
        return float(gmpy2.mpfr(exact))


def nearest(kind: ElementType, exact: Exact) -> Exact:
    """The nearest number of a type to one within its range, and the even one of two."""
    return Exact(_rounded(kind, exact, gmpy2.RoundToNearest))


@cache
def largest(name: str) -> Exact:
    """The largest number of a floating-point type."""
    return Exact(float(ELEMENT_TYPES[name].layout.max))


@cache
def least_normal(name: str) -> Exact:
    """The least normal number of a floating-point type."""
    return Exact(float(ELEMENT_TYPES[name].layout.smallest_normal))


@cache
def _context(name: str) -> gmpy2.context:
    """The format of a floating-point type, with denormal numbers; MPFR counts exponents of fractions below 1."""
    layout = ELEMENT_TYPES[name].layout
    most, least = int(layout.maxexp), int(layout.minexp) - int(layout.nmant) + 1
    return gmpy2.context(precision=int(layout.nmant) + 1, emax=most, emin=least, subnormalize=True)
