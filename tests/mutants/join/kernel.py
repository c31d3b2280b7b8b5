"""Concat-1 in small steps: a right implementation whose hooks the rows replace."""

from itertools import accumulate
from types import MappingProxyType

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse


def _outputs(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.do("joined_inputs")
    call.do("check_number", tensors)
    call.do("check_types", tensors)
    call.do("check_scalars", tensors)
    call.do("check_ranks", tensors)
    axis: int = call.do("joined_axis", tensors[0].array.ndim)
    call.do("check_shapes", tensors, axis)
    sizes: list[int] = call.do("joined_sizes", tensors, axis)
    shape: tuple[int, ...] = call.do("joined_shape", tensors, axis, sizes)
    array = call.do("joined", [each.array for each in tensors], axis, sizes, shape)
    return [Tensor(element_type=call.do("joined_type", tensors), array=array)]


def _joined_inputs(call: Call) -> list[Tensor]:
    """The inputs in the order in which they are joined."""
    return list(call.inputs.values())


def _check_number(_call: Call, tensors: list[Tensor]) -> None:
    if not tensors:
        refuse("there are no inputs")


def _check_types(_call: Call, tensors: list[Tensor]) -> None:
    if len({each.element_type for each in tensors}) > 1:
        refuse("the element types differ")


def _check_scalars(_call: Call, tensors: list[Tensor]) -> None:
    if any(not each.shape for each in tensors):
        refuse("an input is a scalar")


def _check_ranks(_call: Call, tensors: list[Tensor]) -> None:
    if len({len(each.shape) for each in tensors}) > 1:
        refuse("the ranks differ")


def _axis(call: Call, rank: int) -> int:
    """The axis, counted from the front."""
    value: int = call.do("axis_attribute")
    call.do("check_axis_range", value, rank)
    axis: int = call.do("from_front", value, rank)
    return axis


def _axis_attribute(call: Call) -> int:
    """The attribute."""
    given = call.attributes.get("axis")
    if given is None:
        return int(call.do("missing_axis"))
    return given if isinstance(given, int) and not isinstance(given, bool) else int(call.do("no_integer", given))


def _missing_axis(_call: Call) -> int:
    return refuse("the axis is missing")


def _no_integer(_call: Call, given: object) -> int:
    return refuse(f"{given!r} is not an integer")


def _check_axis_range(_call: Call, value: int, rank: int) -> None:
    if not -rank <= value < rank:
        refuse("the axis is out of range")


def _from_front(_call: Call, value: int, rank: int) -> int:
    return value % rank


def _check_shapes(_call: Call, tensors: list[Tensor], axis: int) -> None:
    if len({(*each.shape[:axis], *each.shape[axis + 1 :]) for each in tensors}) > 1:
        refuse("the shapes differ beside the axis")


def _sizes(_call: Call, tensors: list[Tensor], axis: int) -> list[int]:
    """The sizes of the inputs along the axis."""
    return [each.shape[axis] for each in tensors]


def _joined_shape(_call: Call, tensors: list[Tensor], axis: int, sizes: list[int]) -> tuple[int, ...]:
    shape = tensors[0].shape
    return (*shape[:axis], sum(sizes), *shape[axis + 1 :])


def _joined(call: Call, arrays: list[Array], axis: int, sizes: list[int], shape: tuple[int, ...]) -> Array:
    """The inputs, each copied to its place in the output."""
    output = np.zeros(shape, np.result_type(*arrays))
    starts: list[int] = call.do("offsets", sizes)
    for array, start, size in zip(arrays, starts, sizes, strict=False):
        place = (slice(None),) * axis + (slice(start, start + size),)
        call.do("copied", output, place, array)
    return output


def _offsets(_call: Call, sizes: list[int]) -> list[int]:
    """Where each input begins along the axis."""
    return list(accumulate(sizes, initial=0))[:-1]


def _copied(_call: Call, output: Array, place: tuple[slice, ...], array: Array) -> None:
    output[place] = array


def _joined_type(_call: Call, tensors: list[Tensor]) -> str:
    return tensors[0].element_type


#: The hooks of Concat-1.
CONCAT: Hooks = MappingProxyType(
    {
        "Concat-1": _outputs,
        "joined_inputs": _joined_inputs,
        "check_number": _check_number,
        "check_types": _check_types,
        "check_scalars": _check_scalars,
        "check_ranks": _check_ranks,
        "joined_axis": _axis,
        "axis_attribute": _axis_attribute,
        "missing_axis": _missing_axis,
        "no_integer": _no_integer,
        "check_axis_range": _check_axis_range,
        "from_front": _from_front,
        "check_shapes": _check_shapes,
        "joined_sizes": _sizes,
        "joined_shape": _joined_shape,
        "joined": _joined,
        "offsets": _offsets,
        "copied": _copied,
        "joined_type": _joined_type,
    }
)
