"""Gathers, and what they share with other operations, as the `numpy` backend executes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor, places_in
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import batches_of, check_tuples
from opconform_runners.backends.numpy.convert import number_array

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
    taken = np.asarray(np.take(data.array, _rows(inputs), along))  # numpy's `take` of one element is no array
    return [Tensor(element_type=data.element_type, array=taken)]


def _rows(inputs: Sequence[Tensor]) -> Array:
    """The indices of Gather-7 and Gather-1, all of which are in the dimension."""
    data, indices, axis = inputs
    numbers, size = indices.integers(), data.shape[axis_of(axis, data)]
    refuse_if(any(number not in range(size) for number in numbers), "indices.range")
    return np.array(numbers, np.int64).reshape(indices.shape)


def _taken(data: Array, rows: Array, axis: int, batches: int) -> Array:
    """`np.take` in each batch."""
    output = np.empty((*data.shape[:axis], *rows.shape[batches:], *data.shape[axis + 1 :]), data.dtype)
    for number in places_in(output, data.shape[:batches]):
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


def gather_elements(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """GatherElements-6 by `take` from one line of data after the other."""
    data, indices = inputs
    rank, along = data.array.ndim, attributes["axis"]
    check_axis(along, rank)
    refuse_if(indices.array.ndim != rank, "indices.rank")
    along %= rank
    before, [size, *after] = data.shape[:along], data.shape[along:]
    refuse_if(indices.shape != (*before, indices.shape[along], *after), "indices.shape")
    refuse_if(any(number < 0 for number in indices.integers()), "indices.negative")
    refuse_if(any(number >= size for number in indices.integers()), "indices.range")
    output = np.empty(indices.shape, data.array.dtype)
    for line in places_in(output, (*before, *after)):
        at: tuple[int | slice, ...] = (*line[:along], slice(None), *line[along:])
        output[at] = data.array[at].take(indices.array[at])
    return [Tensor(element_type=data.element_type, array=output)]


def gather_tree(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """GatherTree-1 by one time step of all beams after the other, from the last one."""
    steps, others = inputs[0], dict(zip(("parent_ids", "max_seq_len", "end_token"), inputs[1:], strict=True))
    for name, tensor in others.items():
        refuse_if(tensor.element_type != steps.element_type, f"{name}.same-type")
    parents, lengths, end = (number_array(tensor) for tensor in others.values())
    for name, array in (("parent_ids", parents), ("max_seq_len", lengths)):
        refuse_if(not np.all(np.isfinite(array)) or np.any(np.trunc(array) != array), f"{name}.whole")
    time, batches, width = steps.shape
    refuse_if(parents.shape != steps.shape, "parent_ids.shape")
    refuse_if(lengths.shape != (batches,), "max_seq_len.count")
    refuse_if(np.any(lengths < 1), "max_seq_len.positive")
    output = np.empty(steps.shape, steps.array.dtype)
    output[...] = others["end_token"].array
    for batch, length in enumerate(lengths):
        beams = np.arange(width)
        for step in reversed(range(min(int(length), time))):
            output[step, batch] = steps.array[step, batch, beams]
            if step:
                above = parents[step, batch, beams]
                refuse_if(np.any(above < 0) or np.any(above >= width), "parent_ids.range")
                beams = above.astype(np.int64)
    tokens = number_array(Tensor(element_type=steps.element_type, array=output))
    is_past = np.logical_or.accumulate(tokens == end)
    output[1:][is_past[:-1]] = others["end_token"].array
    return [Tensor(element_type=steps.element_type, array=output)]
