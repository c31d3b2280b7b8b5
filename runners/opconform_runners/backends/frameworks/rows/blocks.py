"""How operations that move blocks of elements become calls of a framework."""

from collections.abc import Sequence
from typing import Any

from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.framework import Adapter, rank_of

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
