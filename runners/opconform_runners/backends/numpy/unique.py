"""Unique-10 and NonZero-3, as the `numpy` backend executes them."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import padded
from opconform_runners.backends.numpy.convert import number_array
from opconform_runners.backends.numpy.gather import axis_of


def unique(inputs: Sequence[Tensor | None], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Unique-10 by `numpy.lexsort`, which keeps the order of equal slices, and a comparison of neighbours."""
    data, axis = padded(inputs, 2)
    array = data.array.ravel() if axis is None else data.array
    along = 0 if axis is None else axis_of(axis, data)
    numbers = data.array if data.element_type == "string" else number_array(data)
    slices = np.moveaxis(numbers.reshape(array.shape), along, 0)
    size, count = prod(slices.shape[1:]), len(slices)
    slices = slices.reshape(count, size)

    order = np.lexsort(slices.T[::-1]) if size else np.arange(count)
    is_new = np.arange(count) == 0
    is_new[1:] = (slices[order][1:] != slices[order][:-1]).any(axis=1)
    firsts, groups = order[is_new], np.cumsum(is_new) - 1
    ranks = np.arange(len(firsts))
    if not attributes.get("sorted", True):
        by_place = np.argsort(firsts)
        firsts, ranks = firsts[by_place], np.argsort(by_place)
    reverse = np.zeros(count, np.int64)
    reverse[order] = ranks[groups]

    outputs = [Tensor(element_type=data.element_type, array=np.asarray(np.take(array, firsts, along), order="C"))]
    for name, places in (("index", firsts), ("index", reverse), ("count", np.bincount(reverse, minlength=len(firsts)))):
        element_type = attributes.get(f"{name}_element_type", "i64")
        outputs.append(
            Tensor(element_type=element_type, array=places.astype({"i64": np.int64, "i32": np.int32}[element_type]))
        )
    return outputs


def non_zero(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """NonZero-3 by `numpy.argwhere`, which has a row for each element."""
    [data] = inputs
    refuse_if(data.element_type == "string", "data.strings")
    element_type = attributes.get("output_type", "i64")
    indices = np.argwhere(number_array(data)).T
    return [
        Tensor(element_type=element_type, array=indices.astype({"i64": np.int64, "i32": np.int32}[element_type], "C"))
    ]
