"""The oracles of Slice-8: numpy's `take` of the indices that Python selects, and ONNX's reference evaluator."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from opconform.tensors.tensor import Array


def numpys_slice(data: Array, indices: Sequence[Sequence[int]]) -> Array:
    """`np.take` along one axis after the other, of the indices that Python selects from as many."""
    for start, stop, step, axis in zip(*indices, strict=True):
        selected = range(data.shape[axis])[start:stop:step]
        if data.size:
            data = np.take(data, np.array(selected, np.int64), axis)
        else:  # a dimension can have more indices than memory holds
            data = np.empty(
                [len(selected) if n == axis % data.ndim else size for n, size in enumerate(data.shape)], data.dtype
            )
    return data


def onnxs_slice(data: Array, indices: Sequence[Sequence[int]]) -> Array:
    """ONNX's `Slice`, as its own reference evaluator executes it; its indices are 64-bit integers."""
    limits = np.iinfo(np.int64)
    clipped = [np.array([min(max(each, limits.min), limits.max) for each in one], np.int64) for one in indices]
    names = ["start", "stop", "step", "axes"]
    [output] = slicer().run(None, {"data": data, **dict(zip(names, clipped, strict=True))})
    return np.asarray(output)


@lru_cache
def slicer() -> ReferenceEvaluator:
    """The evaluator of a model of one `Slice`."""
    names = ["data", "start", "stop", "axes", "step"]
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in (*names, "output")]
    node = onnx.helper.make_node("Slice", names, ["output"])
    graph = onnx.helper.make_graph([node], "slice", values[:-1], values[-1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))
