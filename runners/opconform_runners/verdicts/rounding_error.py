"""Errors of rounded outputs, as multiples of their bounds and in units in the last place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from opconform.suite.bounds import Bounds
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns


def errors_of(
    golden: Array, actual: Array, bounds: Bounds, kind: ElementType
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The error of each element divided by its bound; at most 1 is right, and infinity is an error without a bound.

    The arrays have one shape and the storage dtype. NaN, infinities and elements whose two bounds are equal must be
    exact; every NaN equals every other one.
    """
    expected, returned, lower, upper = (floats_of(x, kind) for x in (golden, actual, *bounds))
    same = patterns(golden) == patterns(actual)
    both_nan = np.isnan(expected) & np.isnan(returned)
    with np.errstate(all="ignore"):
        allowed = np.where(returned > expected, upper - expected, expected - lower)
        errors = np.abs(returned - expected) / allowed
        inside = (lower <= returned) & (returned <= upper) & (lower < upper)
    errors = np.where(inside, np.where(np.isnan(errors), 1.0, np.minimum(errors, 1.0)), errors)
    wrong = ~inside & ~(errors > 1)
    errors[wrong] = np.inf
    errors[same | both_nan] = 0.0
    return errors


def largest_error(
    golden: Sequence[Array], actual: Sequence[Array], bounds: Sequence[Bounds | None], element_types: Sequence[str]
) -> float | None:
    """The largest error of the outputs of a feed divided by its bound; None if no output has bounds."""
    largest = [
        float(errors_of(want, got, bound, ELEMENT_TYPES[name]).max(initial=0.0))
        for want, got, bound, name in zip(golden, actual, bounds, element_types, strict=True)
        if bound is not None
    ]
    return max(largest, default=None)


def units_in_last_place(expected: float, returned: float, kind: ElementType) -> float:
    """A difference in units in the last place of the wanted number; infinity for a number that is not finite."""
    if not (np.isfinite(expected) and np.isfinite(returned)):
        return np.inf
    layout = kind.layout
    exponent = max(int(np.frexp(expected)[1]) - 1, int(layout.minexp)) if expected else int(layout.minexp)
    return abs(returned - expected) / float(np.ldexp(1.0, exponent - int(layout.nmant)))


def floats_of(array: Array, kind: ElementType) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Elements of a floating-point type in f64, which has them exactly."""
    with np.errstate(all="ignore"):  # signalling NaNs
        return np.asarray(array.view(kind.arithmetic).astype(np.float64))
