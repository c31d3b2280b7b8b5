"""Mutants whose outputs begin at wrong places along the axis, or are too many."""

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Row, converted
from tests.mutants.split.kernel import data

_OFFSETS = "pytorch/tensordict#1345"


def _empty_at_the_end(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    return [*outputs, converted(outputs[-1], outputs[-1].array.take([], call.do("axis")))]


def _longest_first(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = call.do("axis")
    return sorted(outputs, key=lambda each: -each.shape[axis])


def _interleaved(call: Call, axis: int, start: int, size: int) -> Array:
    whole, step = data(call).shape[axis], 1
    if size:
        step = max(whole // size, 1)
    dealt = (start // max(size, 1) + np.arange(size) * step) % max(whole, 1)
    output: Array = np.take(data(call), dealt, axis) if whole else call.right("output", axis, start, size)
    return output


def _swallowing(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = call.do("axis")
    before = [1, *(each.shape[axis] for each in outputs[:-1])]
    return [
        each if size or not data(call).shape[axis] else converted(each, np.zeros_like(each.array))
        for size, each in zip(before, outputs, strict=True)
    ]


# fmt: off
ROWS = (
    Row("counts/one-too-many", "An output without elements follows the last one.", "openvinotoolkit/openvino#1938",
        {"delivered": _empty_at_the_end}),
    Row("counts/longest-first", "The outputs come from the longest to the shortest.", "NVIDIA/TensorRT#3466",
        {"delivered": _longest_first}, op="VariadicSplit-1"),
    Row("counts/all-read-the-first", "Every output reads from the beginning.", "openvinotoolkit/openvino#18469",
        {"offsets": lambda _, sizes: [0] * len(sizes)}),
    Row("counts/all-of-one-size", "Every output begins at a multiple of its own size.", "onnx/onnx-tensorrt#348",
        {"offsets": lambda _, sizes: [number * size for number, size in enumerate(sizes)]}, op="VariadicSplit-1"),
    Row("counts/multiples-of-the-first", "Every output begins at a multiple of the first one's size.",
        "onnx/onnx-tensorrt#348", {"offsets": lambda _, sizes: [number * sizes[0] for number in range(len(sizes))]},
        op="VariadicSplit-1"),
    Row("counts/overlap-by-one", "Every output but the first begins one too early.", _OFFSETS,
        {"offsets": lambda call, sizes: [max(each - 1, 0) for each in call.right("offsets", sizes)]}),
    Row("counts/third-from-the-first",
        "The offset is advanced by the previous size alone, which is right for two outputs and wrong for more.",
        _OFFSETS, {"offsets": lambda _, sizes: [0, *sizes[:-1]]}),
    Row("counts/interleaved", "The elements are handed to the outputs in turn.", _OFFSETS, {"output": _interleaved}),
    Row("counts/empty-swallows-the-next", "An output after one without elements is left empty.",
        "openvinotoolkit/openvino#18469", {"delivered": _swallowing}, op="VariadicSplit-1"),
)
# fmt: on
