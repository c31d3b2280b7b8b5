"""The shared semantics of Split-1 and VariadicSplit-1: data, the axis, and consecutive outputs along it."""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, Region, TensorType
from opconform.suite.case import Shape
from opconform.tensors.tensor import Tensor

#: The ports that both operations begin with (both pages, Inputs, 1 and 2).
DATA = Port("data", role="tensor")
AXIS = Port("axis", role="control")


def data_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on data (both pages, Inputs, 1)."""
    data = arguments.inputs.get("data")
    if data is None:
        return ["data.required"]
    return ["data.rank"] if not data.shape else []


def axis_violations(arguments: Arguments, allowed: Sequence[Shape]) -> list[str]:
    """The violated requirements on the axis, given its allowed shapes (both pages, Inputs, 2, and Types, T2)."""
    axis = arguments.inputs.get("axis")
    if axis is None:
        return ["axis.required"]
    wrong_type = [] if axis.is_integer else ["axis.element-type"]
    wrong_shape = [] if axis.shape in allowed else ["axis.shape"]
    value = _axis_value(arguments)
    data = arguments.inputs.get("data")
    ranked = value is not None and data is not None and data.shape
    out_of_range = ["axis.range"] if ranked and dimension(arguments) is None else []
    return [*wrong_type, *wrong_shape, *out_of_range]


def axis_from_front(arguments: Arguments) -> int | None:
    """The index of the dimension to split, or None if data and axis do not determine one."""
    data, value = arguments.inputs.get("data"), _axis_value(arguments)
    if data is None or value is None or not -len(data.shape) <= value < len(data.shape):
        return None
    return value % len(data.shape)


def dimension(arguments: Arguments) -> int | None:
    """The size of the dimension to split, or None if data and axis do not determine one."""
    axis = axis_from_front(arguments)
    return None if axis is None else arguments.inputs["data"].shape[axis]


def splitting(
    *,
    name: str,
    controls: tuple[Port, ...] = (),
    attributes: tuple[AttributeSpec, ...] = (),
    sizes: Callable[[Arguments], tuple[int, ...]],
    requested_outputs: Callable[[Arguments], int | None],
) -> Operation:
    """An operation whose outputs are consecutive regions of data along its axis.

    `sizes` gives their sizes along the axis, or raises `Rejection`; `controls` are the ports after data and axis.
    """

    def infer(arguments: Arguments) -> tuple[TensorType, ...]:
        blocks = regions(arguments)
        element_type = arguments.inputs["data"].element_type
        return tuple(TensorType(element_type=element_type, shape=each.sizes) for each in blocks)

    def evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
        data = arguments.tensor("data")
        return tuple(
            Tensor(element_type=data.element_type, array=np.ascontiguousarray(data.array[each.index]))
            for each in regions(arguments)
        )

    def regions(arguments: Arguments) -> tuple[Region, ...]:
        lengths = sizes(arguments)
        along, shape = axis_from_front(arguments) or 0, arguments.inputs["data"].shape
        return tuple(
            Region(
                input="data",
                start=tuple(start if each == along else 0 for each in range(len(shape))),
                sizes=(*shape[:along], length, *shape[along + 1 :]),
            )
            for start, length in zip(accumulate(lengths, initial=0), lengths, strict=False)
        )

    *_, computed = (AXIS, *controls)
    return Operation(
        name=name,
        inputs=(DATA, AXIS, *controls),
        attributes=attributes,
        infer=infer,
        evaluate=evaluate,
        requested_outputs=requested_outputs,
        bits="data.bits",
        contexts={
            "concat": contexts.concat(axis_from_front),
            "chain": contexts.chain("data"),
            "partial": contexts.partial,
            "shared": contexts.shared(axis_from_front),
            "convert": contexts.convert,
            "shape-of": contexts.shape_of("data", computed.name),
        },
        highlight=regions,
    )


def _axis_value(arguments: Arguments) -> int | None:
    """The axis as given, or None if it is not exactly one integer."""
    axis = arguments.inputs.get("axis")
    if axis is None or axis.integers is None or len(axis.integers) != 1:
        return None
    return axis.integers[0]
