"""Mutants that are right for the operation alone, and wrong for the graph around it."""

from dataclasses import replace

import numpy as np

from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Rejected
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import Call, Kernel


@mutant("onnx/onnx-tensorrt#348")
class FoldedBackwards(Kernel):
    """Constant folding hands out the outputs from the last to the first."""

    def folded(self, call: Call) -> list[Array]:
        return super().folded(call)[::-1]


@mutant("pytorch/TensorRT#1272")
class FoldedThroughF32(Kernel):
    """Constant folding goes through f32."""

    def folded(self, call: Call) -> list[Array]:
        kind = ELEMENT_TYPES[call.element_type]
        pieces = super().folded(call)
        if kind.kind not in ("float", "signed", "unsigned") or kind.native is None or kind.bits < 16:  # noqa: PLR2004
            return pieces
        with np.errstate(all="ignore"):
            return [each.view(kind.native).astype("f4").astype(kind.native).view(each.dtype) for each in pieces]


@mutant(FOUND)
class FoldedUnchecked(Kernel):
    """Constant folding checks neither sums nor divisions."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if call.case.context != "folded":
            super().check_sum(call, lengths, size)

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if call.case.context != "folded":
            super().check_num_splits(call, count, size)


@mutant("apache/tvm#1595")
class FoldedSignLost(Kernel):
    """Constant folding reads a negative axis as 0."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        value = super().axis_value(call, tensor)
        return max(value, 0) if call.case.context == "folded" and value >= -call.data.ndim else value


@mutant("tensorflow/tensorflow#7754")
class FoldedTextsLost(Kernel):
    """Constant folding hands out empty strings."""

    def folded(self, call: Call) -> list[Array]:
        pieces = super().folded(call)
        return [np.zeros_like(each) for each in pieces] if call.element_type == "string" else pieces


@mutant("facebookincubator/AITemplate#740")
class ConcatRemovedUnchecked(Kernel):
    """A split whose outputs are joined again is removed before it is checked."""

    def rejoined(self, call: Call) -> Array:
        return call.data


@mutant("facebookincubator/AITemplate#740")
class ConcatSwapsTwo(Kernel):
    """A split whose outputs are joined again hands its first two over in the wrong order."""

    def rejoined(self, call: Call) -> Array:
        first, *others = self.split(call)
        return np.concatenate([*others[:1], first, *others[1:]], self.axis(call))


@mutant("facebookincubator/AITemplate#740")
class ConcatAlongTheLast(Kernel):
    """Outputs that are joined again are joined in memory, one after the other."""

    def rejoined(self, call: Call) -> Array:
        pieces = self.split(call)
        return np.concatenate([each.reshape(-1) for each in pieces]).reshape(call.data.shape)


@mutant("openvinotoolkit/openvino#29504")
class JoinTakenForConcat(Kernel):
    """Outputs that are joined along another axis are taken for data."""

    def shared(self, call: Call) -> list[Array]:
        *pieces, joined = super().shared(call)
        return [*pieces, call.data.reshape(joined.shape) if joined.size == call.data.size else joined]


@mutant("onnx/optimizer#103")
class SharedOverwritten(Kernel):
    """An output that is used twice is overwritten by its first user."""

    def shared(self, call: Call) -> list[Array]:
        *pieces, joined = super().shared(call)
        return [*pieces[:-1], np.zeros_like(pieces[-1]), joined]


@mutant("onnx/optimizer#103")
class SharedOnce(Kernel):
    """An output that is used twice is handed to its last user alone."""

    def shared(self, call: Call) -> list[Array]:
        *pieces, joined = super().shared(call)
        return [*pieces[:-1], joined]


@mutant("robertknight/rten#746")
class SharedRefused(Kernel):
    """An output that is used twice is refused."""

    def shared(self, call: Call) -> list[Array]:
        raise Rejected("build", "a node has two consumers")


@mutant("openvinotoolkit/openvino#1938")
class UnusedMoveUp(Kernel):
    """Outputs that are not used are removed, and the others move to their places."""

    def used(self, pieces: list[Array]) -> list[Array]:
        return pieces[: len(pieces[1::2])]


@mutant("apple/coreai-torch#68")
class UnusedRefused(Kernel):
    """A split of whose outputs some are not used is refused."""

    def used(self, pieces: list[Array]) -> list[Array]:
        raise Rejected("build", "an output has no consumer")


@mutant("openvinotoolkit/openvino#1938")
class UnusedUnchecked(Kernel):
    """A split of whose outputs some are not used is not checked."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if call.case.context != "partial":
            super().check_sum(call, lengths, size)

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if call.case.context != "partial":
            super().check_num_splits(call, count, size)


@mutant("openvinotoolkit/openvino_contrib#555")
class ChainReadsTheFirst(Kernel):
    """A split of another's last output reads its first."""

    def second_link(self, call: Call, last: Array) -> Call:
        rows = np.moveaxis(call.data, self.axis(call), 0)[: last.shape[self.axis(call)]]
        first = np.ascontiguousarray(np.moveaxis(rows, 0, self.axis(call)))
        return super().second_link(call, first)


@mutant("openvinotoolkit/openvino_contrib#555")
class ChainRefused(Kernel):
    """A split of another's output is refused."""

    def second_link(self, call: Call, last: Array) -> Call:
        raise Rejected("build", "a node has more than one output")


@mutant("openvinotoolkit/openvino_contrib#555")
class ChainRowsOfData(Kernel):
    """A split of another's last output steps from row to row as through data."""

    def second_link(self, call: Call, last: Array) -> Call:
        flat = np.resize(call.data.reshape(-1)[-last.size :] if last.size else last, last.shape)
        return super().second_link(call, flat)


@mutant("facebookincubator/AITemplate#740")
class ChainOnce(Kernel):
    """Two splits in a row are taken for one."""

    def chained(self, call: Call) -> list[Array]:
        bare = replace(call, case=replace(call.case, context="bare"))
        return self.split(bare)


@mutant("NVIDIA/TensorRT#3424")
class ConcatOfSeveralSwaps(Kernel):
    """Of more than three outputs that are joined again the last two are exchanged."""

    def rejoined(self, call: Call) -> Array:
        pieces = self.split(call)
        if len(pieces) > 3:  # noqa: PLR2004 - more than three
            pieces[-2:] = pieces[-2:][::-1]
        return np.concatenate(pieces, self.axis(call))
