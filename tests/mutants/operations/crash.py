"""Mutants of both splits whose process dies or never answers."""

import os
import signal
import time
from collections.abc import Callable
from typing import NoReturn

from tests.mutants.operations.splits import BOTH, axis_of, lengths_of, size_of
from tests.mutants.row import FOUND, Call, Hook, MutantRow, rows

_COUNTS = "pytorch/pytorch#6759"


def _die() -> NoReturn:
    """End the process as a wild pointer does."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise SystemExit(1)


def _wait_forever() -> NoReturn:
    while True:
        time.sleep(60.0)


def _ends(end: Callable[[], NoReturn], condition: Callable[[Call], object]) -> Hook:
    """The step that ends before it does anything, under a condition on complete arguments."""

    def hook(call: Call) -> object:
        is_complete = "data" in call.inputs and call.data.ndim and len(call.integers("axis")) == 1
        return end() if is_complete and condition(call) else call.right()

    return hook


def _dies(condition: Callable[[Call], object]) -> Hook:
    return _ends(_die, condition)


def _hangs(condition: Callable[[Call], object]) -> Hook:
    return _ends(_wait_forever, condition)


def _dies_without_axis(call: Call) -> object:
    return call.right() if "axis" in call.inputs else _die()


def _count(call: Call) -> int:
    count = call.attributes.get("num_splits")
    return count if type(count) is int else len(lengths_of(call)) or 1


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("crash", BOTH,
        ("on-wrong-axis", "An axis far out of range is followed into foreign memory.", "apache/tvm#1595",
            _dies(lambda call: abs(call.integers("axis")[0]) > 100)),
        ("on-no-pieces", "A number of outputs of 0 is divided by.", "pytorch/pytorch#69270",
            _dies(lambda call: call.attributes.get("num_splits") == 0)),
        ("on-no-elements", "Data without elements has no memory, and is read.", "microsoft/onnxruntime#4559",
            _dies(lambda call: not call.data.size and size_of(call))),
        ("on-zero-length", "An output without elements has no memory, and is written.", "apple/coreai-torch#68",
            _dies(lambda call: 0 in lengths_of(call) and call.data.size)),
        ("on-one-output", "A split with one output reads the second one.", "openvinotoolkit/openvino#33216",
            _dies(lambda call: _count(call) == 1)),
        ("on-many-outputs", "Over a hundred outputs overflow a table.", "openvinotoolkit/openvino#24288",
            _dies(lambda call: 100 < _count(call) <= size_of(call))),
        ("on-large-length", "A length over 32 bits is followed into foreign memory.", FOUND,
            _dies(lambda call: max([0, *lengths_of(call)]) > 2**32 and -1 in lengths_of(call))),
        ("on-texts", "Strings that are split along another axis than the first are freed twice.", FOUND,
            _dies(lambda call: call.inputs["data"].element_type == "string" and axis_of(call))),
        ("on-many-dimensions", "Data of over seven dimensions overflows a table.", "apache/tvm#3520",
            _dies(lambda call: call.data.ndim > 7)),
        ("on-missing-input", "An input that is left out is read.", "microsoft/onnxruntime#4559", _dies_without_axis),
    ),
    *rows("hang", BOTH,
        ("on-no-pieces", "A number of outputs of 0 is subtracted until nothing is left.", _COUNTS,
            _hangs(lambda call: call.attributes.get("num_splits") == 0)),
        ("on-two-remainders", "Two -1 are resolved by each other, in turn.", _COUNTS,
            _hangs(lambda call: lengths_of(call) == [-1, 2, -1])),
        ("on-huge-counts", "As many outputs as 63 bits can count are made one by one.", _COUNTS,
            _hangs(lambda call: _count(call) > 2**62)),
        ("on-no-elements", "Data without elements is copied until something was copied.", "PaddlePaddle/Paddle#34356",
            _hangs(lambda call: not call.data.size and size_of(call) and lengths_of(call) == [1, 2, 3])),
        ("on-two-zeros-first", "Two lengths of 0 at the beginning are subtracted until something is left.", _COUNTS,
            _hangs(lambda call: lengths_of(call)[:2] == [0, 0] and not axis_of(call))),
    ),
)
# fmt: on
