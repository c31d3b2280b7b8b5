"""How patches of images, and images of blocks, become calls of a framework."""

from collections.abc import Sequence
from math import prod
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if

_PAIRS = ("sizes", "strides", "rates")


def _windows(data: Any, *, auto_pad: str, **pairs: tuple[int, ...]) -> Sequence[Any]:
    for name in _PAIRS:
        refuse_if(len(pairs[name]) != 2, f"{name}.count")  # noqa: PLR2004 - rows and columns
    return data, auto_pad, *(list(pairs[name]) for name in _PAIRS)


#: Data, the mode, the sizes, the strides and the rates.
WINDOWS = Adapter(_windows, tuple(f"{name}.count" for name in _PAIRS))


def _blocks(data: Any, output_size: list[int], kernel_size: list[int], **pairs: tuple[int, ...]) -> Sequence[Any]:
    for name, pair in pairs.items():
        refuse_if(len(pair) != 2, f"{name}.count")  # noqa: PLR2004 - rows and columns
    if pairs["pads_begin"] != pairs["pads_end"]:
        raise Unsupported("the framework pads both ends alike")
    return data, output_size, kernel_size, *(list(pairs[name]) for name in ("dilations", "pads_begin", "strides"))


#: Data, the size of the image and of the kernel, the dilations, the pads of both ends, and the strides.
BLOCKS = Adapter(
    _blocks,
    (
        *(f"{name}.count" for name in ("strides", "dilations", "pads_begin", "pads_end")),
        *("strides.default", "dilations.default", "pads.default", "types.independent"),
    ),
)


def same_pads(shape: Sequence[int], sizes: list[int], strides: list[int], rates: list[int]) -> list[int]:
    """How many zeros are at each end in the modes same_upper and same_lower, for a framework that pads both alike."""
    pads = []
    for length, size, stride, rate in zip(shape[2:], sizes, strides, rates, strict=True):
        count = -(-length // stride) if stride > 0 else 1
        added = max((count - 1) * stride + rate * (size - 1) + 1 - length, 0)
        if added % 2:
            raise Unsupported("the framework pads both ends alike")
        pads.append(added // 2)
    return pads


def channels_of_patches(patches: Any, shape: Sequence[int], sizes: list[int], counts: Sequence[int]) -> Any:
    """Patches whose channels vary slowest along the channels of data, reordered so that these vary fastest."""
    batches, depth, volume = shape[0], shape[1], prod(sizes)
    parts = patches.reshape((batches, depth, volume, *counts)).swapaxes(1, 2)
    return parts.reshape((batches, volume * depth, *counts))
