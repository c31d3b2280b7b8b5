"""The right variant of StridedSlice-1, independent of the semantics and of the backends."""

from collections.abc import Mapping, Sequence

import numpy as np

from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected


def _require(holds: object) -> None:
    if not holds:
        raise Rejected("run", "the case is wrong")


def strided_slice(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Takes the elements one dimension after the other, those after an ellipsis from the last one on."""
    data, *given = [*inputs, *[None] * 4][:4]
    if data is None or None in given[:2]:
        raise Rejected("build", "an input is missing")
    indices = [each for each in given if each is not None]
    _require(all(each.type.is_integer and each.array.ndim == 1 for each in indices))
    begin, end, *strides = [each.integers() for each in indices]
    stride = strides[0] if strides else [1 for _ in begin]
    _require(len(begin) == len(end) == len(stride))
    masks = [attributes.get(f"{each}_mask", ()) for each in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")]
    _require(all(isinstance(each, tuple) for each in masks))
    flags = [[each for each in mask if _is_bit(each)] for mask in masks if isinstance(mask, tuple)]
    bits = [[number < len(mask) and mask[number] == 1 for mask in flags] for number in range(len(begin))]
    _require(sum(each[4] for each in bits) <= 1)
    taking = [number for number, each in enumerate(bits) if not each[2] and not each[4]]
    middle = next((number for number, each in enumerate(bits) if each[4]), len(bits))
    rank, array = len(data.shape), data.array
    _require(len(taking) <= rank)
    places = {number: at if number < middle else rank - len(taking) + at for at, number in enumerate(taking)}
    sizes: dict[int, int | None] = dict(enumerate(data.shape))
    for number, axis in places.items():
        from_start, to_end, _, is_shrunk, _ = bits[number]
        size, by = data.shape[axis], 1 if is_shrunk else stride[number]
        first = (0 if by > 0 else size - 1) if from_start else begin[number]
        _require(by and (not is_shrunk or first in range(-size, size)))
        if is_shrunk:
            selected = range(first % size, first % size + 1)
        else:
            first = 0 if by < 0 and first < -size else first
            selected = range(size)[first : None if to_end else end[number] : by]
        shape = (*array.shape[:axis], len(selected), *array.shape[axis + 1 :])
        array = np.take(array, np.array(selected, np.int64), axis) if array.size else np.empty(shape, array.dtype)
        sizes[axis] = None if is_shrunk else len(selected)
    return [Tensor(element_type=data.element_type, array=array.reshape(_kept(bits, places, middle, sizes)))]


def _is_bit(value: object) -> bool:
    _require(type(value) is int and value in (0, 1))
    return True


def _kept(
    bits: Sequence[Sequence[bool]], places: Mapping[int, int], middle: int, sizes: Mapping[int, int | None]
) -> list[int]:
    """The sizes of the dimensions that are not removed, with new ones of 1 between them."""
    rest = [axis for axis in sizes if axis not in places.values()]
    order: list[int | None] = []
    for number in range(len(bits) + 1):
        order += [sizes[axis] for axis in rest] if number == middle else []
        if number in places:
            order.append(sizes[places[number]])
        elif number < len(bits) and not bits[number][4]:
            order.append(1)
    return [each for each in order if each is not None]
