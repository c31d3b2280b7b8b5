"""Unique-10, from its specification page: the different elements or slices of data, their places and their counts."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from math import copysign, prod
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import AXIS, AXIS_CHECKS, axis_of
from opconform.operations.operation import ContextError, Operation, Tested
from opconform.suite.case import Graph, Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import numbers_of
from opconform.tensors.tensor import Array, Tensor

_INDICES = ("i64", "i32")
#: An attribute of arguments by another reading, which says what the reading compares.
_READING = "reading"
#: What other readings compare in place of the elements of a slice.
_COMPARED: dict[str, Callable[[tuple[Any, ...]], tuple[Any, ...]]] = {
    "from-the-end": lambda slice_: slice_[::-1],
    "signs": lambda slice_: tuple((x, copysign(1, x)) if isinstance(x, float) else x for x in slice_),
}


def _axis(arguments: Arguments) -> int | None:
    return axis_of(arguments) if "axis" in arguments.inputs else None


def _count(arguments: Arguments) -> int:
    """The number of elements or slices that are compared."""
    shape, axis = arguments.shape("data"), _axis(arguments)
    return prod(shape) if axis is None else shape[axis]


def _numbers(arguments: Arguments) -> list[Any]:
    """The elements of data as numbers or texts; `Unknown` where they are computed."""
    data = arguments.operand("data")
    if data.known_integers is not None:
        return [*data.known_integers]
    tensor = arguments.tensor("data")
    return tensor.array.reshape(-1).tolist() if tensor.element_type == "string" else numbers_of(tensor)


def _slices(arguments: Arguments) -> list[tuple[Hashable, ...]]:
    """The elements of each slice in row-major order; without an axis, each element is one."""
    numbers, axis, shape = _numbers(arguments), _axis(arguments), arguments.shape("data")
    array = np.empty(len(numbers), object)
    array[:] = numbers
    if axis is None:
        return [(x,) for x in array]
    rows = np.moveaxis(array.reshape(shape), axis, 0).reshape(shape[axis], prod(shape) // (shape[axis] or 1))
    return [tuple(row) for row in rows]


def _unique(arguments: Arguments) -> tuple[list[int], list[int], list[int]]:
    """The first index of each unique slice, its place for each slice, and its count."""
    slices = _slices(arguments)
    if _READING in arguments.attributes:
        slices = [*map(_COMPARED[str(arguments.attributes[_READING])], slices)]
    counts = Counter(slices)  # in the order of first occurrences, and with -0 as 0
    order: list[Any] = sorted(counts) if arguments.attribute("sorted") else [*counts]
    places = {slice_: place for place, slice_ in enumerate(order)}
    firsts = {slice_: index for index, slice_ in reversed([*enumerate(slices)])}
    return [firsts[x] for x in order], [places[x] for x in slices], [counts[x] for x in order]


def _shape(arguments: Arguments, count: int) -> Shape:
    """The shape of the unique elements or slices."""
    shape, axis = arguments.shape("data"), _axis(arguments)
    return (count,) if axis is None else (*shape[:axis], count, *shape[axis + 1 :])


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    """The types of the outputs; with as many unique slices as there are slices, where the elements are not known."""
    try:
        count = len(_unique(arguments)[0])
    except Unknown:
        count = _count(arguments)
    index, number = (str(arguments.attribute(f"{name}_element_type")) for name in ("index", "count"))
    return (
        TensorType(element_type=arguments.operand("data").element_type, shape=_shape(arguments, count)),
        TensorType(element_type=index, shape=(count,)),
        TensorType(element_type=index, shape=(_count(arguments),)),
        TensorType(element_type=number, shape=(count,)),
    )


def _outputs(arguments: Arguments) -> tuple[Tensor, ...]:
    firsts, places, counts = _unique(arguments)
    data, axis = arguments.tensor("data").array, _axis(arguments)
    array: Array = np.take(data, np.array(firsts, np.int64), axis)
    kept, *types = _types(arguments)
    lists = zip(types, (firsts, places, counts), strict=True)
    return (
        Tensor(element_type=kept.element_type, array=np.asarray(array, order="C")),
        *(Tensor(element_type=x.element_type, array=encoded(x.element_type, list_)) for x, list_ in lists),
    )


def _differing(name: str) -> Reading:
    """The reading that compares something else, where that gives other outputs."""

    def rewritten(arguments: Arguments) -> Arguments:
        other = replace(arguments, attributes={**arguments.attributes, _READING: name})
        try:
            return arguments if _unique(arguments) == _unique(other) else other
        except Unknown:
            return arguments

    return Reading(rewrites=(rewritten,))


def _has_empty_slices(arguments: Arguments) -> bool:
    return _count(arguments) > 0 and 0 in arguments.shape("data")


def _gathered(tested: Tested) -> Graph:
    """Data, or its elements, are also gathered from the unique slices by the reverse indices."""
    if not tested.outputs:
        raise ContextError("an invalid case has no outputs for the context `gathered` to use")
    axis = contexts.constant("GatherAxis", "i64", (), [_axis(tested.arguments[0]) or 0])
    inputs = (tested.node.outputs[0], tested.node.outputs[2], *axis.outputs)
    gathered = contexts.computing("Gather", "Gather-8", inputs, batch_dims=0)
    return Graph(nodes=(tested.node, axis, gathered), outputs=(*tested.node.outputs, *gathered.outputs))


UNIQUE = Operation(
    name="Unique-10",
    inputs=(Port("data"), replace(AXIS, types=_INDICES, optional=True, constant=True)),
    attributes=(
        AttributeSpec("sorted", type="boolean", default=True),
        AttributeSpec("index_element_type", type="enum", values=_INDICES, default="i64"),
        AttributeSpec("count_element_type", type="enum", values=_INDICES, default="i64"),
    ),
    checks=AXIS_CHECKS,
    requested=lambda _: 4,
    types=_types,
    compute=_outputs,
    shaped_by_elements=True,
    computes=lambda a: has_kind(a.operand("data"), "float"),  # a drawn NaN, which the page does not compare
    contexts={"partial": contexts.partial, "gathered": _gathered},
    facts={
        "no axis is given": lambda a: "axis" not in a.inputs,
        "the axis is the first dimension": lambda a: _axis(a) == 0,
        "sorted is false": lambda a: a.attribute("sorted") is False,
        "data is a scalar": lambda a: a.shape("data") == (),
        "there are no slices or elements": lambda a: _count(a) == 0,
        "all are unique": lambda a: len(_unique(a)[0]) == _count(a),
        "all are equal": lambda a: len(_unique(a)[0]) == 1,
    },
    readings={
        "slices.empty": Reading(rejects=_has_empty_slices),
        "slices.order": _differing("from-the-end"),
        "data.signed-zero": _differing("signs"),
    },
)
