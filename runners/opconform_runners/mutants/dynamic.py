"""Mutants that take dimensions which are open in the IR for something else than the tensor's own."""

import numpy as np

from opconform.tensors import Array
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse


def bounds_of(call: Call) -> list[tuple[int, int]]:
    """The bounds of each dimension whose bounds the IR gives, and the tensor's own size for the others."""
    declared = call.dynamic if isinstance(call.dynamic, tuple) else call.data.shape
    found = []
    for each, size in zip(declared, call.data.shape, strict=False):
        low, _, high = str(each).partition("..")
        found.append((int(low), int(high)) if high else (size, size))
    return found


@mutant("openvinotoolkit/openvino#3571")
class Refused(Kernel):
    """An open dimension is refused where it is the one that is split."""

    def dimension(self, call: Call, axis: int) -> int:
        if call.dynamic == "..." or (call.dynamic is not None and not isinstance(call.dynamic[axis], int)):
            refuse("the dimension is dynamic")
        return super().dimension(call, axis)


@mutant("openvinotoolkit/openvino#3571")
class OthersRefused(Kernel):
    """An open dimension is refused where it is not the one that is split."""

    def dimension(self, call: Call, axis: int) -> int:
        others = [each for place, each in enumerate(call.dynamic or ()) if place != axis]
        if call.dynamic != "..." and any(not isinstance(each, int) for each in others):
            refuse("a dimension is dynamic")
        return super().dimension(call, axis)


@mutant("onnx/onnx-mlir#3225")
class RankRefused(Kernel):
    """An open rank is refused."""

    def dimension(self, call: Call, axis: int) -> int:
        if call.dynamic == "...":
            refuse("the rank is dynamic")
        return super().dimension(call, axis)


@mutant("onnx/onnx-mlir#3225")
class RankTakenForFour(Kernel):
    """An open rank is four, so that a negative axis is counted from there."""

    def from_front(self, value: int, rank: int) -> int:
        return value if value >= 0 else value % rank

    def axis(self, call: Call) -> int:
        axis = super().axis(call)
        negative = call.inputs["axis"].integers()[0] < 0
        return (axis + 4 - call.data.ndim) % call.data.ndim if negative and call.dynamic == "..." else axis


@mutant("openvinotoolkit/openvino#3571")
class UpperBoundUsed(Kernel):
    """A bounded dimension has the size of its upper bound."""

    def dimension(self, call: Call, axis: int) -> int:
        return bounds_of(call)[axis][1]


@mutant("openvinotoolkit/openvino#3571")
class LowerBoundUsed(Kernel):
    """A bounded dimension has the size of its lower bound."""

    def dimension(self, call: Call, axis: int) -> int:
        return bounds_of(call)[axis][0]


@mutant("openvinotoolkit/openvino#3571")
class OutputsOfTheUpperBound(Kernel):
    """Outputs have the upper bounds of the dimensions that are not split."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        upper = [high for _, high in bounds_of(call)]
        wanted = [
            tuple(high if place != axis else each.shape[axis] for place, high in enumerate(upper)) for each in pieces
        ]
        return [
            each if each.shape == shape else np.resize(each, shape) for each, shape in zip(pieces, wanted, strict=True)
        ]


@mutant("openvinotoolkit/openvino#3571")
class Unchecked(Kernel):
    """Nothing is checked where a dimension is open, since the checks belong to the build."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if call.dynamic is None:
            super().check_axis_range(call, value, rank)

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if call.dynamic is None:
            super().check_num_splits(call, count, size)

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        if call.dynamic is None:
            super().check_lengths(call, lengths, size)


@mutant("openvinotoolkit/openvino#3571")
class AxisUnchecked(Kernel):
    """The axis's range is not checked where a dimension is open."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if call.dynamic is None:
            super().check_axis_range(call, value, rank)


@mutant("openvinotoolkit/openvino#3571")
class DivisionUnchecked(Kernel):
    """Whether num_splits divides the dimension is not checked where the dimension is open."""

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if call.dynamic is None or count > size or count < 1:
            super().check_num_splits(call, count, size)


@mutant("openvinotoolkit/openvino#3571")
class SumUnchecked(Kernel):
    """The sum of the lengths is not checked where the dimension is open."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if call.dynamic is None:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#52701")
class RemainderUnchecked(Kernel):
    """With a -1 the other lengths are not checked where the dimension is open."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if call.dynamic is None or -1 not in lengths:
            super().check_sum(call, lengths, size)


@mutant("openvinotoolkit/openvino_contrib#492")
class RemainderRefused(Kernel):
    """A -1 is refused where the dimension is open."""

    def check_single(self, lengths: list[int]) -> None:
        super().check_single(lengths)

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        super().check_lengths(call, lengths, size)
        if -1 in lengths and call.dynamic is not None:
            refuse("-1 of a dynamic dimension is not known")


@mutant("google-ai-edge/LiteRT#7742")
class RunTimeLengthsRefused(Kernel):
    """Lengths that come at run time are refused."""

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        if call.comes_at_run_time("split_lengths"):
            refuse("the lengths are no constant")
        super().check_lengths(call, lengths, size)


@mutant("apache/tvm#5330")
class RunTimeAxisRefused(Kernel):
    """An axis that comes at run time is refused."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if call.comes_at_run_time("axis"):
            refuse("the axis is no constant")
        super().check_axis_range(call, value, rank)


@mutant("apache/tvm#5330")
class RunTimeLengthsAsIfEqual(Kernel):
    """Lengths that come at run time only count the outputs, which are equal."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        count = len(lengths)
        if call.comes_at_run_time("split_lengths") and size % count == 0:
            return [size // count] * count
        return super().resolved(call, lengths, size)


@mutant("microsoft/onnxruntime#31149")
class RunTimeNegativeUnchecked(Kernel):
    """A length under -1 is refused only if it is a constant."""

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        if call.comes_at_run_time("split_lengths") and min(lengths, default=0) < -1:
            self.check_sum(call, lengths, size)
        else:
            super().check_lengths(call, lengths, size)


@mutant("tensorflow/tensorflow#56254")
class RunTimeAxisUnchecked(Kernel):
    """The axis's range is checked only if it is a constant."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not call.comes_at_run_time("axis"):
            super().check_axis_range(call, value, rank)
