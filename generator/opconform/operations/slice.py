"""Slice-8, from its specification page: a region of data, with steps, along some of its axes."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, Operand, Operation, Port, Rejection, TensorType
from opconform.tensors.tensor import Tensor

#: The indices of a slice, of which each has one element per axis (Inputs, 2 to 4).
_INDICES = ("start", "stop", "step")


def _values(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The elements of an index input; none if it is omitted or not of an integer type."""
    given = arguments.inputs.get(name)
    return () if given is None or given.integers is None else given.integers


def _axes(arguments: Arguments) -> tuple[int, ...]:
    """The axes as given, or the first ones, as many as there are starts (Inputs, 5)."""
    if "axes" in arguments.inputs:
        return _values(arguments, "axes")
    return tuple(range(len(_values(arguments, "start"))))


def _data_violations(data: Operand | None) -> list[str]:
    """The violated requirements on data (Inputs, 1)."""
    if data is None:
        return ["data.required"]
    return ["data.rank"] if not data.shape else []


def _index_violations(arguments: Arguments, name: str) -> list[str]:
    """The violated requirements on one index input (Inputs, 2 to 5; Types)."""
    given = arguments.inputs.get(name)
    if given is None:
        return [] if name == "axes" else [f"{name}.required"]
    wrong_rank = [] if len(given.shape) == 1 else [f"{name}.rank"]
    return [*wrong_rank, *([] if given.is_integer else [f"{name}.element-type"])]


def _count_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the numbers of elements (Inputs, 4 and last sentence)."""
    given = [arguments.inputs[each].shape for each in (*_INDICES, "axes") if each in arguments.inputs]
    return ["indices.count"] if len({each for each in given if len(each) == 1}) > 1 else []


def _value_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the values of step and axes (Inputs, 4 and 5)."""
    data, axes = arguments.inputs.get("data"), _axes(arguments)
    zero = ["step.zero"] if 0 in _values(arguments, "step") else []
    if data is None or not data.shape:
        return zero
    rank = len(data.shape)
    if any(not -rank <= each < rank for each in axes):
        return [*zero, "axes.range"]
    return [*zero, *(["axes.unique"] if len({each % rank for each in axes}) < len(axes) else [])]


def slices_of(arguments: Arguments) -> list[slice]:
    """The slice of each dimension of data; `Rejection` for invalid arguments."""
    violated = (
        *_data_violations(arguments.inputs.get("data")),
        *(each for name in (*_INDICES, "axes") for each in _index_violations(arguments, name)),
        *_count_violations(arguments),
        *_value_violations(arguments),
    )
    if violated:
        raise Rejection(violated)
    slices = [slice(None)] * len(arguments.inputs["data"].shape)
    bounds = (_values(arguments, each) for each in _INDICES)
    for axis, *limits in zip(_axes(arguments), *bounds, strict=True):
        slices[axis] = slice(*limits)
    return slices


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    slices, data = slices_of(arguments), arguments.inputs["data"]
    sizes = (len(range(*each.indices(size))) for each, size in zip(slices, data.shape, strict=True))
    return (TensorType(element_type=data.element_type, shape=tuple(sizes)),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    data = arguments.tensor("data")
    return (
        Tensor(element_type=data.element_type, array=np.ascontiguousarray(data.array[tuple(slices_of(arguments))])),
    )


SLICE = Operation(
    name="Slice-8",
    inputs=(
        Port("data", role="tensor"),
        *(Port(each, role="control") for each in _INDICES),
        Port("axes", role="control", optional=True),
    ),
    attributes=(),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={"chain": contexts.chain("data")},
)
