"""Slice-8 in small steps: a right implementation whose hooks the rows replace."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse

INDICES = ("start", "stop", "step")


def _outputs(call: Call) -> list[Tensor]:
    data: Tensor = call.do("sliced_data")
    for name in INDICES:
        call.do("check_given", name)
    for name in (*INDICES, "axes"):
        if name in call.inputs:
            call.do("check_index_type", name, call.inputs[name])
            call.do("check_index_rank", name, call.inputs[name])
    call.do("check_counts", [call.inputs[each].shape for each in (*INDICES, "axes") if each in call.inputs])
    axes: list[int] = call.do("sliced_axes", len(data.shape))
    array = data.array
    for number, axis in enumerate(axes):
        selected: range = call.do("selected", number, array.shape[axis])
        array = call.do("taken", array, axis, selected)
    return [Tensor(element_type=data.element_type, array=array)]


def _data(call: Call) -> Tensor:
    data = call.inputs.get("data")
    if data is None:
        return refuse("data is missing")
    call.do("check_data_rank", data)
    return data


def _check_data_rank(_call: Call, data: Tensor) -> None:
    if not data.shape:
        refuse("data is a scalar")


def _check_given(call: Call, name: str) -> None:
    if name not in call.inputs:
        refuse(f"{name} is missing")


def _check_type(_call: Call, name: str, given: Tensor) -> None:
    if not given.type.is_integer:
        refuse(f"{name} is not of an integer type")


def _check_rank(_call: Call, name: str, given: Tensor) -> None:
    if len(given.shape) != 1:
        refuse(f"{name} is not a list")


def _check_counts(_call: Call, shapes: list[tuple[int, ...]]) -> None:
    if len(set(shapes)) > 1:
        refuse("the numbers of elements differ")


def _axes(call: Call, rank: int) -> list[int]:
    """The axes, counted from the front."""
    axes: list[int] = call.do("index_values", "axes") if "axes" in call.inputs else call.do("default_axes", rank)
    call.do("check_axes_range", axes, rank)
    counted = [call.do("axis_from_front", each, rank) for each in axes]
    call.do("check_axes_unique", counted)
    return counted


def _default_axes(call: Call, _rank: int) -> list[int]:
    return list(range(len(call.do("index_values", "start"))))


def _check_axes_range(_call: Call, axes: list[int], rank: int) -> None:
    if any(not -rank <= each < rank for each in axes):
        refuse("an axis is out of range")


def _axis_from_front(_call: Call, axis: int, rank: int) -> int:
    return axis % rank


def _check_axes_unique(_call: Call, axes: list[int]) -> None:
    if len(set(axes)) < len(axes):
        refuse("an axis is repeated")


def _values(call: Call, name: str) -> list[int]:
    """The elements of an index input."""
    return call.inputs[name].integers()


def _selected(call: Call, number: int, size: int) -> range:
    """The elements along one axis that are selected."""
    start, stop, step = (call.do("index_values", each)[number] for each in INDICES)
    call.do("check_step", step, size)
    first, end = call.do("first", start, step, size), call.do("end", stop, step, size)
    return call.do("stepped", first, end, step)  # type: ignore[no-any-return]


def _check_step(_call: Call, step: int, _size: int) -> None:
    if step == 0:
        refuse("a step is 0")


def _first(call: Call, start: int, step: int, size: int) -> int:
    """The index of the first element, clamped."""
    counted: int = call.do("bound_from_front", start, size)
    return min(max(counted, 0), size) if step > 0 else min(max(counted, -1), size - 1)


def _end(call: Call, stop: int, step: int, size: int) -> int:
    """The index at which the slice ends, clamped."""
    counted: int = call.do("bound_from_front", stop, size)
    return min(max(counted, 0), size) if step > 0 else min(max(counted, -1), size - 1)


def _bound_from_front(_call: Call, bound: int, size: int) -> int:
    return bound + size if bound < 0 else bound


def _stepped(_call: Call, first: int, end: int, step: int) -> range:
    return range(first, end, step)


def _taken(_call: Call, array: Array, axis: int, selected: Sequence[int]) -> Array:
    if not array.size:  # a dimension without elements can be larger than memory
        return np.empty((*array.shape[:axis], len(selected), *array.shape[axis + 1 :]), array.dtype)
    return array.take(np.array(selected, np.int64), axis)


#: The hooks of Slice-8.
SLICE: Hooks = MappingProxyType(
    {
        "Slice-8": _outputs,
        "sliced_data": _data,
        "check_data_rank": _check_data_rank,
        "check_given": _check_given,
        "check_index_type": _check_type,
        "check_index_rank": _check_rank,
        "check_counts": _check_counts,
        "sliced_axes": _axes,
        "default_axes": _default_axes,
        "check_axes_range": _check_axes_range,
        "axis_from_front": _axis_from_front,
        "check_axes_unique": _check_axes_unique,
        "index_values": _values,
        "selected": _selected,
        "check_step": _check_step,
        "first": _first,
        "end": _end,
        "bound_from_front": _bound_from_front,
        "stepped": _stepped,
        "taken": _taken,
    }
)
