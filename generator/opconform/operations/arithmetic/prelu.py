"""PReLU-1, from its specification page: negative elements are multiplied with slopes, per channel or broadcast."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.composition import Composition, Interval
from opconform.operations.arithmetic.elementwise import Kernel, computed
from opconform.operations.arithmetic.propagation.pairs import multiplied
from opconform.operations.arithmetic.propagation.spans import Formula, Part
from opconform.operations.checks import RANKED
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.exact import REALS, Exact
from opconform.tensors.tensor import Array, Tensor

_ZERO = Exact(0)


def has_slope_per_channel(arguments: Arguments) -> bool:
    """Whether the slope is a list with an element for each channel, the second dimension of data."""
    return arguments.shape("slope") == arguments.shape("data")[1:2]


def _aligned(arguments: Arguments) -> Shape:
    """The shape of the slope with the number of dimensions of data, or with more."""
    data, slope = arguments.shape("data"), arguments.shape("slope")
    whole = slope + (1,) * (len(data) - 2) if has_slope_per_channel(arguments) else slope
    return (1,) * (len(data) - len(whole)) + whole


def _pairs(arguments: Arguments) -> list[tuple[int, int]]:
    """The dimensions of data, which are 1 where it has none, and those of the slope."""
    data, slope = arguments.shape("data"), _aligned(arguments)
    return [*zip((1,) * (len(slope) - len(data)) + data, slope, strict=True)]


def _differ(arguments: Arguments) -> bool:
    return any(a != b and 1 not in (a, b) for a, b in _pairs(arguments))


def _enlarges(arguments: Arguments) -> bool:
    """Whether both would be broadcast to another shape than that of data."""
    is_longer = len(_aligned(arguments)) > len(arguments.shape("data"))
    return is_longer or any(a == 1 != b for a, b in _pairs(arguments))


def _by_kernel(kernel: Kernel) -> Calculate:
    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        data, slope = arguments.tensor("data"), arguments.tensor("slope")
        wide = np.broadcast_to(slope.array.reshape(_aligned(arguments)), data.shape)
        return (computed(kernel, data, replace(slope, array=wide)),)

    return calculate


def _rectified(x: Array, slope: Array) -> Array:
    """The first formula of the page; a NaN stays one."""
    return np.where(x < 0, x * slope, x)


def _of_parts(x: Array, slope: Array) -> Array:
    """The second formula of the page, whose product is not a number for an infinite slope of a positive number."""
    positive, negative = (np.where(is_part | np.isnan(x), x, 0.0) for is_part in (x > 0, x < 0))
    return np.asarray(positive + slope * negative)


def _of_positive(x: Array, slope: Array) -> Array:
    """The first formula with a product for zeros, too."""
    return np.where((x > 0) | np.isnan(x), x, x * slope)


def _magnitude(x: Array, slope: Array) -> Array:
    return np.asarray(np.abs(np.minimum(x, 0.0) * slope))


def _of_part(way: Composition, x: Part, slope: Part) -> Part:
    """The result for an element, whose sign may not be known."""
    if isinstance(x, float):
        return multiplied(way, x, slope) if x == -math.inf else x
    if x.low >= 0:
        return x
    product = multiplied(way, Interval(x.low, min(x.high, _ZERO)), slope)
    if x.high < 0 or isinstance(product, float):
        return product
    return Interval(min(product.low, _ZERO), max(product.high, x.high))


def _formula(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> list[Part]:
    shape, aligned = arguments.shape("data"), _aligned(arguments)
    places = np.broadcast_to(np.arange(math.prod(aligned)).reshape(aligned), shape).reshape(-1).tolist()
    return [_of_part(way, x, parts["slope"][place]) for x, place in zip(parts["data"], places, strict=True)]


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    return (TensorType(element_type=arguments.operand("data").element_type, shape=arguments.shape("data")),)


def _types_differ(arguments: Arguments) -> bool:
    types = {arguments.operand(name).element_type for name in ("data", "slope")}
    return len(types) > 1 and types.issubset(REALS)


PRELU = Computation(
    name="PReLU-1",
    inputs=(Port("data", types=REALS), Port("slope", types=REALS, ranks=RANKED)),
    checks={"slope.same-type": _types_differ, "slope.dimensions": _differ, "slope.larger": _enlarges},
    types=_types,
    calculate=_by_kernel(Kernel(floats=_rectified, magnitude=_magnitude)),
    rounded=Formula(of=_formula, keeps_integers=True),
    is_numeric=True,
    same_types=("slope",),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "each channel has a slope": has_slope_per_channel,
        "the slope has one element": lambda a: math.prod(a.shape("slope")) == 1,
    },
    readings={
        "values.special": Reading(
            computes=tuple(_by_kernel(Kernel(floats=of)) for of in (_of_parts, _of_positive)), by_element=True
        )
    },
)
