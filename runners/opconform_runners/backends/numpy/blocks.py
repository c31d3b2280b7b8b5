"""Operations that move blocks of elements, as the `numpy` backend executes them: by one slice per place in a block."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.numpy.gather import check_axis, zero_of


def _places(block: Sequence[int]) -> Iterator[tuple[int, tuple[slice, ...]]]:
    """Each place in a block by its number, and the slices of the elements there."""
    for number, at in enumerate(np.ndindex(*block)):
        yield number, tuple(slice(first, None, step) for first, step in zip(at, block, strict=True))


def _channels(number: int, block_size: int, rank: int, channels: int, mode: str) -> slice:
    """The channels of one place in the blocks."""
    if mode == "blocks_first":
        return slice(number * channels, (number + 1) * channels)
    return slice(number, None, block_size**rank)


def space_to_depth(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """SpaceToDepth-1."""
    [tensor] = inputs
    data, size = tensor.array, attributes.get("block_size", 1)
    refuse_if(size < 1, "block_size.positive")
    batches, channels, *spatial = data.shape
    refuse_if(any(length % size for length in spatial), "block_size.divides")
    rank = len(spatial)
    shape = (batches, channels * size**rank, *(length // size for length in spatial))
    output = np.empty(shape, data.dtype)
    for number, place in _places([1, 1, *[size if output.size else 0] * rank]):
        output[:, _channels(number, size, rank, channels, attributes["mode"])] = data[place]
    return [Tensor(element_type=tensor.element_type, array=output)]


def depth_to_space(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """DepthToSpace-1."""
    [tensor] = inputs
    data, size = tensor.array, attributes.get("block_size", 1)
    refuse_if(size < 1, "block_size.positive")
    batches, depth, *spatial = data.shape
    rank = len(spatial)
    channels, rest = divmod(depth, size**rank)
    refuse_if(rest, "block_size.divides")
    output = np.empty((batches, channels, *(length * size for length in spatial)), data.dtype)
    for number, place in _places([1, 1, *[size if output.size else 0] * rank]):
        output[place] = data[:, _channels(number, size, rank, channels, attributes["mode"])]
    return [Tensor(element_type=tensor.element_type, array=output)]


def shuffle_channels(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ShuffleChannels-1, by the sources of the channels."""
    [tensor] = inputs
    axis, groups = attributes.get("axis", 1), attributes.get("group", 1)
    check_axis(axis, len(tensor.shape))
    channels = tensor.shape[axis]
    refuse_if(groups < 1 or groups > max(channels, 1), "group.range")
    refuse_if(channels % groups, "group.divides")
    sources = [
        first + number for first in range(channels // groups) for number in range(0, channels, channels // groups)
    ]
    array = tensor.array.take(np.array(sources, np.int64), axis)
    return [Tensor(element_type=tensor.element_type, array=np.array(array, order="C"))]


def _check_blocks(rank: int, blocks: Sequence[int], begin: Sequence[int], end: Sequence[int], word: str) -> None:
    """Raise `Rejected` if the settings of SpaceToBatch-2 or BatchToSpace-2 do not fit a rank."""
    names = ("block_shape", f"{word}_begin", f"{word}_end")
    for name, setting in zip(names, (blocks, begin, end), strict=True):
        refuse_if(len(setting) != rank, f"{name}.count")
    refuse_if(any(size < 1 for size in blocks), "block_shape.positive")
    refuse_if(blocks[0] != 1, "block_shape.batch")
    refuse_if(any(end_ < 0 for end_ in (*begin, *end)), f"{word}.negative")
    refuse_if(begin[0] or end[0], f"{word}.batch")


def space_to_batch(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """SpaceToBatch-2."""
    tensor, *settings = inputs
    blocks, begin, end = (setting.integers() for setting in settings)
    _check_blocks(len(tensor.shape), blocks, begin, end, "pads")
    sizes = [sum(x) for x in zip(begin, tensor.shape, end, strict=True)]
    refuse_if(any(size % block for size, block in zip(sizes, blocks, strict=True)), "block_shape.divides")
    refuse_if(any((*begin, *end)) and tensor.element_type == "f8e8m0", "pads.no-zero")
    data = np.full(sizes, zero_of(tensor), tensor.array.dtype)
    data[tuple(slice(first, first + size) for first, size in zip(begin, tensor.shape, strict=True))] = tensor.array
    batches = sizes[0]
    shape = (batches * prod(blocks), *(size // block for size, block in zip(sizes[1:], blocks[1:], strict=True)))
    output = np.empty(shape, data.dtype)
    for number, place in _places(blocks if output.size else [0]):
        output[number * batches : (number + 1) * batches] = data[place]
    return [Tensor(element_type=tensor.element_type, array=output)]


def batch_to_space(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """BatchToSpace-2."""
    tensor, *settings = inputs
    blocks, begin, end = (setting.integers() for setting in settings)
    _check_blocks(len(tensor.shape), blocks, begin, end, "crops")
    batches, rest = divmod(tensor.shape[0], prod(blocks))
    refuse_if(rest, "block_shape.divides")
    sizes = [size * block for size, block in zip(tensor.shape[1:], blocks[1:], strict=True)]
    refuse_if(any(sum(x) > size for *x, size in zip(begin[1:], end[1:], sizes, strict=True)), "crops.limit")
    output = np.empty((batches, *sizes), tensor.array.dtype)
    for number, place in _places(blocks if output.size else [0]):
        output[place] = tensor.array[number * batches : (number + 1) * batches]
    crops = tuple(slice(first, size - last) for first, last, size in zip(begin, end, output.shape, strict=True))
    return [Tensor(element_type=tensor.element_type, array=np.array(output[crops], order="C"))]
