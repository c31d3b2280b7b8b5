"""Exact numbers, and tensors whose elements are exact results rounded once, with the bounds of right results.

MPFR rounds; its results are the same on every machine.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

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
#: An exact result and the error that is right; a float is a NaN, an infinity or a zero, which must be exact.
Result = tuple[Exact, Exact] | float


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

    A bound is the last number of the type within the allowed error, or an infinity where that is beyond all numbers.
    """
    kind = ELEMENT_TYPES[element_type]
    rows = [_rounded_result(kind, result) for result in results]
    flat = np.array(rows, np.float64).reshape(-1, 3)
    nearest, lower, upper = (rounded(kind, column).reshape(shape) for column in flat.T)
    is_exact = np.array_equal(flat[:, 1], flat[:, 2], equal_nan=True)
    return Tensor(
        element_type=element_type, array=nearest, bounds=None if is_exact else (lower, upper), is_computed=True
    )


def _rounded_result(kind: ElementType, result: Result) -> tuple[float, float, float]:
    """A result as the nearest number of a type, and the least and the largest right one."""
    if isinstance(result, float):
        return result, result, result
    exact, allowed = result
    nearest = _rounded(kind, exact, gmpy2.RoundToNearest)
    lower, upper = (_last_inside(kind, exact, sign * allowed) for sign in (-1, 1))
    return nearest, min(lower, nearest), max(upper, nearest)


def _last_inside(kind: ElementType, exact: Exact, change: Exact) -> float:
    """The last number of a type within a change of an exact one."""
    limit, is_up = exact + change, change > 0
    if abs(limit) > _largest(kind.name):
        return math.inf if limit > 0 else -math.inf  # too large to be a float
    return _rounded(kind, limit, gmpy2.RoundDown if is_up else gmpy2.RoundUp)


def _rounded(kind: ElementType, exact: Exact, rounding: int) -> float:
    with gmpy2.context(_context(kind.name), round=rounding):
        return float(gmpy2.mpfr(exact))


@cache
def _largest(name: str) -> Exact:
    return Exact(float(ELEMENT_TYPES[name].layout.max))


@cache
def _context(name: str) -> gmpy2.context:
    """The format of a floating-point type, with denormal numbers; MPFR counts exponents of fractions below 1."""
    layout = ELEMENT_TYPES[name].layout
    most, least = int(layout.maxexp), int(layout.minexp) - int(layout.nmant) + 1
    return gmpy2.context(precision=int(layout.nmant) + 1, emax=most, emin=least, subnormalize=True)
