"""The bounds of outputs that are rounded, and outputs without denormal numbers: how a suite stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.suite.case import Input, Output
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array

#: The types without a wider accumulator, and the part of the largest result that an error of them is less than.
_ALONE, _WIDEST = ("f32", "f64"), 0.25
#: The part of the largest number of a type from which on a result may overflow.
_NEAR = 0.25
#: The least and the largest value of each element, which differ where not only the golden bits are right.
Bounds = tuple[Array, Array]


def bound_names(output: str) -> tuple[str, str]:
    """The arrays with the lower and the upper bounds of an output, in the file of its golden values."""
    return f"{output}.lower", f"{output}.upper"


def reduced_names(output: str) -> tuple[str, str]:
    """The arrays with the results of reduced arithmetic that are furthest from an output."""
    return f"{output}.reduced.lower", f"{output}.reduced.upper"


def flushed_name(output: str) -> str:
    """The array with the output of a backend that takes denormal numbers in inputs for zeros."""
    return f"{output}.flushed"


def flushed_output(output: Output) -> Output:
    """What a file has for an output if a backend takes denormal numbers in inputs for zeros."""
    return replace(output, name=flushed_name(output.name), flushed=False, reduced=False)


def with_bounds(tensors: Sequence[Input | Output]) -> dict[str, Input | Output]:
    """The arrays that a file has for some tensors, by name; bounds have the type and shape of their output."""
    every = [*tensors, *(flushed_output(x) for x in tensors if isinstance(x, Output) and x.flushed)]
    bounded = [x for x in every if isinstance(x, Output) and x.comparison == "bounds"]
    reduced = [x for x in every if isinstance(x, Output) and x.reduced]
    return {
        **{x.name: x for x in every},
        **{name: output for output in bounded for name in bound_names(output.name)},
        **{name: output for output in reduced for name in reduced_names(output.name)},
    }


def bounds_of(output: Output, arrays: Mapping[str, Array]) -> Bounds | None:
    """The bounds of an output among the arrays of a file; None for an output whose bits are compared."""
    if output.comparison == "bits":
        return None
    if output.comparison == "numbers":
        return (arrays[output.name],) * 2
    lower, upper = bound_names(output.name)
    return arrays[lower], arrays[upper]


def reduced_of(output: Output, arrays: Mapping[str, Array]) -> Bounds | None:
    """The bounds of results that are less accurate, and not wrong; None where every wrong result is wrong."""
    if not output.reduced:
        return None
    lower, upper = reduced_names(output.name)
    return arrays[lower], arrays[upper]


def are_vague(kind: ElementType, golden: Array, bounds: Bounds) -> bool:
    """Whether bounds are wider than a rule gives: with them, nearly any result would be right.

    An error is less than the largest result, and in f32 and f64, whose sums gain no digits in a wider accumulator, less
    than a quarter of it. Only a result near the largest number of its type may overflow.
    """
    with np.errstate(all="ignore"):  # signalling NaNs
        exact, lower, upper = (x.view(kind.arithmetic).astype(np.float64) for x in (golden, *bounds))
        is_infinite = np.isinf(lower) | np.isinf(upper)
        is_near = np.abs(exact) >= float(kind.layout.max) * _NEAR
        finite = np.isfinite(exact) & ~is_infinite
        width = np.maximum(upper - exact, exact - lower)[finite].max(initial=0)
        largest = np.abs(exact)[np.isfinite(exact)].max(initial=0)
        is_wide = width >= largest * (_WIDEST if kind.name in _ALONE else 1)
        return bool(
            (is_infinite & np.isfinite(exact) & ~is_near).any()
            or (is_wide and width > 2 * float(kind.layout.smallest_normal))
        )


def bounds_problem(output: Output, arrays: Mapping[str, Array]) -> str | None:
    """Why the bounds of an output are invalid, or None. The arrays have the right names and types."""
    kind = ELEMENT_TYPES[output.element_type]
    bounds, reduced = bounds_of(output, arrays), reduced_of(output, arrays)
    if bounds is None:
        return f"{output.name} has reduced bounds, and bits that are compared" if reduced else None
    if any(x.shape != arrays[output.name].shape for x in (*bounds, *(reduced or ()))):
        return f"the bounds of {output.name} have another shape than its golden values"
    if kind.kind != "float":
        return f"{output.name} is {kind.name} and has bounds, which only floating-point types have"
    with np.errstate(invalid="ignore"):  # signalling NaNs
        golden, lower, upper = (x.view(kind.arithmetic).astype(np.float64) for x in (arrays[output.name], *bounds))
    is_nan = np.isnan(golden)
    if not (np.array_equal(is_nan, np.isnan(lower)) and np.array_equal(is_nan, np.isnan(upper))):
        return f"the bounds of {output.name} are NaN at other elements than its golden values"
    if are_vague(kind, arrays[output.name], bounds):
        return f"the bounds of {output.name} are wider than any rule gives, so that wrong results would be right"
    if not ((lower <= golden) & (golden <= upper) | is_nan).all():
        return f"a golden value of {output.name} is outside its bounds"
    return None if reduced is None else _reduced_problem(output.name, kind, (golden, lower, upper), reduced)


def _reduced_problem(name: str, kind: ElementType, numbers: tuple[Array, Array, Array], reduced: Bounds) -> str | None:
    """Why the bounds of results that are less accurate are invalid, or None; `numbers` are golden and bounds in f64."""
    golden, lower, upper = numbers
    with np.errstate(invalid="ignore"):  # signalling NaNs
        least, most = (x.view(kind.arithmetic).astype(np.float64) for x in reduced)
    is_nan = np.isnan(golden)
    if not ((least <= lower) & (upper <= most) | (is_nan & np.isnan(least) & np.isnan(most))).all():
        return f"the reduced bounds of {name} are inside its bounds"
    is_near = np.abs(golden) >= float(kind.layout.max) * _NEAR
    is_infinite = (np.isinf(least) & ~np.isinf(lower)) | (np.isinf(most) & ~np.isinf(upper))
    if (is_infinite & ~is_near).any():
        return (
            f"the reduced bounds of {name} are wider than any rule gives, so that wrong results would be less accurate"
        )
    return None
