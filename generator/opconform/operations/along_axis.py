"""What Split-1 and VariadicSplit-1 share: data, the axis, and cutting consecutive pieces along it."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from opconform.operations.operation import Arguments, Operation, Shape
from opconform.tensors import Array


def data_violations(arguments: Arguments) -> list[str]:
    """The requirements on data that are violated (both pages, Inputs, 1)."""
    data = arguments.inputs.get("data")
    if data is None:
        return ["data.required"]
    return ["data.rank"] if not data.shape else []


def axis_violations(arguments: Arguments, allowed: Sequence[Shape]) -> list[str]:
    """The requirements on the axis that are violated (both pages, Inputs, 2, and Types, T2).

    Args:
        arguments: What the operation is given.
        allowed: The shapes that the page allows the axis to have.
    """
    axis = arguments.inputs.get("axis")
    if axis is None:
        return ["axis.required"]
    wrong_type = [] if axis.is_integer else ["axis.element-type"]
    wrong_shape = [] if axis.shape in allowed else ["axis.shape"]
    value = axis_value(arguments)
    data = arguments.inputs.get("data")
    ranked = value is not None and data is not None and data.shape
    out_of_range = ["axis.range"] if ranked and dimension(arguments) is None else []
    return [*wrong_type, *wrong_shape, *out_of_range]


def axis_value(arguments: Arguments) -> int | None:
    """The axis as it is given, or None where there is not exactly one integer."""
    axis = arguments.inputs.get("axis")
    if axis is None or axis.integers is None or len(axis.integers) != 1:
        return None
    return axis.integers[0]


def axis_from_front(arguments: Arguments) -> int | None:
    """The number of the dimension that is split, or None where data and axis do not name one."""
    data, value = arguments.inputs.get("data"), axis_value(arguments)
    if data is None or value is None or not -len(data.shape) <= value < len(data.shape):
        return None
    return value % len(data.shape)


def dimension(arguments: Arguments) -> int | None:
    """The size of the dimension that is split, or None where data and axis do not name one."""
    axis = axis_from_front(arguments)
    return None if axis is None else arguments.inputs["data"].shape[axis]


def splitting(
    *,
    inputs: tuple[str, ...],
    attributes: tuple[str, ...],
    sizes: Callable[[Arguments], tuple[int, ...]],
    asked: Callable[[Arguments], int | None],
) -> Operation:
    """An operation that cuts data into consecutive pieces along its axis.

    Args:
        inputs: The names of its inputs.
        attributes: The names of its attributes.
        sizes: The sizes of the pieces along the axis; raises `Rejection`.
        asked: How many pieces arguments ask for, right or wrong.
    """

    def cuts_and_axis(arguments: Arguments) -> tuple[tuple[int, ...], int]:
        return sizes(arguments), axis_from_front(arguments) or 0

    def infer(arguments: Arguments) -> tuple[Shape, ...]:
        cuts, along = cuts_and_axis(arguments)
        shape = arguments.inputs["data"].shape
        return tuple((*shape[:along], size, *shape[along + 1 :]) for size in cuts)

    def evaluate(arguments: Arguments, data: Array) -> tuple[Array, ...]:
        cuts, along = cuts_and_axis(arguments)
        before = (slice(None),) * along
        starts = accumulate(cuts, initial=0)
        return tuple(data[(*before, slice(start, start + size))] for start, size in zip(starts, cuts, strict=False))

    return Operation(
        inputs=inputs, attributes=attributes, infer=infer, axis=axis_from_front, evaluate=evaluate, asked=asked
    )
