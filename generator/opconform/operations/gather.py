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
    data, indices = (arguments.inputs.get(each) for each in _TENSORS)
    if data is None or indices is None:
        return []
    limit, axis = min(len(data.shape), len(indices.shape)), axis_from_front(arguments)
    if not -limit <= given <= limit:
        return ["batch_dims.range"]
    batches = _batches(arguments)
    beyond = ["batch_dims.axis"] if axis is not None and batches > axis else []
    unequal = any(one != other for one, other in zip(data.shape[:batches], indices.shape[:batches], strict=False))
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
    places = [each % size if -size <= each < size else size for each in indices.integers()]
    rows = np.array(places, np.int64).reshape(count, prod(indices.shape[batches:]))
    taken = np.zeros((count, before, rows.shape[1], after), data.array.dtype)
    for block, row, output in zip(blocks, rows, taken, strict=True):
        inside = row < size
        output[:, inside] = block[:, row[inside]]
    array = taken.reshape((*shape[:axis], *indices.shape[batches:], *shape[axis + 1 :]))
    return (Tensor(element_type=data.element_type, array=array),)


def _values(arguments: Arguments) -> tuple[int, ...] | None:
    """The selected elements of a list of known integers."""
    data, indices = (arguments.inputs.get(each) for each in _TENSORS)
    if data is None or indices is None or len(data.shape) != 1:
        return None
    known, chosen = data.known_integers, indices.known_integers
    if known is None or chosen is None:
        return None
    return tuple(known[each] if -len(known) <= each < len(known) else 0 for each in chosen)


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
