"""Mutants that give their outputs a wrong shape, or know too few shapes of data."""

import numpy as np

from opconform.tensors import Array, Tensor
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse


@mutant("tensorflow/tensorflow#7754")
class Squeezed(Kernel):
    """A dimension of 1 that the split makes is left out."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [each.squeeze(axis) if each.shape[axis] == 1 else each for each in pieces]


@mutant("openvinotoolkit/openvino_contrib#555")
class LeadingOnesLost(Kernel):
    """Dimensions of 1 at the front are left out."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        shape = super().shape(call, axis, size)
        while len(shape) > 1 and shape[0] == 1:
            shape = shape[1:]
        return shape


@mutant("PaddlePaddle/Paddle#35127")
class AlwaysFour(Kernel):
    """Outputs of fewer than four dimensions come back with four."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        shape = super().shape(call, axis, size)
        return (*(1,) * (4 - len(shape)), *shape)


@mutant("robertknight/rten#746")
class AtMostFour(Kernel):
    """Data of over four dimensions is refused."""

    def dimension(self, call: Call, axis: int) -> int:
        if call.data.ndim > 4:  # noqa: PLR2004 - the limit
            refuse("there are over four dimensions")
        return super().dimension(call, axis)


@mutant("apache/tvm#3520")
class AtMostSix(Kernel):
    """Of data of over six dimensions the leading ones are joined."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        shape = super().shape(call, axis, size)
        extra = max(len(shape) - 6, 0)
        return (int(np.prod(shape[: extra + 1])), *shape[extra + 1 :])


@mutant("apache/tvm#3520")
class Flat(Kernel):
    """Every output has one dimension."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        return (int(np.prod(super().shape(call, axis, size))),)


@mutant("onnx/onnx-tensorrt#348")
class ShapeOfData(Kernel):
    """Every output has data's shape, and zeros after its elements."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        return tuple(call.data.shape)

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        return super().copied(call, rows, start, rows.shape[1])


@mutant("pytorch/TensorRT#401")
class ShapeOfTheFirst(Kernel):
    """Every output has the first one's shape."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        sizes = super().resolved(call, lengths, size)
        return sizes[:1] * len(sizes)


@mutant("openvinotoolkit/openvino_contrib#492")
class LastTakesTheRest(Kernel):
    """The last output is as long as it would be if all pieces were equal."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        sizes = super().resolved(call, lengths, size)
        return [*sizes[:-1], max(size // len(sizes), 1)] if size else sizes


@mutant("tenstorrent/tt-mlir#6425")
class AxisFirst(Kernel):
    """The dimension that is split comes first in the outputs' shape."""

    def shape(self, call: Call, axis: int, size: int) -> tuple[int, ...]:
        return (size, *call.data.shape[:axis], *call.data.shape[axis + 1 :])


@mutant("tenstorrent/tt-mlir#6425")
class Transposed(Kernel):
    """Outputs of two dimensions come back transposed."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [np.ascontiguousarray(each.T) if each.ndim == 2 else each for each in pieces]  # noqa: PLR2004 - a matrix


@mutant("pytorch/pytorch#8686")
class EmptyLosesItsShape(Kernel):
    """An output without elements has the shape [0]."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [each if each.shape[axis] else each.reshape(0) for each in pieces]


@mutant("google/XNNPACK#5807")
class NoElementsRefused(Kernel):
    """Data without elements is refused, though the dimension that is split has some."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if size and not call.data.size:
            refuse("there are no elements")
        super().check_sum(call, lengths, size)


@mutant("tensorflow/tfjs-core#1759", "interpretation")
class NoElementsRefusedEvenly(Kernel):
    """Data without elements is not split evenly, though the dimension that is split has some."""

    def check_divides(self, count: int, size: int) -> None:
        super().check_divides(count, size)

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        return super().even_sizes(call, count, size) if call.data.size or not size else refuse("there are no elements")


@mutant("PaddlePaddle/Paddle#34356")
class NoElementsLeft(Kernel):
    """Data without elements comes back whole from VariadicSplit-1."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces if call.data.size or call.even or not call.data.shape[axis] else [call.data] * len(pieces)


@mutant("microsoft/onnxruntime#4559")
class MissingDataIsEmpty(Kernel):
    """Data that is left out is a tensor without elements."""

    def outputs(self, call: Call) -> list[Array]:
        return super().outputs(call) if "data" in call.inputs else [np.zeros(0, np.float32)]

    def element_type(self, call: Call) -> str:
        return call.element_type if "data" in call.inputs else "f32"


@mutant("apple/coremltools#1043")
class SizeOneRefused(Kernel):
    """A dimension of 1 is not split."""

    def dimension(self, call: Call, axis: int) -> int:
        size = super().dimension(call, axis)
        return size if size != 1 else refuse("the dimension is 1")


@mutant("onnx/onnx-mlir#3225")
class SizeIn16Bits(Kernel):
    """The size of the dimension is cut to 16 bits."""

    def dimension(self, call: Call, axis: int) -> int:
        return super().dimension(call, axis) & 0xFFFF


@mutant("onnx/onnx-mlir#3225")
class SizeIn32Bits(Kernel):
    """The size of the dimension is cut to 32 bits."""

    def dimension(self, call: Call, axis: int) -> int:
        return super().dimension(call, axis) & 0xFFFFFFFF


@mutant("onnx/onnx-mlir#3225")
class SizeIn8Bits(Kernel):
    """The size of the dimension is cut to 8 bits."""

    def dimension(self, call: Call, axis: int) -> int:
        return super().dimension(call, axis) & 0xFF


@mutant("robertknight/rten#746")
class VectorRefused(Kernel):
    """Data of rank 1 is refused."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        if call.data.ndim == 1:
            refuse("data has one dimension")
        return super().axis_value(call, tensor)
