"""Mutants that read the values of a setting input in too few bits, or with a sign that they do not have."""

from collections.abc import Callable
from typing import Any

from opconform.tensors.tensor import Tensor
from tests.mutants.row import Call, Row, low_bits

_NARROW, _SIGN, _CONSTANT = "openvinotoolkit/openvino_contrib#1093", "apache/tvm#10080", "openxla/xla#48717"


def misread(prefix: str, op: str, hook: str, input_of: Callable[..., tuple[str, Tensor | None]]) -> tuple[Row, ...]:
    """The rows of one operation.

    Args:
        prefix: The class of the rows, and what their names begin with, as in `gathers/indices`.
        op: The operation.
        hook: The hook that reads the values: a list of integers, or one integer.
        input_of: The name and the tensor of the input that the hook reads, given the hook's arguments.
    """
    what = f"{prefix.partition('/')[2]} of {op}"

    def row(name: str, sentence: str, seen: str, change: Callable[[Call, str, Tensor, int], int]) -> Row:
        def changed(call: Call, *arguments: Any) -> Any:
            values = call.right(hook, *arguments)
            name, tensor = input_of(call, *arguments)
            if tensor is None or not tensor.type.is_integer:
                return values
            if isinstance(values, int):
                return change(call, name, tensor, values)
            return [change(call, name, tensor, each) for each in values]

        return Row(f"{prefix}-{name}", sentence, seen, {hook: changed}, op=op)

    return (
        row(
            "in-16-bits",
            f"The {what} are truncated to 16 bits.",
            _NARROW,
            lambda _, __, ___, value: low_bits(value, 16),
        ),
        row(
            "in-16-unsigned-bits",
            f"Of the {what}, those that are not negative are truncated to 16 bits.",
            _NARROW,
            lambda _, __, ___, value: value if value < 0 else value & 0xFFFF,
        ),
        row(
            "u4-as-i4",
            f"The {what} are read as i4 where they are u4.",
            _SIGN,
            lambda _, __, tensor, value: low_bits(value, 4) if tensor.element_type == "u4" else value,
        ),
        row(
            "constant-top-bit",
            f"Constant unsigned {what} are 0 where their highest bit is set.",
            _CONSTANT,
            lambda call, name, tensor, value: (
                0
                if tensor.type.kind == "unsigned" and value >> (tensor.type.bits - 1) and not call.is_parameter(name)
                else value
            ),
        ),
    )
