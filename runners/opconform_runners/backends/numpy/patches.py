"""Patches of images, and images of blocks, as the `numpy` backend executes them: one place in them after the other."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor, places_in
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.numpy.gather import zero_of

#: The attributes of Col2Im-15, with the default of both elements.
_DEFAULTS = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}


def extract_image_patches(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ExtractImagePatches-3."""
    [tensor] = inputs
    for name in ("sizes", "strides", "rates"):
        refuse_if(len(attributes[name]) != 2, f"{name}.count")  # noqa: PLR2004 - rows and columns
        refuse_if(any(number < 0 for number in attributes[name]), f"{name}.negative")
        refuse_if(0 in attributes[name], f"{name}.zero")
    mode, pads, counts = attributes["auto_pad"], [(0, 0), (0, 0)], []
    for length, size, stride, rate in zip(
        tensor.shape[2:], *(attributes[name] for name in ("sizes", "strides", "rates")), strict=True
    ):
        span = rate * (size - 1)
        starts = range(0, length - span if mode == "valid" else length, stride)
        end = max(starts[-1] + span + 1 - length, 0) if starts else 0
        pads.append((end // 2 if mode == "same_upper" else end - end // 2, end))  # too many at the end do no harm
        counts.append(len(starts))
    refuse_if(any(map(sum, pads)) and tensor.element_type == "f8e8m0", "auto_pad.no-zero")
    batches, depth, *_ = tensor.shape
    output = np.empty((batches, prod(attributes["sizes"]) * depth, *counts), tensor.array.dtype)
    if not output.size:  # with patches that can be too large for memory
        return [Tensor(element_type=tensor.element_type, array=output)]
    data = np.pad(tensor.array, pads, constant_values=zero_of(tensor).item())
    for number, place in enumerate(np.ndindex(*attributes["sizes"])):
        window = [
            slice(at * rate, at * rate + (count - 1) * stride + 1, stride)
            for at, rate, count, stride in zip(place, attributes["rates"], counts, attributes["strides"], strict=True)
        ]
        output[:, number * depth : (number + 1) * depth] = data[:, :, window[0], window[1]]
    return [Tensor(element_type=tensor.element_type, array=output)]


def col2im(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Col2Im-15, by the places of the elements that are not in the padding."""
    tensor, *settings = inputs
    output_size, kernel = (setting.integers() for setting in settings)
    given = {name: attributes.get(name, (default,) * 2) for name, default in _DEFAULTS.items()}
    _check_blocks(output_size, kernel, given)
    spans = [rate * (size - 1) for rate, size in zip(given["dilations"], kernel, strict=True)]
    counts = [
        len(range(0, length + sum(pads) - span, stride))
        for length, span, stride, *pads in zip(
            output_size, spans, *(given[name] for name in ("strides", "pads_begin", "pads_end")), strict=True
        )
    ]
    *batches, depth, blocks = tensor.shape
    refuse_if(depth % prod(kernel), "data.channels")
    refuse_if(0 in counts, "kernel_size.room")
    refuse_if(blocks != prod(counts), "data.blocks")
    data = tensor.array.reshape(*batches, depth // prod(kernel), prod(kernel), *counts)
    output = np.full((*data.shape[:-3], *output_size), zero_of(tensor), np.result_type(data, zero_of(tensor)))
    is_filled = np.zeros(output_size, bool)
    for number, place in enumerate(places_in(data, kernel)):
        sources, targets = [], []
        for at, count, length, *numbers in zip(place, counts, output_size, *given.values(), strict=True):
            stride, rate, pad, _ = numbers
            to = np.arange(count) * stride + at * rate - pad
            inside = (to >= 0) & (to < length)
            sources.append(np.flatnonzero(inside))
            targets.append(to[inside])
        window: Any = (..., *np.ix_(*targets))
        taken: Any = (..., *np.ix_(*sources))
        new = data[..., number, :, :][taken]
        is_second = is_filled[window]
        refuse_if(np.any(is_second) and tensor.type.kind in ("string", "lookup"), "blocks.types")
        output[window] = np.where(is_second, _sum(tensor, output[window], new), new) if np.any(is_second) else new
        is_filled[window] = True
    refuse_if(not np.all(is_filled) and tensor.element_type == "f8e8m0", "blocks.no-zero")
    return [Tensor(element_type=tensor.element_type, array=output)]


def _check_blocks(output_size: Sequence[int], kernel: Sequence[int], given: Mapping[str, Sequence[int]]) -> None:
    """Raise `Rejected` if settings or attributes of Col2Im-15 are out of range."""
    for name, pair in given.items():
        refuse_if(len(pair) != 2, f"{name}.count")  # noqa: PLR2004 - rows and columns
        refuse_if(min(pair) < 0, "strides.positive" if name == "strides" else f"{name}.negative")
    refuse_if(min(output_size) <= 0, "output_size.positive")
    refuse_if(min(kernel) < 0, "kernel_size.negative")
    refuse_if(0 in kernel, "kernel_size.zero")
    refuse_if(0 in given["strides"], "strides.positive")
    refuse_if(0 in given["dilations"], "dilations.zero")


def _sum(tensor: Tensor, first: Array, second: Array) -> Array:
    """The sums of two arrays with the elements of a tensor, as it stores them."""
    kind = tensor.type.arithmetic
    with np.errstate(invalid="ignore"):  # signalling NaNs
        sums = (first.view(kind) + second.view(kind)).astype(kind)
    stored: Array = sums.view(tensor.type.storage)
    return stored
