"""Mutants of Split-1, and of the axis and the outputs of both splits."""

from math import prod

import numpy as np

from opconform.tensors.tensor import Tensor
from tests.mutants.operations.splits import (
    BOTH,
    SPLIT,
    VARIADIC,
    axis_of,
    dynamic,
    size_of,
    sized,
    sizes_of,
    started,
)
from tests.mutants.row import FOUND, Call, Hook, MutantRow, accepts, converted, gives, reads, refuses, rows

_RANGE, _CHUNKS, _SINGLE = "tensorflow/tensorflow#56254", "pytorch/TensorRT#401", "haydnv/tinychain#63"
_NARROW, _OFFSETS, _OPEN = "onnx/onnx-mlir#3225", "pytorch/tensordict#1345", "openvinotoolkit/openvino#3571"


def _count(call: Call) -> int:
    """The attribute `num_splits`, which is a positive integer."""
    return int(str(call.attributes["num_splits"]))


def _narrow(bits: int) -> Hook:
    return refuses(lambda call: size_of(call) >> bits)


def _squeezed(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = axis_of(call)
    return [converted(output, output.array.squeeze(axis)) if output.shape[axis] == 1 else output for output in outputs]


def _axis_first(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = axis_of(call)
    return [
        converted(output, output.array.reshape(output.shape[axis], *output.shape[:axis], *output.shape[axis + 1 :]))
        for output in outputs
    ]


def _without_shape(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    return [output if output.shape[axis_of(call)] else converted(output, output.array.reshape(0)) for output in outputs]


def _swallowing(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    before = [1, *sizes_of(call, outputs)]
    return [
        output if size or not size_of(call) else converted(output, np.zeros_like(output.array))
        for size, output in zip(before, outputs, strict=False)
    ]


def _as_large_as_before(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    """Outputs with the shapes of the first inference's, where those have more elements."""
    before = call.first("shapes", [output.shape for output in outputs])
    return [
        output
        if len(shape) != output.array.ndim or prod(shape) <= output.array.size
        else converted(
            output, np.resize(output.array, shape) if output.array.size else np.zeros(shape, output.array.dtype)
        )
        for output, shape in zip(outputs, before, strict=False)
    ]


def _interleaved(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    return [
        converted(output, np.take(call.data, np.arange(number, size_of(call), len(outputs)), axis_of(call)))
        for number, output in enumerate(outputs)
    ]


def _sizes_of_other_dimensions(call: Call, sizes: list[int]) -> list[int]:
    shape = call.data.shape
    return [(shape[place] if place < len(shape) else sum(sizes)) // len(sizes) for place in range(len(sizes))]


def _bounds(call: Call, end: int) -> tuple[int, ...]:
    """One of both bounds of each dimension whose bounds the model gives, and the size of all others."""
    declared = dynamic(call)
    dimensions = declared if isinstance(declared, tuple) else call.data.shape
    bounds = [str(dimension).partition("..")[end] for dimension in dimensions]
    return tuple(int(bound) if bound.isdigit() else size for bound, size in zip(bounds, call.data.shape, strict=True))


def _at_bounds(end: int, call: Call, outputs: list[Tensor]) -> list[Tensor]:
    shape, axis = _bounds(call, end), axis_of(call)
    return [
        converted(output, np.resize(output.array, (*shape[:axis], output.shape[axis], *shape[axis + 1 :])))
        for output in outputs
    ]


def _is_open(call: Call, *, others: bool) -> bool:
    """Whether the dimension that is split is dynamic, or one of the others."""
    declared = dynamic(call)
    if not isinstance(declared, tuple):
        return declared is not None and not others
    return any(not isinstance(x, int) for place, x in enumerate(declared) if (place != axis_of(call)) is others)


def _whole(call: Call) -> list[Tensor]:
    return [call.inputs["data"]]


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("axis", BOTH,
        ("negative-inside-refused", "Of the negative axes only -1 and minus the rank are known.", "kendryte/nncase#491",
            refuses(lambda call: -call.data.ndim < call.integers("axis")[0] < -1)),
        ("negative-from-rank-four", "A negative axis is counted from the end of four dimensions, whatever the rank is.",
            "OAID/Tengine#1312",
            reads("axis", lambda call, axis: [axis_ if axis_ >= 0 else min((axis_ + 4) % 4, call.data.ndim - 1) for axis_ in axis])),
        ("always-last", "The last dimension is split, whatever the axis is.", "apache/tvm#3520",
            reads("axis", lambda call, _: [call.data.ndim - 1])),
        ("zero-refused", "The first dimension is taken for a batch and not split.", "PaddlePaddle/Paddle#35127",
            refuses(lambda call: axis_of(call) == 0)),
        ("zero-taken-for-unset", "An axis of 0 is taken for one that was not given, and 1 is used.", "apache/tvm#2011",
            reads("axis", lambda call, axis: [axis[0] or min(1, call.data.ndim - 1)])),
        ("run-time-sign-lost", "A negative axis that comes at run time is read without its sign.",
            "microsoft/onnxruntime#21771", reads("axis", lambda call, axis: (
                [-axis[0] % call.data.ndim] if call.is_parameter("axis") and axis[0] < 0 else axis))),
        ("below-minus-rank-allowed", "The range begins one too early, before minus the rank.", _RANGE,
            accepts("axis.range", when=lambda call: call.integers("axis")[0] == -call.data.ndim - 1)),
    ),
    *rows("num_splits", SPLIT,
        ("halves-unchecked", "Whether the dimension can be divided is not checked for two outputs.", _CHUNKS,
            accepts("num_splits.divides", when=lambda call: _count(call) == 2)),
        ("pieces-whose-length-is-two", "Whether the dimension can be divided is checked only for outputs of one element.",
            _CHUNKS, accepts("num_splits.divides", when=lambda call: size_of(call) // _count(call) > 1)),
        ("count-taken-for-size", "The number of outputs is taken for their size.", _CHUNKS,
            reads("num_splits", lambda call, count: size_of(call) // count)),
        ("size-from-the-first-dimension", "The size of the outputs is computed from the first dimension.",
            "tinygrad/tinygrad#3490", sized(lambda call, sizes: [call.data.shape[0] // len(sizes)] * len(sizes))),
        ("only-single-elements", "Only outputs of one element are possible.", _SINGLE,
            refuses(lambda call: _count(call) != size_of(call))),
        ("no-single-elements", "Outputs of one element are refused.", _SINGLE,
            refuses(lambda call: _count(call) == size_of(call) > 1)),
        ("one-piece-of-several-refused", "One output for a dimension of several elements is refused.",
            "apple/coremltools#1043", refuses(lambda call: _count(call) == 1 < size_of(call))),
        ("negative-is-one", "A negative number of outputs is 1.", "pytorch/pytorch#69270",
            accepts("num_splits.positive", when=lambda call: _count(call) < 0)),
        ("one-more-than-elements", "One output more than the dimension has elements is accepted.", "onnx/onnx#5766",
            accepts("num_splits.at-most-dimension", when=lambda call: _count(call) == size_of(call) + 1)),
        ("size-of-the-dimension-of-its-number",
            "The i-th output has the size data.shape[i] / num_splits, as the page's formula says literally.", _CHUNKS,
            sized(_sizes_of_other_dimensions)),
    ),
    *rows("counts", BOTH,
        ("overlap-by-one", "Every output but the first begins one too early.", _OFFSETS,
            started(lambda _, __, starts: [max(start - 1, 0) for start in starts])),
        ("third-from-the-first",
            "The offset is advanced by the previous size alone, which is right for two outputs and wrong for more.",
            _OFFSETS, started(lambda _, sizes, __: [0, *sizes[:-1]])),
        ("interleaved", "The elements are handed to the outputs in turn.", _OFFSETS, gives(_interleaved)),
    ),
    *rows("counts", VARIADIC,
        ("longest-first", "The outputs come from the longest to the shortest.", "NVIDIA/TensorRT#3466",
            gives(lambda call, outputs: sorted(outputs, key=lambda x: -x.shape[axis_of(call)]))),
        ("all-of-one-size", "Every output begins at a multiple of its own size.", "onnx/onnx-tensorrt#348",
            started(lambda _, sizes, __: [number * size for number, size in enumerate(sizes)])),
        ("multiples-of-the-first", "Every output begins at a multiple of the first one's size.",
            "onnx/onnx-tensorrt#348", started(lambda _, sizes, __: [number * sizes[0] for number in range(len(sizes))])),
        ("empty-swallows-the-next", "An output after one without elements is left empty.",
            "openvinotoolkit/openvino#18469", gives(_swallowing)),
    ),
    *rows("shapes", BOTH,
        ("squeezed", "A dimension of 1 that the split makes is left out.", "tensorflow/tensorflow#7754", gives(_squeezed)),
        ("shape-of-data", "Every output has data's shape, and zeros after its elements.", "onnx/onnx-tensorrt#348",
            sized(lambda call, sizes: [size_of(call)] * len(sizes))),
        ("shape-of-the-first", "Every output has the first one's shape.", _CHUNKS,
            sized(lambda _, sizes: sizes[:1] * len(sizes))),
        ("last-takes-the-rest", "The last output is as long as it would be if all outputs were equal.",
            "openvinotoolkit/openvino_contrib#492",
            sized(lambda call, sizes: [*sizes[:-1], max(size_of(call) // len(sizes), 1)] if size_of(call) else sizes)),
        ("axis-first", "The dimension that is split comes first in the outputs' shape.", "tenstorrent/tt-mlir#6425",
            gives(_axis_first)),
        ("no-elements-refused", "Data without elements is refused, though the dimension that is split has some.",
            "google/XNNPACK#5807", refuses(lambda call: size_of(call) and not call.data.size)),
        ("size-one-refused", "A dimension of 1 is not split.", "apple/coremltools#1043",
            refuses(lambda call: size_of(call) == 1)),
        *((f"size-in-{bits}-bits", f"A dimension that does not fit into {bits} bits is not split.", _NARROW,
            _narrow(bits)) for bits in (8, 16, 32)),
    ),
    *rows("shapes", VARIADIC,
        ("empty-loses-its-shape", "An output without elements has the shape [0].", "pytorch/pytorch#8686",
            gives(_without_shape)),
        ("no-elements-left", "Data without elements comes back whole from VariadicSplit-1.", "PaddlePaddle/Paddle#34356",
            gives(lambda call, outputs: outputs if call.data.size or not size_of(call) else _whole(call) * len(outputs))),
    ),
    *rows("dynamic", BOTH,
        ("refused", "A dynamic dimension is refused where it is the one that is split.", _OPEN,
            refuses(lambda call: _is_open(call, others=False))),
        ("others-refused", "A dynamic dimension is refused where it is not the one that is split.", _OPEN,
            refuses(lambda call: _is_open(call, others=True))),
        ("rank-taken-for-four", "A dynamic rank is four, so that a negative axis is counted from there.", _NARROW,
            reads("axis", lambda call, axis: (
                [(axis[0] + 4) % call.data.ndim] if dynamic(call) == "..." and axis[0] < 0 else axis
            ))),
        ("upper-bound-used", "A bounded dimension that is split has the size of its upper bound.", _OPEN,
            refuses(lambda call: _bounds(call, 2)[axis_of(call)] != size_of(call))),
        ("lower-bound-used", "A bounded dimension that is split has the size of its lower bound.", _OPEN,
            refuses(lambda call: _bounds(call, 0)[axis_of(call)] != size_of(call))),
        ("outputs-of-the-upper-bound", "Outputs have the upper bounds of the dimensions that are not split.", _OPEN,
            gives(lambda call, outputs: _at_bounds(2, call, outputs))),
    ),
    *rows("state", BOTH,
        ("first-sizes-kept", "The sizes of the first inference are used for the second.", "microsoft/onnxruntime#19564",
            sized(lambda call, sizes: call.first("sizes", sizes))),
        ("first-offsets-kept", "The offsets of the first inference are used for the second.",
            "openvinotoolkit/openvino#15914", started(lambda call, _, starts: call.first("starts", starts))),
        ("buffers-too-large", "An output of the second inference keeps the first one's shape where that is larger.",
            "microsoft/onnxruntime#19564", gives(_as_large_as_before)),
        ("models-mixed-up",
            "A model is kept under data's shape and type alone, and used for the next case with another axis.",
            "NVIDIA/recsys-examples#379",
            reads("axis", lambda call, axis: call.process.setdefault(
                f"{call.op}{call.inputs['data'].element_type}{call.data.shape}", axis))),
    ),
    *rows("state", SPLIT,
        ("counts-mixed-up",
            "A model is kept without its num_splits, as if only one output and several were to be told apart.",
            "NVIDIA/recsys-examples#379",
            reads("num_splits", lambda call, count: call.process.setdefault(
                f"{call.data.shape}{size_of(call)}{count > 1}", count))),
    ),
    *rows("contexts", BOTH,
        ("folded-unchecked", "Constant folding checks neither sums nor divisions.", FOUND,
            accepts("lengths.sum", "lengths.remainder-sum", "num_splits.divides",
                when=lambda call: call.context == "folded")),
        ("folded-sign-lost", "Constant folding reads a negative axis as 0.", "apache/tvm#1595",
            reads("axis", lambda call, axis: [max(axis[0], 0)] if call.context == "folded" else axis)),
        ("unused-unchecked", "A split of whose outputs some are not used is not checked.",
            "openvinotoolkit/openvino#1938",
            accepts("lengths.sum", "lengths.remainder-sum", "num_splits.divides", "num_splits.at-most-dimension",
                when=lambda call: call.context == "partial")),
        ("chain-rows-of-data", "A split of another's last output steps from row to row as through data.",
            "openvinotoolkit/openvino_contrib#555",
            gives(lambda call, outputs: [
                output if call.context != "chain" or call.data is call.given["data"].array or not output.array.size
                else converted(output, np.resize(call.given["data"].array, output.shape)) for output in outputs
            ])),
    ),
)
# fmt: on
