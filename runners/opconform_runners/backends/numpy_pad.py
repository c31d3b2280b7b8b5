"""Pad-12 by `numpy.pad`, after checks of everything that the specification requires."""

from collections.abc import Mapping, Sequence

import numpy as np

from opconform.errors import counted
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Array, Tensor, patterns
from opconform_runners.backends.direct import check_given, padded
from opconform_runners.backends.direct_pad import mode_of
from opconform_runners.backends.numpy_arguments import list_of, refused

#: The code of 0 in the table of nf4.
_NF4_ZERO = 0b0111


def pad(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """The output of Pad-12."""
    data, begin, end, value = padded(inputs, 4)
    check_given("build", data=data)
    before, after = (_pads(name, each, data) for name, each in (("pads_begin", begin), ("pads_end", end)))
    mode = _mode(attributes, data)
    if value is not None and value.shape:
        raise refused("pad_value.scalar", f"pad_value has the shape {list(value.shape)}")
    if value is not None and value.element_type != data.element_type:
        raise refused("pad_value.element-type", f"pad_value is of type {value.element_type}")
    largest = [max(pair) for pair in zip(before, after, strict=True)]
    _check_limits(mode, data.shape, largest)
    if mode == "constant" and value is None and data.element_type == "f8e8m0" and any(each > 0 for each in largest):
        raise refused("pad_value.no-zero", "f8e8m0 has no zero")
    return [Tensor(element_type=data.element_type, array=_padded(data.array, before, after, mode, _added(data, value)))]


def _pads(name: str, given: Tensor | None, data: Tensor) -> list[int]:
    pads = list_of(name, given)
    if len(pads) != data.array.ndim:
        raise refused(
            f"{name}.count", f"{name} has {counted(len(pads), 'element')}, and data has rank {data.array.ndim}"
        )
    return pads


def _mode(attributes: Mapping[str, Attribute], data: Tensor) -> str:
    mode: str = mode_of(attributes, "build")
    if data.element_type == "string" and mode != "constant":
        raise refused("data.string-mode", f"strings are not padded in the mode {mode}")
    return mode


def _check_limits(mode: str, shape: Sequence[int], largest: Sequence[int]) -> None:
    for size, most in zip(shape, largest, strict=True):
        if mode == "edge" and most > 0 and not size:
            raise refused("edge.empty", "a dimension of 0 has no edge")
        if mode == "reflect" and most > 0 and most >= size:
            raise refused("reflect.limit", f"a pad of {most} exceeds {size - 1}")
        if mode == "symmetric" and most > 0 and most > size:
            raise refused("symmetric.limit", f"a pad of {most} exceeds {size}")


def _added(data: Tensor, value: Tensor | None) -> Array:
    """The element that is added in the mode constant, as a scalar."""
    if value is not None:
        return value.array
    if data.type.kind == "string":
        return np.array("")
    return np.array(_NF4_ZERO if data.element_type == "nf4" else 0, data.array.dtype)


def _padded(data: Array, begin: Sequence[int], end: Sequence[int], mode: str, value: Array) -> Array:
    """`numpy.pad` along one dimension after the other, and the rest cropped.

    Bit patterns are padded, since `numpy.pad` converts a NaN to a Python number.
    """
    kind = np.result_type(data, value)
    lengths = [max(sum(each), 0) for each in zip(begin, data.shape, end, strict=True)]
    if 0 in lengths:  # the other dimensions may be too long to be padded
        return np.empty(lengths, kind)
    array = patterns(data.astype(kind))
    extra = {"constant_values": patterns(value.astype(kind))} if mode == "constant" else {}
    for axis, (before, size, after, length) in enumerate(zip(begin, data.shape, end, lengths, strict=True)):
        most = length if mode in ("constant", "edge") else size  # far outside data, all elements are the same
        widths = [(0, 0)] * data.ndim
        widths[axis] = min(max(before, 0), most), min(max(after, 0), most)
        array = np.pad(array, widths, mode, **extra)  # type: ignore[call-overload]
        first = array.shape[axis] - length if after > most else max(-before, 0)
        array = array[(*[slice(None)] * axis, slice(first, first + length))]
    return np.array(array, order="C").view(kind)
