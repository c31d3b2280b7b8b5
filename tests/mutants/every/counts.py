"""Mutants that hand out too many outputs, too few, or in another order."""

from collections.abc import Callable
from typing import Any

from tests.mutants.row import Row, stricter

_LOST, _ORDER = "openvinotoolkit/openvino#14104", "openvinotoolkit/openvino#33216"


def _row(name: str, what: str, seen: str, delivered: Callable[[list[Any]], list[Any]]) -> Row:
    return Row(f"counts/{name}", what, seen, {"delivered": lambda _, outputs: delivered(outputs)})


# fmt: off
ROWS = (
    _row("only-the-first", "Only the first output is handed out.", _ORDER, lambda outputs: outputs[:1]),
    _row("last-missing", "The last output is left out.", _LOST, lambda outputs: outputs[:-1] or outputs),
    Row("counts/at-most-eight", "Over eight outputs are refused.", "tensorflow/java#45",
        stricter("delivered", lambda _, outputs: len(outputs) > 8)),
    _row("at-most-64", "The outputs after the 64th are left out.", "openvinotoolkit/openvino#24288",
        lambda outputs: outputs[:64]),
    _row("number-in-8-bits", "The number of an output is truncated to 8 bits, so that the 257th is the first again.",
        "openvinotoolkit/openvino#24288", lambda outputs: [outputs[number & 255] for number in range(len(outputs))]),
    _row("backwards", "The outputs come from the last to the first.", _LOST, lambda outputs: outputs[::-1]),
    _row("three-backwards", "Of three outputs the first and the last are exchanged.", "NVIDIA/TensorRT#3424",
        lambda outputs: outputs[::-1] if len(outputs) == 3 else outputs),
    _row("first-two-exchanged", "The first two outputs are exchanged.", _ORDER,
        lambda outputs: [*outputs[1:2], *outputs[:1], *outputs[2:]]),
    _row("last-first", "The last output comes first.", _ORDER, lambda outputs: [*outputs[-1:], *outputs[:-1]]),
    _row("in-order-of-names", "The outputs come in the order of their names, so that output_10 follows output_1.",
        "PINTO0309/onnx2tf#588", lambda outputs: [outputs[number] for number in sorted(range(len(outputs)), key=str)]),
)
# fmt: on
