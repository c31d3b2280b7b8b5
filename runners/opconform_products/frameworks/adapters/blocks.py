"""How operations that move blocks of elements become calls of a framework."""

from collections.abc import Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of

#: The rank of a batch of images with channels.
_IMAGES = 4


def images(wanted: str) -> Adapter:
    """Data and the block size, for a framework that has one of the modes, for images."""

    def arguments(data: Any, *, block_size: int, mode: str) -> Sequence[Any]:
        if rank_of(data) != _IMAGES or mode != wanted:
            raise Unsupported(f"the framework moves blocks of images, in the mode {wanted}")
        return data, block_size

    return Adapter(arguments)


def _channels(data: Any, *, axis: int, group: int) -> Sequence[Any]:
    rank = rank_of(data)
    refuse_if(not -rank <= axis < rank, "axis.range")
    if axis % rank != 1 or rank <= 2:  # noqa: PLR2004
        raise Unsupported("the framework shuffles the second dimension, and has another one after it")
    return data, group


#: Data and the number of groups, for a framework whose channels are the second dimension.
CHANNELS = Adapter(_channels, ("axis.range", "axis.default", "axis.negative", "group.default"))


def _blocks(word: str) -> Adapter:
    """Data, the block sizes without the first, which is for the batches, and a pair of numbers per block size."""
    names = ("block_shape", f"{word}_begin", f"{word}_end")

    def arguments(data: Any, *settings: list[int]) -> Sequence[Any]:
        for name, setting in zip(names, settings, strict=True):
            refuse_if(len(setting) != rank_of(data), f"{name}.count")
        blocks, begin, end = settings
        refuse_if(blocks[0] < 1, "block_shape.positive")
        refuse_if(blocks[0] != 1, "block_shape.batch")
        refuse_if(min(begin[0], end[0]) < 0, f"{word}.negative")
        refuse_if(begin[0] or end[0], f"{word}.batch")
        return data, blocks[1:], [list(pair) for pair in zip(begin[1:], end[1:], strict=True)]

    counts = (f"{name}.count" for name in names)
    return Adapter(arguments, (*counts, "block_shape.batch", f"{word}.batch", "types.independent"))


#: SpaceToBatch-2 and BatchToSpace-2, for a framework without the settings of the batches.
PADDED, CROPPED = _blocks("pads"), _blocks("crops")
