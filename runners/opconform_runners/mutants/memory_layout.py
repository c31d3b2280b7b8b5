"""Mutants that compute addresses wrongly: strides, blocks, tails, narrow offsets."""

import numpy as np

from opconform.tensors import Array
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel


class _Tail(Kernel):
    """Copies a piece in whole vectors and forgets what is left."""

    width: int

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        flat = super().copied(call, rows, start, size).reshape(rows.shape[0], -1).copy()
        whole = flat.shape[1] // self.width * self.width
        if whole:
            flat[:, whole:] = flat.dtype.type()
        return flat.reshape(rows.shape[0], size, rows.shape[2])


@mutant("webonnx/wonnx#115")
class TailOfFourLost(_Tail):
    """What is left after whole vectors of four is not copied."""

    width = 4


@mutant("webonnx/wonnx#115")
class TailOfSixteenLost(_Tail):
    """What is left after whole vectors of sixteen is not copied."""

    width = 16


@mutant("webonnx/wonnx#115")
class TailOfWorkGroupLost(_Tail):
    """What is left after whole work groups of 256 is not copied."""

    width = 256


class _Block(Kernel):
    """Reads along the axis in blocks, and from the beginning of a block only."""

    block: int

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        whole = sum(sizes)
        starts = super().offsets(call, sizes)
        return starts if whole <= self.block else [each - each % self.block for each in starts]


@mutant("alibaba/MNN#2967")
class BlocksOfFour(_Block):
    """A piece that begins inside a block of four channels begins at the block instead."""

    block = 4


@mutant("alibaba/MNN#2967")
class BlocksOfSixteen(_Block):
    """A piece that begins inside a block of sixteen channels begins at the block instead."""

    block = 16


@mutant("alibaba/MNN#2967")
class BlocksOf64(_Block):
    """A piece that begins inside a block of 64 channels begins at the block instead."""

    block = 64


@mutant("openvinotoolkit/openvino#18469")
class OnlyTheFirstBatch(Kernel):
    """Every row before the axis reads the first one."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        copied = super().copied(call, rows, start, size)
        return np.repeat(copied[:1], rows.shape[0], 0)


@mutant("pytorch/tensordict#1345")
class SecondBatchLost(Kernel):
    """Only the first 16 rows before the axis are copied."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        copied = super().copied(call, rows, start, size).copy()
        copied[16:] = copied.dtype.type()
        return copied


@mutant("pytorch/tensordict#1345")
class OneRun(Kernel):
    """A piece is one run of memory, which is right for the first dimension alone."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        outer, whole, inner = rows.shape
        count = outer * size * inner
        first = start * outer * inner if whole else 0
        return rows.reshape(-1)[first : first + count].reshape(outer, size, inner)


@mutant("pytorch/tensordict#1345")
class InnerSizeIgnored(Kernel):
    """An offset is not multiplied by the sizes after the axis."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        outer, whole, inner = rows.shape
        flat = rows.reshape(outer, whole * inner)
        return flat[:, start : start + size * inner].reshape(outer, size, inner)


@mutant("openvinotoolkit/openvino#15914")
class InnerAndOuterExchanged(Kernel):
    """The sizes before and after the axis are exchanged."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        outer, whole, inner = rows.shape
        exchanged = super().copied(call, rows.reshape(inner, whole, outer), start, size)
        return exchanged.reshape(outer, size, inner)


@mutant("openvinotoolkit/openvino#15914")
class ColumnMajor(Kernel):
    """Data is read as if the first dimension were the innermost."""

    def rows(self, call: Call, axis: int) -> Array:
        rows = super().rows(call, axis)
        return rows.reshape(-1, order="F").reshape(rows.shape)


@mutant("microsoft/onnxruntime#32551")
class OffsetIn16Bits(Kernel):
    """An offset in elements is cut to 16 bits."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        outer, whole, inner = rows.shape
        first = (start * inner) & 0xFFFF
        flat = rows.reshape(outer, whole * inner)
        return flat[:, first : first + size * inner].reshape(outer, size, inner)


@mutant("microsoft/onnxruntime#32551")
class OffsetIn8Bits(Kernel):
    """An offset along the axis is cut to 8 bits."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [each & 0xFF for each in super().offsets(call, sizes)]


@mutant("microsoft/onnxruntime#32551")
class OffsetSignedIn8Bits(Kernel):
    """An offset along the axis is cut to 8 bits with a sign."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [each if each < 128 else 0 for each in super().offsets(call, sizes)]  # noqa: PLR2004 - the first negative


@mutant("microsoft/onnxruntime#32551")
class PieceSizeIn16Bits(Kernel):
    """Of a piece of over 65,535 elements the rest is not copied."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        flat = super().copied(call, rows, start, size).reshape(-1).copy()
        flat[1 << 16 :] = flat.dtype.type()
        return flat.reshape(rows.shape[0], size, rows.shape[2])


@mutant("webonnx/wonnx#115")
class LongRowsCut(Kernel):
    """Of a run of over 1,024 elements the rest is not copied."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        flat = super().copied(call, rows, start, size).reshape(rows.shape[0], -1).copy()
        flat[:, 1 << 10 :] = flat.dtype.type()
        return flat.reshape(rows.shape[0], size, rows.shape[2])


@mutant("webonnx/wonnx#115")
class WideRowsCut(Kernel):
    """Of over 64 elements after the axis the rest is not copied."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        copied = super().copied(call, rows, start, size).copy()
        copied[:, :, 64:] = copied.dtype.type()
        return copied


@mutant("alibaba/MNN#2967")
class LastElementLost(Kernel):
    """The last element of data is not copied."""

    def rows(self, call: Call, axis: int) -> Array:
        rows = super().rows(call, axis).copy()
        rows.reshape(-1)[-1:] = rows.dtype.type()
        return rows


@mutant("alibaba/MNN#2967")
class LastRowRepeated(Kernel):
    """The last row of a piece is the one before it, where there are over eight."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        copied = super().copied(call, rows, start, size).copy()
        if size > 8:  # noqa: PLR2004 - a vector
            copied[:, -1] = copied[:, -2]
        return copied


@mutant("apache/tvm#3520")
class RankFiveExchanged(Kernel):
    """Of data of over four dimensions the first two are exchanged."""

    def piece(self, call: Call, axis: int, start: int, size: int) -> Array:
        piece = super().piece(call, axis, start, size)
        return np.ascontiguousarray(piece.swapaxes(0, 1)).reshape(piece.shape) if piece.ndim > 4 else piece  # noqa: PLR2004
