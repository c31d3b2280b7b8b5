"""Pad-12 in small steps: a right implementation whose hooks the rows replace."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from opconform.suite.case import Shape
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse

MODES = ("constant", "edge", "reflect", "symmetric")
_NF4_ZERO = 7


def _outputs(call: Call) -> list[Tensor]:
    data = call.inputs.get("data")
    if data is None:
        return refuse("data is missing")
    rank = len(data.shape)
    begin: list[int] = call.do("pads", "pads_begin", rank)
    end: list[int] = call.do("pads", "pads_end", rank)
    mode: str = call.do("pad_mode", data)
    value: Array = call.do("pad_value", data, mode)
    for size, before, after in zip(data.shape, begin, end, strict=True):
        call.do("check_limits", mode, size, before, after)
    if mode == "constant" and "pad_value" not in call.inputs and any(each > 0 for each in (*begin, *end)):
        call.do("check_zero", data.element_type)
    array: Array = call.do("padded", data.array, (begin, end), mode, value)
    return [Tensor(element_type=data.element_type, array=array)]


def _pads(call: Call, name: str, rank: int) -> list[int]:
    given: Tensor | None = call.do("given_pads", name, rank)
    if given is None:
        return refuse(f"{name} is missing")
    call.do("check_pads_type", name, given)
    call.do("check_pads_rank", name, given.shape)
    numbers: list[int] = call.do("pad_numbers", name, given)
    call.do("check_pads_count", name, len(numbers), rank)
    return numbers


def _given_pads(call: Call, name: str, _rank: int) -> Tensor | None:
    return call.inputs.get(name)


def _check_pads_type(_call: Call, _name: str, given: Tensor) -> None:
    if not given.type.is_integer:
        refuse("the pads are not integers")


def _check_pads_rank(_call: Call, _name: str, shape: Shape) -> None:
    if len(shape) != 1:
        refuse("the pads are not a list")


def _pad_numbers(_call: Call, _name: str, given: Tensor) -> list[int]:
    return given.integers()


def _check_pads_count(_call: Call, _name: str, count: int, rank: int) -> None:
    if count != rank:
        refuse("there are more or fewer pads than dimensions")


def _mode(call: Call, data: Tensor) -> str:
    mode: str = call.do("mode_attribute")
    if data.type.kind == "string":
        call.do("check_string_mode", mode)
    return mode


def _mode_attribute(call: Call) -> str:
    mode = call.attributes.get("pad_mode")
    return mode if isinstance(mode, str) and mode in MODES else refuse("there is no such mode")


def _check_string_mode(_call: Call, mode: str) -> None:
    if mode != "constant":
        refuse("strings have the mode constant alone")


def _value(call: Call, data: Tensor, _mode: str) -> Array:
    """The element that the mode constant adds."""
    value = call.inputs.get("pad_value")
    if value is None:
        return call.do("default_value", data)  # type: ignore[no-any-return]
    call.do("check_value_shape", value.shape)
    call.do("check_value_type", value.element_type, data.element_type)
    return call.do("given_value", value, data)  # type: ignore[no-any-return]


def _default_value(_call: Call, data: Tensor) -> Array:
    zero = "" if data.type.kind == "string" else _NF4_ZERO if data.element_type == "nf4" else 0
    return np.array(zero, data.array.dtype)


def _check_value_shape(_call: Call, shape: Shape) -> None:
    if shape:
        refuse("pad_value is not a scalar")


def _check_value_type(_call: Call, given: str, data: str) -> None:
    if given != data:
        refuse("pad_value has another type than data")


def _given_value(_call: Call, value: Tensor, _data: Tensor) -> Array:
    return value.array


def _check_limits(call: Call, mode: str, size: int, before: int, after: int) -> None:
    for pad in (before, after):
        if pad > 0 and mode != "constant":
            call.do(f"check_{mode}", size, pad)


def _check_edge(_call: Call, size: int, _pad: int) -> None:
    if not size:
        refuse("an empty dimension has no edge")


def _check_reflect(_call: Call, size: int, pad: int) -> None:
    if pad > size - 1:
        refuse("there are not so many elements beside the edge")


def _check_symmetric(_call: Call, size: int, pad: int) -> None:
    if pad > size:
        refuse("there are not so many elements")


def _check_zero(_call: Call, element_type: str) -> None:
    if element_type == "f8e8m0":
        refuse("the type has no zero")


def _padded(call: Call, data: Array, pads: tuple[list[int], list[int]], mode: str, value: Array) -> Array:
    shape = [call.do("padded_size", size, *ends) for size, *ends in zip(data.shape, *pads, strict=True)]
    output = np.full(shape, value, np.result_type(data, value))
    if not output.size or not data.size:
        return output
    rows: list[list[int]] = []
    for size, length, before, after in zip(data.shape, shape, *pads, strict=True):
        places: Sequence[int] = call.do("places", length, size, before, after)
        rows.append([each if 0 <= each < size else call.do(f"{mode}_place", each, size) for each in places])
    inside = [np.array(each) >= 0 for each in rows]
    chosen = [np.array(each, np.int64)[where] for each, where in zip(rows, inside, strict=True)]
    output[np.ix_(*inside)] = data[np.ix_(*chosen)]
    return output


def _size(_call: Call, size: int, before: int, after: int) -> int:
    return max(before + size + after, 0)


def _places(_call: Call, length: int, _size: int, before: int, _after: int) -> Sequence[int]:
    """The places in data of the elements of the output, which may be outside it."""
    return range(-before, length - before)


def _constant(_call: Call, _place: int, _size: int) -> int:
    return -1


def _edge(_call: Call, place: int, size: int) -> int:
    return 0 if place < 0 else size - 1


def _reflect(_call: Call, place: int, size: int) -> int:
    return -place if place < 0 else 2 * size - 2 - place


def _symmetric(_call: Call, place: int, size: int) -> int:
    return -1 - place if place < 0 else 2 * size - 1 - place


#: The hooks of Pad-12.
PAD: Hooks = MappingProxyType(
    {
        "Pad-12": _outputs,
        "pads": _pads,
        "given_pads": _given_pads,
        "check_pads_type": _check_pads_type,
        "check_pads_rank": _check_pads_rank,
        "pad_numbers": _pad_numbers,
        "check_pads_count": _check_pads_count,
        "pad_mode": _mode,
        "mode_attribute": _mode_attribute,
        "check_string_mode": _check_string_mode,
        "pad_value": _value,
        "default_value": _default_value,
        "check_value_shape": _check_value_shape,
        "check_value_type": _check_value_type,
        "given_value": _given_value,
        "check_limits": _check_limits,
        "check_edge": _check_edge,
        "check_reflect": _check_reflect,
        "check_symmetric": _check_symmetric,
        "check_zero": _check_zero,
        "padded": _padded,
        "padded_size": _size,
        "places": _places,
        "constant_place": _constant,
        "edge_place": _edge,
        "reflect_place": _reflect,
        "symmetric_place": _symmetric,
    }
)
