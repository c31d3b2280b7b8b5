"""GatherND-8 in small steps: a right implementation whose hooks the rows replace."""

from types import MappingProxyType

import numpy as np

from opconform.suite.case import Shape
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse


def _outputs(call: Call) -> list[Tensor]:
    data: Tensor = call.do("nd_data")
    indices: Tensor = call.do("nd_indices")
    batches: int = call.do("nd_batches", data.shape, indices.shape)
    length: int = call.do("nd_length", data.shape, indices.shape, batches)
    leading: Shape = call.do("nd_leading", data.shape[:batches], indices.shape[:batches])
    sizes: Shape = call.do("nd_sizes", data.shape, batches, length)
    places: list[int | None] = call.do("nd_places", call.do("nd_numbers", indices), sizes, indices.shape[-1])
    rows = np.array(places, object).reshape((*indices.shape[:-1], length))
    array: Array = call.do("nd_picked", data.array, rows, leading, batches)
    shape: Shape = call.do("nd_shape", leading, data.shape, indices.shape, batches)
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
    call.do("check_nd_type", indices)
    if not indices.shape:
        refuse("the indices are a scalar")
    return indices


def _check_type(_call: Call, indices: Tensor) -> None:
    if not indices.type.is_integer:
        refuse("the indices are not integers")


def _batches(call: Call, data: Shape, indices: Shape) -> int:
    """The number of batch dimensions."""
    given: int = call.do("nd_attribute")
    call.do("check_nd_batches", given, min(len(data), len(indices)))
    return given


def _attribute(call: Call) -> int:
    given = call.attributes.get("batch_dims", 0)
    if type(given) is not int:
        return refuse("batch_dims is not an integer")
    return given


def _check_batches(_call: Call, given: int, limit: int) -> None:
    if not 0 <= given < limit:
        refuse("batch_dims is out of range")


def _length(_call: Call, data: Shape, indices: Shape, batches: int) -> int:
    """The number of indices that are used of each tuple."""
    if indices[-1] > len(data) - batches:
        refuse("the tuples are too long")
    return indices[-1]


def _leading(call: Call, data: Shape, indices: Shape) -> Shape:
    """The batch dimensions of the output."""
    for one, other in zip(data, indices, strict=True):
        call.do("check_nd_pair", one, other)
    return tuple(other if one == 1 else one for one, other in zip(data, indices, strict=True))


def _check_pair(_call: Call, data: int, indices: int) -> None:
    if data != indices and 1 not in (data, indices):
        refuse("the batch dimensions differ")


def _sizes(_call: Call, data: Shape, batches: int, length: int) -> Shape:
    """The sizes of the dimensions that the indices of a tuple are applied to."""
    return data[batches : batches + length]


def _numbers(_call: Call, indices: Tensor) -> list[int]:
    """The indices as given, in row-major order."""
    return indices.integers()


def _places(call: Call, numbers: list[int], sizes: Shape, length: int) -> list[int | None]:
    """The position of each index that is used along its dimension; None for no element of data."""
    used = [(number, each % length) for number, each in zip(numbers, range(len(numbers)), strict=True)]
    return [call.do("nd_place", number, sizes[place], place) for number, place in used if place < len(sizes)]


def _place(call: Call, number: int, size: int, _place: int) -> int | None:
    counted: int = call.do("nd_from_front", number, size)
    return counted if 0 <= counted < size else call.do("nd_outside", number, size)


def _from_front(_call: Call, number: int, size: int) -> int:
    return number + size if number < 0 else number


def _outside(_call: Call, _number: int, _size: int) -> int | None:
    return refuse("an index is out of range")


def _picked(call: Call, data: Array, rows: Array, leading: Shape, batches: int) -> Array:
    """The slices of each batch, one after the other."""
    positions, rest = rows.shape[batches:-1], data.shape[batches + rows.shape[-1] :]
    output = np.zeros((*leading, *positions, *rest), data.dtype)
    for batch in np.ndindex(*leading):
        block: Array = call.do("nd_block", data, batch)
        chosen: Array = call.do("nd_row", rows, batch)
        for position in np.ndindex(*positions) if 0 not in positions else ():
            output[(*batch, *position)] = call.do("nd_slice", block, tuple(chosen[position]))
    return output


def _at(array: Array, batch: Shape) -> Array:
    """The part of an array in a batch, whose dimensions of 1 are broadcast."""
    part: Array = array[tuple(min(at, size - 1) for at, size in zip(batch, array.shape, strict=False))]
    return part


def _block(_call: Call, data: Array, batch: Shape) -> Array:
    return _at(data, batch)


def _row(_call: Call, rows: Array, batch: Shape) -> Array:
    return _at(rows, batch)


def _slice(_call: Call, block: Array, place: tuple[int | None, ...]) -> Array:
    part: Array = block[place]
    return part


def _shape(_call: Call, leading: Shape, data: Shape, indices: Shape, batches: int) -> Shape:
    return (*leading, *indices[batches:-1], *data[batches + indices[-1] :])


#: The hooks of GatherND-8.
GATHER_ND: Hooks = MappingProxyType(
    {
        "GatherND-8": _outputs,
        "nd_data": _data,
        "nd_indices": _indices,
        "check_nd_type": _check_type,
        "nd_batches": _batches,
        "nd_attribute": _attribute,
        "check_nd_batches": _check_batches,
        "nd_length": _length,
        "nd_leading": _leading,
        "check_nd_pair": _check_pair,
        "nd_sizes": _sizes,
        "nd_numbers": _numbers,
        "nd_places": _places,
        "nd_place": _place,
        "nd_from_front": _from_front,
        "nd_outside": _outside,
        "nd_picked": _picked,
        "nd_block": _block,
        "nd_row": _row,
        "nd_slice": _slice,
        "nd_shape": _shape,
    }
)
