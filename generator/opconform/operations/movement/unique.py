"""Unique-10, from its specification page: the different elements or slices of data, their places and their counts."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, prod
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.contract import ContextError, Tested
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import AXIS_CHECKS, axis_of
from opconform.operations.operation import Computation
from opconform.suite.case import Graph, Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import numbers_of
from opconform.tensors.tensor import Array, Tensor

_INDICES = ("i64", "i32")
_Slice = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Otherwise(Arguments):
    """The arguments by another reading, which compares something else in place of the elements of a slice."""

    compared: Callable[[_Slice], _Slice]


def _axis(arguments: Arguments) -> int | None:
    return axis_of(arguments) if "axis" in arguments.inputs else None


def _count(arguments: Arguments) -> int:
    """The number of elements or slices that are compared."""
    shape, axis = arguments.shape("data"), _axis(arguments)
    return prod(shape) if axis is None else shape[axis]


def _slices(arguments: Arguments) -> list[_Slice]:
    """The elements of each slice in row-major order, as numbers or texts; without an axis, each element is one."""
    data, axis = arguments.tensor("data"), _axis(arguments)
    numbers = data.array.ravel().tolist() if data.element_type == "string" else numbers_of(data)
    array = np.array([*numbers, None], object)[:-1].reshape(data.shape)
    rows = array.reshape(array.size) if axis is None else np.moveaxis(array, axis, 0)
    return [tuple(row) for row in rows.reshape(len(rows), prod(rows.shape[1:]))]


def _unique(arguments: Arguments) -> tuple[list[int], list[int], list[int]]:
    """The first index of each unique slice, the place among them of each slice, and their counts."""
    slices = _slices(arguments)
    if isinstance(arguments, _Otherwise):
        slices = [*map(arguments.compared, slices)]
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
        unique, _, _ = _unique(arguments)
        count = len(unique)
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


def _comparing(compared: Callable[[_Slice], _Slice]) -> Reading:
    """The reading that compares something else, where that gives other outputs."""

    def rewritten(arguments: Arguments) -> Arguments:
        fields = {name: getattr(arguments, name) for name in Arguments.__dataclass_fields__}
        other = _Otherwise(**fields, compared=compared)
        try:
            return arguments if _unique(arguments) == _unique(other) else other
        except Unknown:
            return arguments

    return Reading(rewrites=(rewritten,))


def _with_sign(number: Any) -> Any:
    return (number, copysign(1, number)) if isinstance(number, float) else number


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


UNIQUE = Computation(
    name="Unique-10",
    inputs=(Port("data"), Port("axis", setting=True, constant=True, optional=True, types=_INDICES, shapes=((), (1,)))),
    attributes=(
        AttributeSpec("sorted", type="boolean", default=True),
        AttributeSpec("index_element_type", type="enum", values=_INDICES, default="i64"),
        AttributeSpec("count_element_type", type="enum", values=_INDICES, default="i64"),
    ),
    checks=AXIS_CHECKS,
    requested=lambda _: 4,
    types=_types,
    calculate=_outputs,
    shaped_by_elements=True,
    needs_written_elements=lambda a: has_kind(a.operand("data"), "float"),  # the page does not compare a drawn NaN
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
        "slices.order": _comparing(lambda slice_: slice_[::-1]),
        "data.signed-zero": _comparing(lambda slice_: (*map(_with_sign, slice_),)),
    },
)
