"""NonZero-3, from its specification page: the indices of the elements other than zero."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.contract import ContextError, Tested
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.suite.case import Graph, Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import Number, numbers_of
from opconform.tensors.tensor import Tensor

_IsZero = Callable[[Number], bool]


def _is_zero(number: Number) -> bool:
    """Whether a number is 0 or -0; NaN is not."""
    return number == 0


def _places(arguments: Arguments, is_zero: _IsZero = _is_zero) -> list[Shape]:
    """The indices of each element other than zero, in row-major order; `Unknown` for strings."""
    if has_kind(arguments.operand("data"), "string"):
        raise Unknown
    data = arguments.tensor("data")
    return [x for x, number in zip(np.ndindex(data.shape), numbers_of(data), strict=True) if not is_zero(number)]


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    """The type of the output; with a column for each element, where the elements are not known."""
    shape = arguments.shape("data")
    try:
        count = len(_places(arguments))
    except Unknown:
        count = math.prod(shape)
    return (TensorType(element_type=str(arguments.attribute("output_type")), shape=(len(shape), count)),)


def _indices(arguments: Arguments, is_zero: _IsZero = _is_zero) -> tuple[Tensor, ...]:
    rank, places = len(arguments.shape("data")), _places(arguments, is_zero)
    element_type = str(arguments.attribute("output_type"))
    rows = encoded(element_type, [place[dimension] for dimension in range(rank) for place in places])
    return (Tensor(element_type=element_type, array=rows.reshape(rank, len(places))),)


def _reading(is_zero: _IsZero) -> Reading:
    return Reading(computes=(partial(_indices, is_zero=is_zero),))


def _gathered(tested: Tested) -> Graph:
    """The elements at the indices are an output, too, as exporters select by a mask."""
    if not tested.outputs:
        raise ContextError("an invalid case has no output for the context `gathered` to use")
    if tested.arguments[0].shape("data") == ():
        raise ContextError("a scalar has no indices for the context `gathered` to use")
    order = contexts.constant("GatherOrder", "i64", (2,), [1, 0])
    indices = contexts.computing("GatherIndices", "Transpose-1", (*tested.node.outputs, *order.outputs))
    data = [name for name in tested.node.inputs if name is not None]
    gathered = contexts.computing("Gather", "GatherND-8", (*data, *indices.outputs), batch_dims=0)
    return Graph(nodes=(tested.node, order, indices, gathered), outputs=(*tested.node.outputs, *gathered.outputs))


NON_ZERO = Computation(
    name="NonZero-3",
    inputs=(Port("data"),),
    attributes=(AttributeSpec("output_type", type="enum", values=("i64", "i32"), default="i64"),),
    checks={"data.strings": lambda a: has_kind(a.operand("data"), "string")},
    types=_types,
    calculate=_indices,
    shaped_by_elements=True,
    contexts={"doubled": contexts.doubled(lambda _: 0), "gathered": _gathered},
    facts={
        "data is a scalar": lambda a: a.shape("data") == (),
        "a dimension is 0": lambda a: 0 in a.shape("data"),
        "no element is zero": lambda a: len(_places(a)) == math.prod(a.shape("data")),
        "every element is zero": lambda a: _places(a) == [],
    },
    readings={
        "data.negative-zero": _reading(lambda x: x == 0 and math.copysign(1, x) > 0),
        "data.nan": _reading(lambda x: x == 0 or x != x),  # noqa: PLR0124 - a NaN
    },
)
