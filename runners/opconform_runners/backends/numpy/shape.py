"""Operations that change shapes alone, as the `numpy` backend executes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import padded


def shape_of_1(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """ShapeOf-1 by `numpy.shape`."""
    [data] = inputs
    return [Tensor(element_type="i64", array=np.array(np.shape(data.array), np.int64))]


def shape_of(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ShapeOf-3 by `numpy.shape`."""
    [dimensions] = shape_of_1(inputs, {})
    if attributes.get("output_type", "i64") == "i64":
        return [dimensions]
    refuse_if(np.any(dimensions.array >= 1 << 31), "output_type.range")
    return [Tensor(element_type="i32", array=dimensions.array.astype(np.int32))]


def unsqueeze(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """Unsqueeze-1 by `numpy.reshape`."""
    data, axes = inputs
    indices = axes.integers()
    rank = len(data.shape) + len(indices)
    refuse_if(indices and (min(indices) < -rank or max(indices) >= rank), "axes.range")
    new, sizes = {index % rank for index in indices}, iter(data.shape)
    refuse_if(len(new) != len(indices), "axes.unique")
    shape = [1 if place in new else next(sizes) for place in range(rank)]
    return [Tensor(element_type=data.element_type, array=data.array.reshape(shape))]


def squeeze(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """Squeeze-1 and Squeeze-15 by `numpy.reshape`."""
    data, axes = padded(inputs, 2)
    rank, indices = len(data.shape), axes.integers() if axes is not None else []
    refuse_if(indices and (min(indices) < -rank or max(indices) >= rank), "axes.range")
    named = {index % rank for index in indices} or range(rank)
    kept = [size for place, size in enumerate(data.shape) if size != 1 or place not in named]
    return [Tensor(element_type=data.element_type, array=data.array.reshape(kept))]
