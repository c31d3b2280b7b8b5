"""The oracles of Gather-8: numpy's `take`, and ONNX's reference evaluator, in each batch."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from opconform.suite.case import Case
from opconform.tensors.tensor import Array, Tensor

Take = Callable[[Array, Array, int], Array]


def numpys_take(data: Array, indices: Array, axis: int) -> Array:
    """`np.take`, for indices in range."""
    return np.take(data, indices, axis)


def onnxs_take(data: Array, indices: Array, axis: int) -> Array:
    """ONNX's `Gather`, as its own reference evaluator executes it."""
    [output] = taker(axis).run(None, {"data": data, "indices": indices})
    return np.asarray(output)


@lru_cache
def taker(axis: int) -> ReferenceEvaluator:
    """The evaluator of a model of one `Gather`."""
    names = ["data", "indices"]
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in (*names, "output")]
    node = onnx.helper.make_node("Gather", names, ["output"], axis=axis)
    graph = onnx.helper.make_graph([node], "gather", values[:-1], values[-1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))


def gathered(case: Case, tensors: dict[str, Array], take: Take) -> list[Array]:
    """What the graph of a gather's context gives, with an oracle in the place of the operation in each batch."""
    [axis] = integers(case, tensors, "axis")
    indices = np.array(integers(case, tensors, "indices"), object).reshape(tensors["indices"].shape)
    given = int(str(case.attributes.get("batch_dims", 0)))
    batches = given if given >= 0 else given + indices.ndim
    output = batch_wise(tensors["data"], indices, axis % tensors["data"].ndim, batches, take)
    match case.context:
        case "bare" | "folded" | "convert":
            return [output]
        case "chain":
            return [batch_wise(output, indices, axis % output.ndim, batches, take)]
        case "doubled":
            along = (axis % tensors["data"].ndim + 1) % output.ndim
            return [output, np.concatenate([output, output], along)]
    raise AssertionError(case.context)


def batch_wise(data: Array, indices: Array, axis: int, batches: int, take: Take) -> Array:
    """The outputs of an oracle in each batch, with zeros where an index is out of range."""
    if batches:
        pairs = zip(data, indices, strict=True)
        outputs = [batch_wise(one, np.asarray(each, object), axis - 1, batches - 1, take) for one, each in pairs]
        shape = (*data.shape[:axis], *indices.shape[batches:], *data.shape[axis + 1 :])
        return np.stack(outputs) if outputs else np.empty(shape, data.dtype)
    size = data.shape[axis]
    outside = np.array([not -size <= each < size for each in indices.reshape(-1)], np.bool_).reshape(indices.shape)
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    if not size or not data.size:
        return np.zeros(shape, data.dtype)
    output = np.array(take(data, np.where(outside, 0, indices).astype(np.int64), axis))
    output[(slice(None),) * axis + (outside,)] = np.zeros((), data.dtype)
    return output


def integers(case: Case, tensors: dict[str, Array], name: str) -> list[int]:
    """The integers of an input of any integer type."""
    [element_type] = [each.element_type for each in case.inputs if each.name == name]
    return Tensor(element_type=element_type, array=tensors[name]).integers()
