"""Gather-8 in small steps: a right implementation whose hooks the rows replace."""

from math import prod
from types import MappingProxyType

import numpy as np

from opconform.suite.case import Shape
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse


def _outputs(call: Call) -> list[Tensor]:
    data: Tensor = call.do("gathered_data")
    indices: Tensor = call.do("gathered_indices")
    axis: int = call.do("gathered_axis", len(data.shape))
    batches: int = call.do("gathered_batches", data.shape, indices.shape)
    call.do("check_batches_axis", batches, axis)
    call.do("check_batches_equal", data.shape[:batches], indices.shape[:batches])
    shape: Shape = call.do("gathered_shape", data.shape, indices.shape, axis, batches)
    size: int = call.do("gathered_size", data.shape, axis)
    places = [call.do("place", each, size) for each in call.do("index_numbers", indices)]
    rows = np.array(places, object).reshape(indices.shape)
    array: Array = call.do("picked", data.array, rows, axis, batches)
    return [Tensor(element_type=data.element_type, array=array.reshape(shape))]


def _data(call: Call) -> Tensor:
    data = call.inputs.get("data")
    if data is None:
        return refuse("data is missing")
    if not data.shape:
        refuse("data is a scalar")
    return data


def _indices(call: Call) -> Tensor:
    indices = call.inputs.get("indices")
    if indices is None:
        return refuse("the indices are missing")
    call.do("check_indices_type", indices)
    return indices


def _check_indices_type(_call: Call, indices: Tensor) -> None:
    if not indices.type.is_integer:
        refuse("the indices are not integers")


def _axis(call: Call, rank: int) -> int:
    """The axis, counted from the front."""
    axis: int = call.do("axis_number")
    call.do("check_gathered_axis", axis, rank)
    return call.do("gathered_axis_from_front", axis, rank)  # type: ignore[no-any-return]


def _axis_number(call: Call) -> int:
    """The axis as given."""
    axis = call.inputs.get("axis")
    if axis is None:
        return refuse("the axis is missing")
    call.do("check_gathered_axis_type", axis)
    call.do("check_gathered_axis_shape", axis.shape)
    return axis.integers()[0]


def _check_axis_type(_call: Call, axis: Tensor) -> None:
    if not axis.type.is_integer:
        refuse("the axis is not an integer")


def _check_axis_shape(_call: Call, shape: Shape) -> None:
    if shape not in {(), (1,)}:
        refuse("the axis is not one number")


def _check_axis(_call: Call, axis: int, rank: int) -> None:
    if not -rank <= axis < rank:
        refuse("the axis is out of range")


def _axis_from_front(_call: Call, axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis


def _batches(call: Call, data: Shape, indices: Shape) -> int:
    """The number of batch dimensions."""
    given = call.do("batches_attribute")
    call.do("check_batches_range", given, min(len(data), len(indices)))
    return call.do("batches_from_front", given, len(indices))  # type: ignore[no-any-return]


def _batches_attribute(call: Call) -> int:
    given = call.attributes.get("batch_dims", 0)
    if type(given) is not int:
        return refuse("batch_dims is not an integer")
    return given


def _check_batches_range(_call: Call, given: int, limit: int) -> None:
    if abs(given) > limit:
        refuse("batch_dims is out of range")


def _batches_from_front(_call: Call, given: int, rank: int) -> int:
    return given + rank if given < 0 else given


def _check_batches_axis(_call: Call, batches: int, axis: int) -> None:
    if batches > axis:
        refuse("batch_dims is after the axis")


def _check_batches_equal(_call: Call, data: Shape, indices: Shape) -> None:
    if data != indices:
        refuse("the batch dimensions differ")


def _shape(_call: Call, data: Shape, indices: Shape, axis: int, batches: int) -> Shape:
    return (*data[:axis], *indices[batches:], *data[axis + 1 :])


def _size(_call: Call, data: Shape, axis: int) -> int:
    """The size of the dimension that negative indices count from."""
    return data[axis]


def _numbers(_call: Call, indices: Tensor) -> list[int]:
    """The indices as given, in row-major order."""
    return indices.integers()


def _place(call: Call, index: int, size: int) -> int | None:
    """The position of an index along the axis; None for zeros."""
    counted: int = call.do("index_from_front", index, size)
    return counted if 0 <= counted < size else call.do("place_outside", index, size)


def _index_from_front(_call: Call, index: int, size: int) -> int:
    return index + size if index < 0 else index


def _place_outside(_call: Call, _index: int, _size: int) -> int | None:
    return None


def _picked(call: Call, data: Array, rows: Array, axis: int, batches: int) -> Array:
    """The slices of each batch, one after the other, as blocks of elements."""
    shape, count = data.shape, prod(data.shape[:batches])
    blocks = data.reshape(count, prod(shape[batches:axis]), shape[axis], prod(shape[axis + 1 :]))
    chosen = rows.reshape(count, prod(rows.shape[batches:]))
    output = np.zeros((count, blocks.shape[1], chosen.shape[1], blocks.shape[3]), data.dtype)
    for batch in range(count):
        for number, place in enumerate(call.do("row_of_batch", chosen, batch)):
            if place is not None:
                output[batch, :, number] = blocks[call.do("block_of_batch", batch), :, place]
    return output


def _row_of_batch(_call: Call, chosen: Array, batch: int) -> Array:
    row: Array = chosen[batch]
    return row


def _block_of_batch(_call: Call, batch: int) -> int:
    return batch


#: The hooks of Gather-8.
GATHER: Hooks = MappingProxyType(
    {
        "Gather-8": _outputs,
        "gathered_data": _data,
        "gathered_indices": _indices,
        "check_indices_type": _check_indices_type,
        "gathered_axis": _axis,
        "axis_number": _axis_number,
        "check_gathered_axis_type": _check_axis_type,
        "check_gathered_axis_shape": _check_axis_shape,
        "check_gathered_axis": _check_axis,
        "gathered_axis_from_front": _axis_from_front,
        "gathered_batches": _batches,
        "batches_attribute": _batches_attribute,
        "check_batches_range": _check_batches_range,
        "batches_from_front": _batches_from_front,
        "check_batches_axis": _check_batches_axis,
        "check_batches_equal": _check_batches_equal,
        "gathered_shape": _shape,
        "gathered_size": _size,
        "index_numbers": _numbers,
        "place": _place,
        "index_from_front": _index_from_front,
        "place_outside": _place_outside,
        "picked": _picked,
        "row_of_batch": _row_of_batch,
        "block_of_batch": _block_of_batch,
    }
)
