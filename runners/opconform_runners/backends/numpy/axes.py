"""Operations along single axes, as the `numpy` backend executes them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import padded
from opconform_runners.backends.numpy.convert import number_array


def tile(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """Tile-1 by `numpy.tile`."""
    data, repeats = inputs
    refuse_if(any(integer < 0 for integer in repeats.integers()), "repeats.negative")
    counts = repeats.integers()
    if 0 in counts:  # others can be too large for the array that `numpy.tile` makes first
        rank = max(len(counts), data.array.ndim)
        sizes = np.array(data.array, ndmin=rank).shape
        shape = [size * count for size, count in zip(sizes, [1] * (rank - len(counts)) + counts, strict=True)]
        return [Tensor(element_type=data.element_type, array=np.empty(shape, data.array.dtype))]
    array = np.tile(data.array, counts)
    return [Tensor(element_type=data.element_type, array=np.array(array, data.array.dtype, order="C"))]


def broadcast(inputs: Sequence[Tensor | None], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Broadcast-1 and Broadcast-3 by new dimensions and `numpy.broadcast_to`."""
    data, target_shape, mapping = padded(inputs, 3)
    target, mode, array = target_shape.integers(), attributes.get("mode", "numpy"), data.array
    refuse_if(target and min(target) < 0, "target_shape.negative")
    if mode == "explicit":
        refuse_if(mapping is None, "axes_mapping.explicit")
        sizes = _mapped(array.shape, mapping.integers(), len(target))
    else:
        refuse_if(mapping is not None, "axes_mapping.other-modes")
        refuse_if(mode == "numpy" and array.ndim > len(target), "numpy.rank")
        sizes = [1] * (len(target) - array.ndim) + [*array.shape]
    shape = [*sizes]
    for axis, size in enumerate(reversed(target), 1):
        if shape[-axis] == 1:
            shape[-axis] = size
        refuse_if(shape[-axis] != size and (mode, size) != ("bidirectional", 1), f"{mode}.dimensions")
    array = np.broadcast_to(array.reshape(sizes), shape)
    return [Tensor(element_type=data.element_type, array=np.array(array, order="C"))]


def _mapped(shape: Sequence[int], axes: list[int], rank: int) -> list[int]:
    """The shape with new dimensions beside those that some axes of a rank name."""
    refuse_if(len(axes) != len(shape), "axes_mapping.count")
    for axis, after in pairwise([*axes, rank]):
        refuse_if(axis < 0, "axes_mapping.negative")
        refuse_if(axis >= rank, "axes_mapping.range")
        refuse_if(axis > after, "axes_mapping.sorted")
        refuse_if(axis == after, "axes_mapping.repeated")
    sizes = dict(zip(axes, shape, strict=True))
    return [sizes.get(axis, 1) for axis in range(rank)]


def reverse(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Reverse-1 by slices."""
    data, axis = inputs
    rank, is_boolean = data.array.ndim, axis.element_type == "boolean"
    if attributes["mode"] == "mask":
        refuse_if(not is_boolean, "axis.mask-type")
        refuse_if(axis.array.size != rank, "axis.mask-length")
        axes = np.flatnonzero(axis.array).tolist()
    else:
        refuse_if(is_boolean, "axis.index-type")
        axes = axis.integers()
        refuse_if(len(axes) > rank, "axis.count")
        refuse_if(any(not -rank <= axis < rank for axis in axes), "axis.range")
        refuse_if(any(axis < 0 for axis in axes), "axis.negative")
    index = tuple(slice(None, None, -1 if index in axes else 1) for index in range(rank))
    return [Tensor(element_type=data.element_type, array=np.array(data.array[index], order="C"))]


def reverse_sequence(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ReverseSequence-1 by the source of each element along the sequences."""
    data, lengths = inputs
    rank, numbers = data.array.ndim, number_array(lengths)
    axes = [attributes.get("batch_axis", 0), attributes.get("seq_axis", 1)]
    for name, axis in zip(("batch_axis", "seq_axis"), axes, strict=True):
        refuse_if(not -rank <= axis < rank, f"{name}.range")
    batch, sequence = (axis % rank for axis in axes)
    refuse_if(batch == sequence, "seq_axis.other")
    count, size = data.shape[batch], data.shape[sequence]
    refuse_if(numbers.shape != (count,), "seq_lengths.count")
    refuse_if(np.any(np.trunc(numbers) != numbers) or not np.all(np.isfinite(numbers)), "seq_lengths.whole")
    refuse_if(np.any(numbers < 1) or np.any(numbers > size), "seq_lengths.range")
    if not data.array.size:  # a dimension beside one of 0 can be too large
        return [data]
    places, last = np.arange(size), numbers.astype(np.int64)[:, np.newaxis] - 1
    sources = np.where(places <= last, last - places, places)
    ordered = np.moveaxis(data.array, (batch, sequence), (0, 1))
    array = np.moveaxis(ordered[np.arange(count)[:, np.newaxis], sources], (0, 1), (batch, sequence))
    return [Tensor(element_type=data.element_type, array=np.array(array, order="C"))]


def roll(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """Roll-7 by the sources of the elements along each axis."""
    data, shift, axes = inputs
    rank, shifts = data.array.ndim, shift.integers()
    is_example = shift.shape == (1,)  # one shift for a scalar axis, or for several axes
    refuse_if(shift.shape and shift.shape != axes.shape and not is_example, "shift.length")
    refuse_if(any(not -rank <= integer < rank for integer in axes.integers()), "axes.range")
    array = data.array
    for place, axis in enumerate(axes.integers() if array.size else ()):  # dimensions beside one of 0 can be too large
        size = array.shape[axis]
        sources = [(index - shifts[place % len(shifts)]) % size for index in range(size)]
        array = array.take(np.array(sources, np.int64), axis)
    return [Tensor(element_type=data.element_type, array=np.array(array, order="C"))]
