"""Mutants that keep from one call what belongs to another."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from opconform.case import Case
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Inputs, Outputs, Rejected
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import REMAINDER, Call, Kernel, refuse

T = TypeVar("T")


class _Remembering(Kernel):
    """Keeps something of a model's first inference."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def kept(self, call: Call, name: str, value: T) -> T:
        """A value of the first inference as it is, and in the second the first one's."""
        if not call.feed:
            self._kept[name] = value
        found: T = self._kept.get(name, value)
        return found

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:
        self._kept.clear()
        return super().run(case, model, feeds)


@mutant("microsoft/onnxruntime#19564")
class FirstSizesKept(_Remembering):
    """The sizes of the first inference are used for the second."""

    def sizes(self, call: Call, size: int) -> list[int]:
        return self.kept(call, "sizes", super().sizes(call, size))


@mutant("microsoft/onnxruntime#19564")
class FirstRemainderKept(_Remembering):
    """What -1 stands for is computed in the first inference only."""

    def remainder(self, call: Call, lengths: list[int], size: int) -> int:
        return self.kept(call, "remainder", super().remainder(call, lengths, size))


@mutant("openvinotoolkit/openvino#15914")
class FirstLengthsKept(_Remembering):
    """The lengths of the first inference are used for the second."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return self.kept(call, "lengths", super().lengths_values(call, tensor))


@mutant("openvinotoolkit/openvino#15914")
class FirstAxisKept(_Remembering):
    """The axis of the first inference is used for the second, once that one's was checked."""

    def axis(self, call: Call) -> int:
        return self.kept(call, "axis", super().axis(call))


@mutant("openvinotoolkit/openvino#15914")
class FirstOffsetsKept(_Remembering):
    """The offsets of the first inference are used for the second."""

    def offsets(self, call: Call, sizes: list[int]) -> list[int]:
        return self.kept(call, "offsets", super().offsets(call, sizes))


@mutant("microsoft/onnxruntime#19564")
class FirstOutputsKept(_Remembering):
    """The second inference hands out the first one's outputs where the shape of data is the same."""

    def outputs(self, call: Call) -> list[Array]:
        key = str(call.data.shape) if "data" in call.inputs else ""
        return self.kept(call, key, super().outputs(call))


@mutant("microsoft/onnxruntime#19564")
class BuffersReused(_Remembering):
    """The second inference overwrites the first one's outputs."""

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:
        outputs = super().run(case, model, feeds)
        return [outputs[-1]] * len(outputs)


@mutant("microsoft/onnxruntime#19564")
class BuffersTooLarge(_Remembering):
    """An output of the second inference keeps the first one's shape where that is larger."""

    def piece(self, call: Call, axis: int, start: int, size: int) -> Array:
        piece = super().piece(call, axis, start, size)
        before = self._kept.get(f"{start}") if call.feed else None
        self._kept[f"{start}"] = piece.shape
        if not isinstance(before, tuple) or len(before) != piece.ndim or int(np.prod(before)) <= piece.size:
            return piece
        return np.resize(piece, before) if piece.size else np.zeros(before, piece.dtype)


@mutant("openvinotoolkit/openvino#15914")
class OutputsPileUp(_Remembering):
    """The second inference hands out the first one's outputs before its own."""

    def outputs(self, call: Call) -> list[Array]:
        outputs = [*self._kept.get("outputs", []), *super().outputs(call)]
        self._kept["outputs"] = outputs
        return outputs


@mutant("microsoft/onnxruntime#19564")
class SecondUnchecked(Kernel):
    """Only the first inference checks its inputs."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if not call.feed:
            super().check_sum(call, lengths, size)

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not call.feed:
            super().check_axis_range(call, value, rank)

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if not call.feed:
            super().check_num_splits(call, count, size)


@mutant("microsoft/onnxruntime#19564")
class SecondSumUnchecked(Kernel):
    """The sum of the lengths is checked in the first inference only."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if not call.feed:
            super().check_sum(call, lengths, size)


@mutant("microsoft/onnxruntime#19564")
class SecondDivisionUnchecked(Kernel):
    """Whether num_splits divides the dimension is checked in the first inference only."""

    def check_num_splits(self, call: Call, count: int, size: int) -> None:
        if not call.feed:
            super().check_num_splits(call, count, size)


@mutant("openvinotoolkit/openvino#15914")
class RefusalIsForever(_Remembering):
    """After a refusal the next case is refused too."""

    def __init__(self) -> None:
        super().__init__()
        self._refused = False

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:
        refused, self._refused = self._refused, False
        try:
            outputs = super().run(case, model, feeds)
        except Rejected:
            self._refused = not refused
            raise
        if refused:
            raise Rejected("build", "the device is in a bad state")
        return outputs


@mutant("NVIDIA/recsys-examples#379")
class ModelsMixedUp(Kernel):
    """A model is kept under data's shape and type alone, and used for the next case with another axis."""

    def __init__(self) -> None:
        self._models: dict[str, int] = {}

    def axis(self, call: Call) -> int:
        key = f"{call.case.op}{call.element_type}{call.data.shape}"
        return self._models.setdefault(key, super().axis(call))


@mutant("NVIDIA/recsys-examples#379")
class LengthsMixedUp(Kernel):
    """A model is kept without its lengths, and used for the next case with as many."""

    def __init__(self) -> None:
        self._models: dict[str, list[int]] = {}

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        sizes = super().resolved(call, lengths, size)
        return self._models.setdefault(f"{call.data.shape}{size}{len(lengths)}", sizes)


@mutant("NVIDIA/recsys-examples#379")
class CountsMixedUp(Kernel):
    """A model is kept without its num_splits, as if only one piece and several were to be told apart."""

    def __init__(self) -> None:
        self._models: dict[str, list[int]] = {}

    def even_sizes(self, call: Call, count: int, size: int) -> list[int]:
        sizes = super().even_sizes(call, count, size)
        return self._models.setdefault(f"{call.data.shape}{size}{count > 1}", sizes)


@mutant("microsoft/onnxruntime#19564")
class RemainderWrittenBack(_Remembering):
    """What -1 stood for in the first inference is written over it, so that the second finds no -1."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if REMAINDER in lengths and not call.comes_at_run_time("split_lengths"):
            before = self.kept(call, "size", size)
            if before != size:
                self.wrong_sum(call, 0, size)
        super().check_sum(call, lengths, size)


@mutant("microsoft/onnxruntime#19564")
class SecondAxisUnchecked(Kernel):
    """The axis's range is checked in the first inference only."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not call.feed:
            super().check_axis_range(call, value, rank)


@mutant("microsoft/onnxruntime#19564")
class FirstDataKept(_Remembering):
    """Data is copied again only where its shape has changed."""

    def rows(self, call: Call, axis: int) -> Array:
        rows = super().rows(call, axis)
        return self.kept(call, str((axis, rows.shape)), rows)


@mutant("openvinotoolkit/openvino#15914")
class CheckedForTheFirstShape(_Remembering):
    """The lengths are checked against the dimension of the first inference."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        super().check_sum(call, lengths, self.kept(call, "size", size))


@mutant("openvinotoolkit/openvino#15914")
class FirstSumKept(_Remembering):
    """The sum of the lengths is formed in the first inference only."""

    def total(self, call: Call, lengths: list[int]) -> int:
        return self.kept(call, "total", super().total(call, lengths))


@mutant("microsoft/onnxruntime#19564")
class RemainderDecidedOnce(_Remembering):
    """Whether there is a -1 is decided in the first inference."""

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        super().check_lengths(call, lengths, size)
        if not self.kept(call, "has one", REMAINDER in lengths) and REMAINDER in lengths:
            refuse("a length is negative")
