"""Gathers, and what they share with other operations, as the `numpy` backend executes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.adapters.gather import batches_of, check_tuples

#: The code of 0 in the table of nf4.
_NF4_ZERO = 0b0111


def axis_of(axis: Tensor, data: Tensor) -> int:
    """The axis as it is given."""
    [along] = axis.integers()
    check_axis(along, len(data.shape))
    return along


def check_axis(axis: int, rank: int) -> None:
    """Raise `Rejected` if a tensor of a rank has no such axis."""
    refuse_if(axis >= rank or axis < -rank, "axis.range")


def zero_of(data: Tensor) -> Array:
    """The zero of an element type as a scalar, which for strings is the empty string."""
    return np.array(_NF4_ZERO, data.array.dtype) if data.element_type == "nf4" else np.zeros((), data.array.dtype)


def gather(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Gather-8 by `np.take` from data with one more slice of zeros for the indices that are out of range."""
    data, indices, axis = inputs
    along = axis_of(axis, data) % data.array.ndim
    batches = batches_of(attributes.get("batch_dims", 0), (data, indices), along)
    size, shape = data.shape[along], (*data.shape[:along], *indices.shape[batches:], *data.shape[along + 1 :])
    if 0 in shape:  # one slice of zeros can be too large for the memory
        return [Tensor(element_type=data.element_type, array=np.empty(shape, data.array.dtype))]
    zeros = np.full((*data.shape[:along], 1, *data.shape[along + 1 :]), zero_of(data))
    extended = np.concatenate([data.array, zeros], along)
    places = [integer if -size <= integer < 0 or 0 <= integer < size else size for integer in indices.integers()]
    rows = np.array([place - (place < 0) for place in places], np.int64).reshape(indices.shape)
    return [Tensor(element_type=data.element_type, array=_taken(extended, rows, along, batches))]


def gather_7(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Gather-7 by `np.take`."""
    data, indices, axis = inputs
    along = axis_of(axis, data) % data.array.ndim
    batches = batches_of(attributes.get("batch_dims", 0), (data, indices), along)
    return [Tensor(element_type=data.element_type, array=_taken(data.array, _rows(inputs), along, batches))]


def gather_1(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """Gather-1 by `np.take`."""
    data, _, axis = inputs
    along = axis_of(axis, data)
    return [Tensor(element_type=data.element_type, array=np.take(data.array, _rows(inputs), along))]


def _rows(inputs: Sequence[Tensor]) -> Array:
    """The indices of Gather-7 and Gather-1, all of which are in the dimension."""
    data, indices, axis = inputs
    numbers, size = indices.integers(), data.shape[axis_of(axis, data)]
    refuse_if(any(number not in range(size) for number in numbers), "indices.range")
    return np.array(numbers, np.int64).reshape(indices.shape)


def _taken(data: Array, rows: Array, axis: int, batches: int) -> Array:
    """`np.take` in each batch."""
    output = np.empty((*data.shape[:axis], *rows.shape[batches:], *data.shape[axis + 1 :]), data.dtype)
    for number in np.ndindex(*data.shape[:batches]):
        output[number] = np.take(data[number], rows[number], axis - batches)
    return output


def gather_nd(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """GatherND-8, whose indices also count from the end."""
    return [_gathered_nd(inputs, attributes, lambda size: range(-size, size))]


def gather_nd_5(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """GatherND-5, whose output has one dimension for all batches."""
    output, batches = _gathered_nd(inputs, attributes, range), attributes.get("batch_dims", 0)
    joined = (int(np.prod(output.shape[:batches])), *output.shape[batches:])
    return [Tensor(element_type=output.element_type, array=output.array.reshape(joined))] if batches else [output]


def _gathered_nd(
    inputs: Sequence[Tensor], attributes: Mapping[str, Any], allowed: Callable[[int], Sequence[int]]
) -> Tensor:
    """The elements or slices at tuples, by indexing with arrays; `allowed` are the indices into a dimension."""
    data, indices = inputs
    batches, length = attributes.get("batch_dims", 0), indices.shape[-1]
    check_tuples(data.shape, indices.shape, batches)
    numbers = indices.integers()
    for place, size in enumerate(data.shape[batches : batches + length]):
        refuse_if(any(number not in allowed(size) for number in numbers[place::length]), "indices.range")
    tuples = np.array(numbers, np.int64).reshape(indices.shape)
    return Tensor(element_type=data.element_type, array=_gathered(data.array, tuples, batches))


def _gathered(data: Array, tuples: Array, batches: int) -> Array:
    """One index with an array per batch dimension and per place in a tuple."""
    leading = np.broadcast_shapes(data.shape[:batches], tuples.shape[:batches])
    repeated = np.broadcast_to(data, leading + data.shape[batches:])
    positions = leading + tuples.shape[batches:-1]
    grids = np.indices(leading + (1,) * (len(positions) - batches), sparse=True)[:batches]
    array = repeated[(*grids, *np.moveaxis(tuples, -1, 0))]
    shape = positions + data.shape[batches + tuples.shape[-1] :]
    return np.array(np.broadcast_to(array, shape), data.dtype, order="C")
