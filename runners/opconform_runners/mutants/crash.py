"""Mutants whose process dies."""

import os
import signal
from typing import NoReturn

from opconform.tensors import Array
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import REMAINDER, Call, Kernel


def die() -> NoReturn:
    """End the process as a wild pointer does."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise SystemExit(1)


@mutant("apache/tvm#1595")
class OnWrongAxis(Kernel):
    """An axis far out of range is followed into foreign memory."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not -100 <= value <= 100:  # noqa: PLR2004 - far out
            die()
        super().check_axis_range(call, value, rank)


@mutant("pytorch/pytorch#69270")
class OnNoPieces(Kernel):
    """A number of pieces of 0 is divided by."""

    def num_splits_value(self, given: int) -> int:
        return given or die()


@mutant("microsoft/onnxruntime#4559")
class OnNoElements(Kernel):
    """Data without elements has no memory, and is read."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        if not call.data.size and rows.shape[1]:
            die()
        return super().copied(call, rows, start, size)


@mutant("apple/coreai-torch#68")
class OnZeroLength(Kernel):
    """An output without elements has no memory, and is written."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        return super().copied(call, rows, start, size) if size or not rows.size else die()


@mutant("openvinotoolkit/openvino#33216")
class OnOneOutput(Kernel):
    """A split with one output reads the second one."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces if len(pieces) > 1 else die()


@mutant("openvinotoolkit/openvino#24288")
class OnManyOutputs(Kernel):
    """Over a hundred outputs overflow a table."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        return pieces if len(pieces) <= 100 else die()  # noqa: PLR2004 - the table


@mutant(FOUND)
class OnLargeLength(Kernel):
    """A length over 32 bits is followed into foreign memory."""

    def check_sum(self, call: Call, lengths: list[int], size: int) -> None:
        if max(lengths) > 2**32 and REMAINDER in lengths:
            die()
        super().check_sum(call, lengths, size)


@mutant(FOUND)
class OnTexts(Kernel):
    """Strings that are split along another axis than the first are freed twice."""

    def dimension(self, call: Call, axis: int) -> int:
        if call.element_type == "string" and axis:
            die()
        return super().dimension(call, axis)


@mutant("apache/tvm#3520")
class OnManyDimensions(Kernel):
    """Data of over seven dimensions overflows a table."""

    def dimension(self, call: Call, axis: int) -> int:
        if call.data.ndim > 7:  # noqa: PLR2004 - the table
            die()
        return super().dimension(call, axis)


@mutant("microsoft/onnxruntime#4559")
class OnMissingInput(Kernel):
    """An input that is left out is read."""

    def axis(self, call: Call) -> int:
        if "axis" not in call.inputs:
            die()
        return super().axis(call)
