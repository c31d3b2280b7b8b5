"""Mutants that hand out too many outputs, too few, or in another order."""

import numpy as np

from opconform.tensors import Array
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse


@mutant("openvinotoolkit/openvino#33216")
class OnlyTheFirst(Kernel):
    """Only the first output is handed out."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces[:1]


@mutant("openvinotoolkit/openvino#14104")
class LastMissing(Kernel):
    """The last output is left out."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces[:-1] if len(pieces) > 1 else pieces


@mutant("openvinotoolkit/openvino#1938")
class OneTooMany(Kernel):
    """An output without elements follows the last one."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [*pieces, pieces[-1].take([], axis)]


@mutant("tensorflow/java#45")
class AtMostEight(Kernel):
    """Over eight outputs are refused."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces if len(pieces) <= 8 else refuse("there are over eight outputs")  # noqa: PLR2004 - the limit


@mutant("openvinotoolkit/openvino#24288")
class AtMost64(Kernel):
    """The outputs after the 64th are left out."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces[:64]


@mutant("openvinotoolkit/openvino#24288")
class NumberIn8Bits(Kernel):
    """The number of an output is cut to 8 bits, so that the 257th is the first again."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [pieces[number & 255] for number in range(len(pieces))]


@mutant("openvinotoolkit/openvino#14104")
class Backwards(Kernel):
    """The outputs come from the last to the first."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces[::-1]


@mutant("NVIDIA/TensorRT#3424")
class ThreeBackwards(Kernel):
    """Of three outputs the first and the last are exchanged."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces[::-1] if len(pieces) == 3 else pieces  # noqa: PLR2004 - three


@mutant("openvinotoolkit/openvino#33216")
class FirstTwoExchanged(Kernel):
    """The first two outputs are exchanged."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [pieces[1], pieces[0], *pieces[2:]] if len(pieces) > 1 else pieces


@mutant("openvinotoolkit/openvino#33216")
class LastFirst(Kernel):
    """The last output comes first."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [pieces[-1], *pieces[:-1]]


@mutant("PINTO0309/onnx2tf#588")
class InOrderOfNames(Kernel):
    """The outputs come in the order of their names, so that output_10 follows output_1."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return [pieces[number] for number in sorted(range(len(pieces)), key=str)]


@mutant("NVIDIA/TensorRT#3466")
class LongestFirst(Kernel):
    """The outputs come from the longest to the shortest."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return sorted(pieces, key=lambda each: -each.shape[axis])


@mutant("openvinotoolkit/openvino#18469")
class AllReadTheFirst(Kernel):
    """Every output reads from the beginning."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [0] * len(sizes)


@mutant("onnx/onnx-tensorrt#348")
class AllOfOneSize(Kernel):
    """Every output begins at a multiple of its own size."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [number * size for number, size in enumerate(sizes)]


@mutant("onnx/onnx-tensorrt#348")
class MultiplesOfTheFirst(Kernel):
    """Every output begins at a multiple of the first one's size."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [number * sizes[0] for number in range(len(sizes))]


@mutant("pytorch/tensordict#1345")
class OverlapByOne(Kernel):
    """Every output but the first begins one too early."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [max(each - 1, 0) for each in super().offsets(call, sizes)]


@mutant("pytorch/tensordict#1345")
class ThirdFromTheFirst(Kernel):
    """The offset is advanced by the previous size alone, which is right for two outputs and wrong from the third on."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return [0, *sizes[:-1]]


@mutant("pytorch/tensordict#1345")
class Interleaved(Kernel):
    """The elements are dealt out in turn, as cards are."""

    def piece(self, call: Call, axis: int, start: int, size: int) -> Array:
        whole = call.data.shape[axis]
        step = max(whole // size, 1) if size else 1
        dealt = (start // max(size, 1) + np.arange(size) * step) % max(whole, 1)
        return np.take(call.data, dealt, axis) if whole else super().piece(call, axis, start, size)


@mutant("openvinotoolkit/openvino#18469")
class EmptySwallowsTheNext(Kernel):
    """An output after one without elements is left empty."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        sizes = [1, *(each.shape[axis] for each in pieces[:-1])]
        whole = call.data.shape[axis]
        return [
            np.zeros_like(each) if not before and whole else each for before, each in zip(sizes, pieces, strict=True)
        ]
