"""Reshape-1 in small steps: a right implementation whose hooks the rows replace."""

from math import prod
from types import MappingProxyType
from typing import Any

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse

INFERRED = -1


def _outputs(call: Call) -> list[Tensor]:
    data: Tensor = call.do("reshaped_data")
    copies: bool = call.do("special_zero", call.attributes.get("special_zero"))
    pattern: list[int] = call.do("pattern")
    call.do("check_negative", pattern)
    call.do("check_single", pattern)
    dimensions: tuple[int, ...] = call.do("dimensions", data)
    sizes: list[int] = call.do("copied", pattern, dimensions) if copies else pattern
    volume: int = call.do("volume", dimensions)
    sizes = call.do("inferred", sizes, volume)
    call.do("check_volume", sizes, volume)
    shape: list[int] = call.do("reshaped_sizes", sizes)
    return [Tensor(element_type=data.element_type, array=call.do("arranged", data.array, shape))]


def _data(call: Call) -> Tensor:
    data = call.inputs.get("data")
    if data is None:
        return refuse("data is missing")
    call.do("check_data", data)
    return data


def _check_data(_call: Call, _data: Tensor) -> None:
    """Data of every type and rank is right."""


def _special_zero(_call: Call, given: Any) -> bool:
    if given is None:
        refuse("special_zero is missing")
    if not isinstance(given, bool):
        refuse("special_zero is not a boolean")
    return bool(given)


def _pattern(call: Call) -> list[int]:
    """The elements of the input shape."""
    call.do("check_shape_given")
    given = call.inputs["shape"]
    call.do("check_shape_type", given)
    call.do("check_shape_rank", given)
    return call.do("shape_values", given)  # type: ignore[no-any-return]


def _check_shape_given(call: Call) -> None:
    if "shape" not in call.inputs:
        refuse("shape is missing")


def _check_shape_type(_call: Call, given: Tensor) -> None:
    if not given.type.is_integer:
        refuse("shape is not of an integer type")


def _check_shape_rank(_call: Call, given: Tensor) -> None:
    if len(given.shape) != 1:
        refuse("shape is not a list")


def _shape_values(_call: Call, given: Tensor) -> list[int]:
    return given.integers()


def _check_negative(_call: Call, pattern: list[int]) -> None:
    if any(each < INFERRED for each in pattern):
        refuse("a size is negative")


def _check_single(_call: Call, pattern: list[int]) -> None:
    if pattern.count(INFERRED) > 1:
        refuse("-1 is repeated")


def _dimensions(_call: Call, data: Tensor) -> tuple[int, ...]:
    """The dimensions of data that zeros copy."""
    return data.shape


def _copied(call: Call, pattern: list[int], dimensions: tuple[int, ...]) -> list[int]:
    """The sizes, with dimensions of data in place of zeros."""
    return [call.do("copied_size", index, dimensions) if each == 0 else each for index, each in enumerate(pattern)]


def _copied_size(call: Call, index: int, dimensions: tuple[int, ...]) -> int:
    call.do("check_zero_index", index, len(dimensions))
    return dimensions[index]


def _check_zero_index(_call: Call, index: int, rank: int) -> None:
    if index >= rank:
        refuse("there is no dimension to copy")


def _volume(_call: Call, sizes: tuple[int, ...]) -> int:
    return prod(sizes)


def _inferred(call: Call, sizes: list[int], volume: int) -> list[int]:
    """The sizes, with the one that is calculated."""
    if INFERRED not in sizes:
        return sizes
    others: int = call.do("volume", tuple(each for each in sizes if each != INFERRED))
    size: int = call.do("inferred_size", others, volume)
    return [size if each == INFERRED else each for each in sizes]


def _inferred_size(call: Call, others: int, volume: int) -> int:
    call.do("check_divides", others, volume)
    return volume // others


def _check_divides(_call: Call, others: int, volume: int) -> None:
    if not others or volume % others:
        refuse("no size gives the number of elements")


def _check_volume(call: Call, sizes: list[int], volume: int) -> None:
    if call.do("volume", tuple(sizes)) != volume:
        refuse("the numbers of elements differ")


def _sizes(_call: Call, sizes: list[int]) -> list[int]:
    """The dimensions of the output."""
    return sizes


def _arranged(_call: Call, array: Array, shape: list[int]) -> Array:
    return array.reshape(shape)


#: The hooks of Reshape-1.
RESHAPE: Hooks = MappingProxyType(
    {
        "Reshape-1": _outputs,
        "reshaped_data": _data,
        "check_data": _check_data,
        "special_zero": _special_zero,
        "pattern": _pattern,
        "check_shape_given": _check_shape_given,
        "check_shape_type": _check_shape_type,
        "check_shape_rank": _check_shape_rank,
        "shape_values": _shape_values,
        "check_negative": _check_negative,
        "check_single": _check_single,
        "dimensions": _dimensions,
        "copied": _copied,
        "copied_size": _copied_size,
        "check_zero_index": _check_zero_index,
        "volume": _volume,
        "inferred": _inferred,
        "inferred_size": _inferred_size,
        "check_divides": _check_divides,
        "check_volume": _check_volume,
        "reshaped_sizes": _sizes,
        "arranged": _arranged,
    }
)
