"""Transpose-1 in small steps: a right implementation whose hooks the rows replace."""

from types import MappingProxyType

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse


def _outputs(call: Call) -> list[Tensor]:
    arg: Tensor = call.do("transposed_arg")
    call.do("check_order_given")
    if "input_order" in call.inputs:
        call.do("check_order_type", call.inputs["input_order"])
        call.do("check_order_rank", call.inputs["input_order"])
    axes: list[int] = call.do("order_axes", len(arg.shape))
    return [Tensor(element_type=arg.element_type, array=call.do("moved", arg.array, axes))]


def _arg(call: Call) -> Tensor:
    arg = call.inputs.get("arg")
    if arg is None:
        return refuse("arg is missing")
    call.do("check_arg_shape", arg.shape)
    return arg


def _check_arg_shape(_call: Call, _shape: tuple[int, ...]) -> None:
    """Any shape is right."""


def _check_given(call: Call) -> None:
    if "input_order" not in call.inputs:
        refuse("the order is missing")


def _check_type(_call: Call, order: Tensor) -> None:
    if not order.type.is_integer:
        refuse("the order is not of an integer type")


def _check_rank(_call: Call, order: Tensor) -> None:
    if len(order.shape) != 1:
        refuse("the order is not a list")


def _axes(call: Call, rank: int) -> list[int]:
    """The dimension of arg that is each dimension of the output."""
    values: list[int] = call.do("order_values")
    if not values:
        return call.do("inverted", rank)  # type: ignore[no-any-return]
    call.do("check_order_length", values, rank)
    call.do("check_order_negative", values, rank)
    call.do("check_order_range", values, rank)
    call.do("check_order_unique", values)
    return call.do("axes_from_front", values, rank)  # type: ignore[no-any-return]


def _values(call: Call) -> list[int]:
    return call.inputs["input_order"].integers()


def _inverted(_call: Call, rank: int) -> list[int]:
    return list(reversed(range(rank)))


def _check_length(_call: Call, values: list[int], rank: int) -> None:
    if len(values) != rank:
        refuse("the order has another number of elements than arg has dimensions")


def _check_negative(_call: Call, values: list[int], _rank: int) -> None:
    if min(values) < 0:
        refuse("the order has a negative element")


def _check_range(_call: Call, values: list[int], rank: int) -> None:
    if max(values) >= rank:
        refuse("the order has an element out of range")


def _check_unique(_call: Call, values: list[int]) -> None:
    if len(set(values)) < len(values):
        refuse("the order has an element twice")


def _axes_from_front(_call: Call, values: list[int], rank: int) -> list[int]:
    return [each % max(rank, 1) for each in values]


def _moved(_call: Call, array: Array, axes: list[int]) -> Array:
    """The elements in their new places."""
    return np.array(array.transpose(axes), order="C")


#: The hooks of Transpose-1.
TRANSPOSE: Hooks = MappingProxyType(
    {
        "Transpose-1": _outputs,
        "transposed_arg": _arg,
        "check_arg_shape": _check_arg_shape,
        "check_order_given": _check_given,
        "check_order_type": _check_type,
        "check_order_rank": _check_rank,
        "order_axes": _axes,
        "order_values": _values,
        "inverted": _inverted,
        "check_order_length": _check_length,
        "check_order_negative": _check_negative,
        "check_order_range": _check_range,
        "check_order_unique": _check_unique,
        "axes_from_front": _axes_from_front,
        "moved": _moved,
    }
)
