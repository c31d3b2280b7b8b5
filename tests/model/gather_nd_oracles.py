"""The oracles of GatherND-8: numpy's `ravel_multi_index`, and ONNX's reference evaluator, without broadcasting."""

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from opconform.suite.case import Case
from opconform.tensors.tensor import Array

TakeND = Callable[[Array, Array, int], Array]
Values = Callable[[Case, dict[str, Array], str], list[int]]


def numpys_take_nd(data: Array, indices: Array, batches: int) -> Array:
    """Slices at flat positions, which numpy computes from the tuples of each batch."""
    count, length = prod(data.shape[:batches]), indices.shape[-1]
    sizes, rest = data.shape[batches : batches + length], data.shape[batches + length :]
    blocks = data.reshape(count, prod(sizes), *rest)
    counted = np.where(indices < 0, indices + np.array(sizes), indices).reshape(count, -1, length)
    outputs = [
        np.take(block, np.ravel_multi_index(tuple(row.T), sizes), 0) for block, row in zip(blocks, counted, strict=True)
    ]
    return np.stack(outputs).reshape((*indices.shape[:-1], *rest))


def onnxs_take_nd(data: Array, indices: Array, batches: int) -> Array:
    """ONNX's `GatherND`, as its own reference evaluator executes it."""
    [output] = taker(batches).run(None, {"data": data, "indices": indices})
    return np.asarray(output)


@lru_cache
def taker(batches: int) -> ReferenceEvaluator:
    """The evaluator of a model of one `GatherND`."""
    names = ["data", "indices"]
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in (*names, "output")]
    node = onnx.helper.make_node("GatherND", names, ["output"], batch_dims=batches)
    graph = onnx.helper.make_graph([node], "gather_nd", values[:-1], values[-1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))


def gathered_nd(case: Case, tensors: dict[str, Array], values: Values, take: TakeND) -> list[Array]:
    """What the graph of a case's context gives, with an oracle in the operation's place."""
    indices = np.array(values(case, tensors, str(case.node.inputs[1])), np.int64).reshape(tensors["indices"].shape)
    batches = int(str(case.attributes.get("batch_dims", 0)))
    output = broadcast(tensors["data"], indices, batches, take)
    match case.context:
        case "bare" | "folded" | "convert":
            return [output]
        case "chain":
            return [broadcast(output, indices, batches, take)]
        case "doubled":
            return [output, np.concatenate([output, output])]
    raise AssertionError(case.context)


def broadcast(data: Array, indices: Array, batches: int, take: TakeND) -> Array:
    """The output for batch dimensions that are broadcast; without indices, or without elements, there is no oracle."""
    leading = np.broadcast_shapes(data.shape[:batches], indices.shape[:batches])
    whole = np.ascontiguousarray(np.broadcast_to(data, (*leading, *data.shape[batches:])))
    tuples = np.ascontiguousarray(np.broadcast_to(indices, (*leading, *indices.shape[batches:])))
    positions, rest = tuples.shape[:-1], data.shape[batches + indices.shape[-1] :]
    if not indices.shape[-1]:
        repeated = whole.reshape((*leading, *[1] * (len(positions) - batches), *data.shape[batches:]))
        return np.broadcast_to(repeated, (*positions, *rest))
    if 0 in (*positions, *rest):
        return np.empty((*positions, *rest), data.dtype)
    return take(whole, tuples, batches).reshape((*positions, *rest))
