"""Mutants whose process dies."""

import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from tests.mutants.row import FOUND, Call, Hooks, Row
from tests.mutants.split.kernel import REMAINDER, data

SPLITS = ("Split-1", "VariadicSplit-1")


def _die() -> NoReturn:
    """End the process as a wild pointer does."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise SystemExit(1)


def _dies(hook: str, when: Callable[..., object]) -> Hooks:
    """The change that dies under a condition on what a hook is given."""

    def change(call: Call, *arguments: Any) -> Any:
        return _die() if when(call, *arguments) else call.right(hook, *arguments)

    return {hook: change}


# fmt: off
ROWS = (
    Row("crash/on-wrong-axis", "An axis far out of range is followed into foreign memory.", "apache/tvm#1595",
        _dies("check_axis_range", lambda _, value, _rank: not -100 <= value <= 100)),
    Row("crash/on-no-pieces", "A number of outputs of 0 is divided by.", "pytorch/pytorch#69270",
        _dies("num_splits_value", lambda _, given: given == 0)),
    Row("crash/on-no-elements", "Data without elements has no memory, and is read.", "microsoft/onnxruntime#4559",
        _dies("copied", lambda call, rows, _start, _size: not data(call).size and rows.shape[1])),
    Row("crash/on-zero-length", "An output without elements has no memory, and is written.", "apple/coreai-torch#68",
        _dies("copied", lambda _, rows, _start, size: not size and rows.size)),
    Row("crash/on-one-output", "A split with one output reads the second one.", "openvinotoolkit/openvino#33216",
        _dies("delivered", lambda call, outputs: call.op in SPLITS and len(outputs) < 2)),
    Row("crash/on-many-outputs", "Over a hundred outputs overflow a table.", "openvinotoolkit/openvino#24288",
        _dies("delivered", lambda call, outputs: call.op in SPLITS and len(outputs) > 100)),
    Row("crash/on-large-length", "A length over 32 bits is followed into foreign memory.", FOUND,
        _dies("check_sum", lambda _, lengths, _size: max(lengths) > 2**32 and REMAINDER in lengths)),
    Row("crash/on-texts", "Strings that are split along another axis than the first are freed twice.", FOUND,
        _dies("dimension", lambda call, axis: call.inputs["data"].element_type == "string" and axis)),
    Row("crash/on-many-dimensions", "Data of over seven dimensions overflows a table.", "apache/tvm#3520",
        _dies("dimension", lambda call, _: data(call).ndim > 7)),
    Row("crash/on-missing-input", "An input that is left out is read.", "microsoft/onnxruntime#4559",
        _dies("axis", lambda call: "axis" not in call.inputs)),
)
# fmt: on
