"""GatherND-8, from its specification page: elements or slices of data, each selected by a tuple of indices."""

from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operand, Operation, Port, Rejection, TensorType
from opconform.suite.case import Shape
from opconform.tensors.tensor import Tensor


def _tensor_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on each input alone (Inputs, 1 and 2; Types, T_IND)."""
    violated = []
    for name in ("data", "indices"):
        given = arguments.inputs.get(name)
        if given is None:
            violated.append(f"{name}.required")
        elif not given.shape:
            violated.append(f"{name}.rank")
    indices = arguments.inputs.get("indices")
    return [*violated, *(["indices.element-type"] if indices is not None and not indices.is_integer else [])]


def _tuple_violations(data: Shape, length: int, batches: int) -> list[str]:
    """The violated requirements on the length of the tuples (Detailed description, before the shape of the output)."""
    if length > len(data):
        return ["indices.tuple-length"]
    return ["indices.tuple-after-batches"] if length > len(data) - batches else []


def _index_violations(indices: Operand, sizes: Shape) -> list[str]:
    """The violated requirement on the indices of tuples into dimensions of some sizes (Inputs, 2)."""
    if indices.integers is None:
        return []
    rows = (indices.integers[place :: len(sizes)] for place in range(len(sizes)))
    inside = all(-size <= each < size for row, size in zip(rows, sizes, strict=True) for each in row)
    return [] if inside else ["indices.range"]


def _checked(arguments: Arguments) -> tuple[Operand, Operand, int]:
    """Data, the indices and the number of batch dimensions; `Rejection` for invalid arguments."""
    violated, batches = _tensor_violations(arguments), arguments.attributes["batch_dims"]
    if type(batches) is not int:
        raise Rejection((*violated, "batch_dims.type"))
    if any(each.endswith((".required", ".rank")) for each in violated):
        raise Rejection(tuple(violated))
    data, indices = arguments.inputs["data"], arguments.inputs["indices"]
    length = indices.shape[-1]
    if not 0 <= batches < min(len(data.shape), len(indices.shape)):
        raise Rejection((*violated, "batch_dims.range", *_tuple_violations(data.shape, length, 0)))
    pairs = zip(data.shape[:batches], indices.shape[:batches], strict=True)
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        violated.append("batch_dims.broadcastable")
    beyond = _tuple_violations(data.shape, length, batches)
    violated += beyond or _index_violations(indices, data.shape[batches : batches + length])
    if violated:
        raise Rejection(tuple(violated))
    return data, indices, batches


def batch_shape(data: Shape, indices: Shape, batches: int) -> Shape:
    """The batch dimensions, of which those of 1 are broadcast (Attributes, `batch_dims`, Description)."""
    pairs = zip(data[:batches], indices[:batches], strict=True)
    return tuple(other if one == 1 else one for one, other in pairs)


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    data, indices, batches = _checked(arguments)
    leading, length = batch_shape(data.shape, indices.shape, batches), indices.shape[-1]
    shape = (*leading, *indices.shape[batches:-1], *data.shape[batches + length :])
    return (TensorType(element_type=data.element_type, shape=shape),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    """The slice at each tuple, in the data of the tuple's batch (Detailed description, formula)."""
    [output] = _infer(arguments)
    data, indices, batches = _checked(arguments)
    leading, length = batch_shape(data.shape, indices.shape, batches), indices.shape[-1]
    rest, slices, positions = data.shape[batches:], data.shape[batches + length :], prod(indices.shape[batches:-1])
    tuples = np.array(indices.integers, np.int64).reshape(indices.shape)
    blocks = np.broadcast_to(arguments.tensor("data").array, (*leading, *rest)).reshape(prod(leading), *rest)
    rows = np.broadcast_to(tuples, (*leading, *indices.shape[batches:])).reshape(prod(leading), positions, length)
    array = np.empty((prod(leading), positions, *slices), blocks.dtype)
    for block, row, selected in zip(blocks, rows, array, strict=True):
        selected[:] = block[tuple(row.T)]
    return (Tensor(element_type=data.element_type, array=array.reshape(output.shape)),)


GATHER_ND = Operation(
    name="GatherND-8",
    inputs=(Port("data", role="tensor"), Port("indices", role="control")),
    attributes=(AttributeSpec("batch_dims", type="int", default=0),),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(lambda _: -1),
    },
)
