"""MVN-6, from its specification page: elements less their mean over some axes, divided by their standard deviation."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import Composition, Interval, composed, square_root
from opconform.operations.arithmetic.elementwise import exact_array, without_special
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation import composites as propagation
from opconform.operations.arithmetic.propagation.spans import Part
from opconform.operations.arithmetic.propagation.sums import of_slices
from opconform.operations.arithmetic.reductions import reduced_axes
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.movement.axis import is_outside
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, has_few_bits, numbers, wide_type
from opconform.tensors.tensor import Array, Tensor

#: The units in the last place of a square root with the sum in it, and of a product with a reciprocal or a division
#: (OpenCL C 3.0, section 7.4: 3 and 2.5, and one for the sum or the product).
_ROOT, _QUOTIENT = 4, 4
#: The least number of elements that have a variance of a sample.
_TWO = 2


class _Scale(NamedTuple):
    """What the differences are divided by; `parts` has what squares are divided by, given their number."""

    eps: Exact
    is_inside: bool
    parts: Callable[[int], int]

    def of(self, variance: Exact) -> Exact:
        """The divisor for a variance."""
        root = square_root(variance + self.eps) if self.is_inside else square_root(variance)
        return root if self.is_inside else root + self.eps


def normalized(kind: ElementType, elements: Sequence["Exact | float"], scale: _Scale | None) -> list[Result]:
    """The differences of elements to their mean, scaled if a scale is given, with the errors that are right.

    Kernels compute in the wide type.
    """
    count = len(elements)
    if any(isinstance(x, float) for x in elements):
        of_special = sum(x for x in elements if isinstance(x, float))
        return [math.nan if scale else float(x) - of_special for x in elements]
    exact = [Exact(x) for x in elements]
    if sum(map(abs, exact), Exact(0)) > Exact(float(wide_type(kind).layout.max)):
        raise NoGolden("the order in which the elements are added decides whether their sum is finite")
    mean = sum(exact, Exact(0)) / count
    differences = [x - mean for x in exact]
    divisor = Exact(1)
    if scale is not None:
        divisor = scale.of(sum((x * x for x in differences), Exact(0)) / scale.parts(count))
    results, is_short = [x / divisor for x in differences], all(map(has_few_bits, exact))
    return composed(kind, results, lambda way: _intervals(way, exact, scale), keeps_exact=True, is_short=is_short)


def _intervals(way: Composition, elements: Sequence[Exact], scale: _Scale | None) -> list[Interval]:
    if scale is None:
        return composites.differences(way, elements)
    return composites.normalized(way, elements, scale.parts(len(elements)), scale.of)


def _rows(moved: Array, count: int) -> Array:
    """The slices that are normalized, of an array whose last dimensions they are."""
    return moved.reshape(-1, math.prod(moved.shape[moved.ndim - count :])) if moved.size else moved.reshape(0, 1)


def _has_open_zero(arguments: Arguments) -> bool:
    """Whether a slice of mean 0 has a negative zero: less a zero of either sign, it is one of either sign."""
    data, axes = arguments.tensor("data"), reduced_axes(arguments)
    last = tuple(range(len(data.shape) - len(axes), len(data.shape)))
    zeros = np.signbit(numbers(data)) & (numbers(data) == 0)
    pairs = zip(*(_rows(np.moveaxis(x, axes, last), len(axes)) for x in (zeros, exact_array(data))), strict=True)
    rows = (row for are_zeros, row in pairs if are_zeros.any())
    return any(sum(row) == 0 for row in rows if not any(isinstance(x, float) for x in row))


def _scale(arguments: Arguments, parts: Callable[[int], int]) -> _Scale | None:
    """What the differences are divided by, if by anything."""
    if arguments.attribute("normalize_variance") is not True:
        return None
    eps = Exact(float(str(arguments.attribute("eps"))))
    return _Scale(eps, arguments.attribute("eps_mode") == "inside_sqrt", parts)


def _slices(arguments: Arguments, numbers: Array) -> Array:
    """The numbers of the elements, with those that are normalized together along the last axis."""
    axes = reduced_axes(arguments)
    last = tuple(range(numbers.ndim - len(axes), numbers.ndim))
    return _rows(np.moveaxis(numbers, axes, last), len(axes)) if numbers.size else numbers.reshape(0, 1)


def _propagated(arguments: Arguments, way: Composition, parts: Sequence[Part]) -> list[Part]:
    """A slice of elements that may be rounded themselves."""
    scale = _scale(arguments, int)
    return propagation.normalized(way, parts, len(parts), scale and scale.of)


def _computed(arguments: Arguments, parts: Callable[[int], int] = int) -> tuple[Tensor, ...]:
    data, axes = arguments.tensor("data"), reduced_axes(arguments)
    scale = _scale(arguments, parts)
    last = tuple(range(len(data.shape) - len(axes), len(data.shape)))
    moved = np.moveaxis(exact_array(data), axes, last)
    rows = _rows(moved, len(axes))
    results = np.empty(rows.shape, object)
    for place, row in enumerate(rows):
        results[place, :] = np.fromiter(normalized(data.type, list(row), scale), object, len(row))
    back = np.moveaxis(results.reshape(moved.shape), last, axes)
    return (bounded_tensor(data.element_type, data.shape, list(back.reshape(-1))),)


def _of_sample(arguments: Arguments) -> tuple[Tensor, ...]:
    """The results by the variance of a sample, which divides the squares by one less than their number."""
    sizes = [arguments.shape("data")[axis] for axis in reduced_axes(arguments)]
    if arguments.attribute("normalize_variance") is not True or math.prod(sizes) < _TWO:
        raise Unknown
    return _computed(arguments, lambda count: count - 1)


def _with_other_mode(mode: str | None, arguments: Arguments) -> tuple[Tensor, ...]:
    """The results with eps at the other side of the square root, if it should be in a mode."""
    if mode is not None and (
        arguments.attribute("eps_mode") != mode or arguments.attribute("normalize_variance") is not True
    ):
        raise Unknown
    other = "outside_sqrt" if arguments.attribute("eps_mode") == "inside_sqrt" else "inside_sqrt"
    return _computed(replace(arguments, attributes={**arguments.attributes, "eps_mode": other}))


#: From its specification page.
MVN = Computation(
    name="MVN-6",
    inputs=(Port("data", types=REALS), Port("axes", setting=True, types=("i32", "i64"), ranks=(1,))),
    attributes=(
        AttributeSpec("normalize_variance", type="boolean"),
        AttributeSpec("eps", type="float"),
        AttributeSpec("eps_mode", type="enum", values=("inside_sqrt", "outside_sqrt")),
    ),
    checks={
        "axes.range": lambda a: any(is_outside(axis, len(a.shape("data"))) for axis in a.integers("axes")),
        "axes.unique": lambda a: len(reduced_axes(a)) < len(a.integers("axes")),
        "eps.positive": lambda a: not float(str(a.attribute("eps"))) > 0,
    },
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
    calculate=_computed,
    rounded=of_slices(_slices, _propagated),
    undefined=_has_open_zero,
    is_numeric=True,
    products=lambda a: FUNCTION_WORK * math.prod(a.shape("data")),
    mistakes={"As if eps were at the other side of the square root": partial(_with_other_mode, None)},
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "the variance is normalized": lambda a: a.attribute("normalize_variance") is True,
        "eps is inside the square root": lambda a: a.attribute("eps_mode") == "inside_sqrt",
        "the axes are the last ones": lambda a: (
            reduced_axes(a) == tuple(range(len(a.shape("data"))))[-len(reduced_axes(a)) :]
        ),
        "the axes are all of data": lambda a: len(reduced_axes(a)) == len(a.shape("data")),
        "an axis is negative": lambda a: any(axis < 0 for axis in a.integers("axes")),
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "axes.empty": Reading(rejects=lambda a: not a.integers("axes")),
        "values.special": without_special(_computed),
        "variance.mean": Reading(computes=(lambda a: _computed(a, lambda _: 1),), by_element=True),
        "variance.count": Reading(computes=(_of_sample,), by_element=True, misreads=True),
        "eps_mode.inside": Reading(
            computes=(partial(_with_other_mode, "inside_sqrt"),), by_element=True, misreads=True
        ),
        "eps_mode.outside": Reading(
            computes=(partial(_with_other_mode, "outside_sqrt"),), by_element=True, misreads=True
        ),
    },
)
