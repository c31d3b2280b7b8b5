"""Mutants that give their outputs a wrong shape, or know too few shapes of data."""

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Row, converted, stricter
from tests.mutants.split.kernel import data

_NARROW = "onnx/onnx-mlir#3225"


def _squeezed(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = call.do("axis")
    return [converted(each, each.array.squeeze(axis)) if each.shape[axis] == 1 else each for each in outputs]


def _empty_without_shape(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = call.do("axis")
    return [each if each.shape[axis] else converted(each, each.array.reshape(0)) for each in outputs]


def _whole_without_elements(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    is_whole = not data(call).size and data(call).shape[call.do("axis")]
    return [call.inputs["data"]] * len(outputs) if is_whole else outputs


def _all_rows(call: Call, rows: Array, start: int, _size: int) -> Array:
    copied: Array = call.right("copied", rows, start, rows.shape[1])
    return copied


def _last_as_if_equal(call: Call, lengths: list[int], size: int) -> list[int]:
    sizes: list[int] = call.right("resolved", lengths, size)
    return [*sizes[:-1], max(size // len(sizes), 1)] if size else sizes


def _missing_as_empty(call: Call) -> list[Tensor]:
    empty = [Tensor(element_type="f32", array=np.zeros(0, np.float32))]
    outputs: list[Tensor] = call.right(call.op) if "data" in call.inputs else empty
    return outputs


def _size_in(bits: int) -> Row:
    what = f"The size of the dimension is truncated to {bits} bits."
    changes = {"dimension": lambda call, axis: call.right("dimension", axis) & ((1 << bits) - 1)}
    return Row(f"shapes/size-in-{bits}-bits", what, _NARROW, changes)


# fmt: off
ROWS = (
    Row("shapes/squeezed", "A dimension of 1 that the split makes is left out.", "tensorflow/tensorflow#7754",
        {"delivered": _squeezed}),
    Row("shapes/at-most-four", "Data of over four dimensions is refused.", "robertknight/rten#746",
        stricter("dimension", lambda call, _: data(call).ndim > 4)),
    Row("shapes/shape-of-data", "Every output has data's shape, and zeros after its elements.",
        "onnx/onnx-tensorrt#348", {"shape": lambda call, _axis, _size: data(call).shape, "copied": _all_rows}),
    Row("shapes/shape-of-the-first", "Every output has the first one's shape.", "pytorch/TensorRT#401",
        {"resolved": lambda call, lengths, size: call.right("resolved", lengths, size)[:1] * len(lengths)}),
    Row("shapes/last-takes-the-rest", "The last output is as long as it would be if all outputs were equal.",
        "openvinotoolkit/openvino_contrib#492", {"resolved": _last_as_if_equal}),
    Row("shapes/axis-first", "The dimension that is split comes first in the outputs' shape.",
        "tenstorrent/tt-mlir#6425",
        {"shape": lambda call, axis, size: (size, *data(call).shape[:axis], *data(call).shape[axis + 1 :])}),
    Row("shapes/empty-loses-its-shape", "An output without elements has the shape [0].", "pytorch/pytorch#8686",
        {"delivered": _empty_without_shape}, op="VariadicSplit-1"),
    Row("shapes/no-elements-refused", "Data without elements is refused, though the dimension that is split has some.",
        "google/XNNPACK#5807", stricter("check_lengths", lambda call, _, size: size and not data(call).size)),
    Row("shapes/no-elements-refused-evenly",
        "Data without elements is not split evenly, though the dimension that is split has some.",
        "tensorflow/tfjs-core#1759", stricter("even_sizes", lambda call, _, size: size and not data(call).size)),
    Row("shapes/no-elements-left", "Data without elements comes back whole from VariadicSplit-1.",
        "PaddlePaddle/Paddle#34356", {"delivered": _whole_without_elements}, op="VariadicSplit-1"),
    Row("shapes/missing-data-is-empty", "Data that is left out is a tensor without elements.",
        "microsoft/onnxruntime#4559", {"Split-1": _missing_as_empty, "VariadicSplit-1": _missing_as_empty}),
    Row("shapes/size-one-refused", "A dimension of 1 is not split.", "apple/coremltools#1043",
        stricter("dimension", lambda call, axis: data(call).shape[axis] == 1)),
    *(_size_in(bits) for bits in (16, 32, 8)),
    Row("shapes/vector-refused", "Data of rank 1 is refused.", "robertknight/rten#746",
        stricter("axis_value", lambda call, _: data(call).ndim == 1)),
)
# fmt: on
