"""Convert-1 and ConvertLike-1, as the `numpy` backend executes them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.rounding import NF4
from opconform.tensors.tensor import Array, Tensor

_WIDE = ("f32", "f64")


def convert(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Convert-1 by `numpy.ndarray.astype`, from integers of 64 bits or floating-point numbers."""
    [data], target = inputs, ELEMENT_TYPES[attributes["destination_type"]]
    if data.element_type == target.name:
        return [data]
    numbers = number_array(data)
    if numbers.dtype.kind == "f":
        numbers = np.where(np.isnan(numbers), math.nan, numbers)  # without its sign and payload
    with np.errstate(all="ignore"):
        array = converted(numbers, target)
    return [Tensor(element_type=target.name, array=np.asarray(array).reshape(data.shape))]


def convert_like(inputs: Sequence[Tensor], _: Mapping[str, Any]) -> list[Tensor]:
    """Convert-1 to the element type of the second input."""
    return convert(inputs[:1], {"destination_type": inputs[1].element_type})


def number_array(data: Tensor) -> Array:
    """The elements as integers or as f64, which has every number of the other types."""
    if data.type.kind == "lookup":
        return np.array(NF4)[data.array]
    if data.type.kind == "float":
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return data.array.view(data.type.arithmetic).astype(np.float64)
    return np.array(data.integers(), np.uint64 if data.element_type == "u64" else np.int64).reshape(data.shape)


def converted(array: Array, target: ElementType) -> Array:
    """Numbers in another element type: integers keep their low bits, and others are rounded or lose their fraction."""
    if target.kind == "boolean":
        return array.astype(np.bool_)
    if target.kind == "lookup":
        codes: Array = np.abs(np.subtract.outer(array, NF4)).argmin(-1)
        return codes.astype(target.storage)
    if target.kind == "float":
        exact = array if target.name in _WIDE else _odd(array)
        return _masked(exact.astype(target.arithmetic).view(target.storage), target)
    if array.dtype.kind == "f":
        whole = np.nan_to_num(np.trunc(array), posinf=math.inf, neginf=-math.inf).ravel().tolist()
        clamped = [min(max(number, target.minimum), target.maximum) for number in whole]
        array = np.array([int(number) for number in clamped], object)
    wide = np.uint64 if target.kind == "unsigned" else np.int64
    return _masked(array.astype(wide).astype(target.storage), target)


def _masked(array: Array, target: ElementType) -> Array:
    """The used bits of elements that are narrower than a byte; all bits of other elements."""
    return array if array.dtype != np.uint8 else array & np.uint8((1 << target.bits) - 1)


def _odd(array: Array) -> Array:
    """The numbers in f32, rounded to the odd one of two, so that rounding them again gives the nearest number."""
    near = array.astype(np.float32)
    exact, again = array.astype(object), near.astype(object)
    is_other = np.array(exact != again, np.bool_) & np.isfinite(near)
    with np.errstate(invalid="ignore"):  # NaN
        towards = np.array(exact > again, np.bool_)
    is_even = near.view(np.uint32) % 2 == 0
    other = np.nextafter(near, np.where(towards, np.float32(math.inf), np.float32(-math.inf)))
    return np.where(is_other & is_even, other, near)
