"""Gather-8, from its specification page: slices of data along an axis, selected by a tensor of indices."""

from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.axis import AXIS, DATA, axis_from_front, axis_violations, data_violations
from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, Rejection, TensorType
from opconform.suite.case import Shape
from opconform.tensors.tensor import Tensor

#: The shapes of an axis (Inputs, 3).
_AXIS_SHAPES: tuple[Shape, ...] = ((), (1,))
_TENSORS = ("data", "indices")


def _indices_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the indices (Inputs, 2; Types, T_IND)."""
    indices = arguments.inputs.get("indices")
    if indices is None:
        return ["indices.required"]
    return [] if indices.is_integer else ["indices.element-type"]


def _batches(arguments: Arguments) -> int:
    """The number of batch dimensions (Attributes, `batch_dims`, Description)."""
    given = int(str(arguments.attributes["batch_dims"]))
    return given + len(arguments.inputs["indices"].shape) if given < 0 else given


def _batch_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on `batch_dims` (Attributes)."""
    given = arguments.attributes["batch_dims"]
    if type(given) is not int:
        return ["batch_dims.type"]
    if not {*_TENSORS} <= arguments.inputs.keys():
        return []
    data, indices = (arguments.inputs[each].shape for each in _TENSORS)
    limit, axis = min(len(data), len(indices)), axis_from_front(arguments)
    if not -limit <= given <= limit:
        return ["batch_dims.range"]
    batches = _batches(arguments)
    beyond = ["batch_dims.axis"] if axis is not None and batches > axis else []
    unequal = any(one != other for one, other in zip(data[:batches], indices[:batches], strict=False))
    return [*beyond, *(["batch_dims.equal"] if unequal else [])]


def _places(arguments: Arguments) -> tuple[int, int]:
    """The axis and the number of batch dimensions; `Rejection` for invalid arguments."""
    violated = (
        *data_violations(arguments),
        *_indices_violations(arguments),
        *axis_violations(arguments, _AXIS_SHAPES),
        *_batch_violations(arguments),
    )
    axis = axis_from_front(arguments)
    if violated or axis is None:
        raise Rejection(violated)
    return axis, _batches(arguments)


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    axis, batches = _places(arguments)
    data, indices = arguments.inputs["data"], arguments.inputs["indices"]
    shape = (*data.shape[:axis], *indices.shape[batches:], *data.shape[axis + 1 :])
    return (TensorType(element_type=data.element_type, shape=shape),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    """The elements at the indices, and zeros where an index is out of range (Detailed description)."""
    axis, batches = _places(arguments)
    data, indices = arguments.tensor("data"), arguments.tensor("indices")
    shape, size = data.shape, data.shape[axis]
    count, before, after = (prod(each) for each in (shape[:batches], shape[batches:axis], shape[axis + 1 :]))
    blocks = data.array.reshape(count, before, size, after)
    chosen = np.array(indices.integers(), object).reshape(count, prod(indices.shape[batches:]))
    taken = np.zeros((count, before, chosen.shape[1], after), data.array.dtype)
    for block, row, output in zip(blocks, chosen, taken, strict=True):
        inside = np.array([-size <= each < size for each in row], np.bool_)
        output[:, inside] = block[:, np.array([each % size for each in row[inside]], np.int64)]
    [output_type] = _infer(arguments)
    return (Tensor(element_type=data.element_type, array=taken.reshape(output_type.shape)),)


def _values(arguments: Arguments) -> tuple[int, ...] | None:
    """The selected elements of a list of known integers."""
    data, indices = (None if each is None else each.known_integers for each in map(arguments.inputs.get, _TENSORS))
    return None if data is None or indices is None else tuple(data[each] for each in indices)


GATHER = Operation(
    name="Gather-8",
    inputs=(DATA, Port("indices", role="tensor", element_type="i64"), AXIS),
    attributes=(AttributeSpec("batch_dims", type="int", default=0),),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(axis_from_front),
    },
    values=_values,
)
