"""Mutants that never answer."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

from tests.mutants.row import Call, Hooks, Row
from tests.mutants.split.kernel import data


def _wait_forever() -> NoReturn:
    while True:
        time.sleep(60.0)


def _hangs(hook: str, when: Callable[..., object]) -> Hooks:
    """The change that hangs under a condition on what a hook is given."""

    def change(call: Call, *arguments: Any) -> Any:
        return _wait_forever() if when(call, *arguments) else call.right(hook, *arguments)

    return {hook: change}


# fmt: off
ROWS = (
    Row("hang/on-no-pieces", "A number of outputs of 0 is subtracted until nothing is left.", "pytorch/pytorch#6759",
        _hangs("num_splits_value", lambda _, given: given == 0)),
    Row("hang/on-two-remainders", "Two -1 are resolved by each other, in turn.", "pytorch/pytorch#6759",
        _hangs("check_single", lambda _, lengths: lengths == [-1, 2, -1])),
    Row("hang/on-huge-counts", "As many outputs as 63 bits can count are made one by one.", "pytorch/pytorch#6759",
        _hangs("check_at_most_dimension", lambda _, count, _size: count > 2**62)),
    Row("hang/on-no-elements", "Data without elements is copied until something was copied.",
        "PaddlePaddle/Paddle#34356",
        _hangs("check_sum", lambda call, lengths, size: size and not data(call).size and lengths == [1, 2, 3])),
    Row("hang/on-two-zeros-first", "Two lengths of 0 at the beginning are subtracted until something is left.",
        "pytorch/pytorch#6759",
        _hangs("check_sum", lambda call, lengths, size: lengths == [0, 0, size] and not call.do("axis"))),
)
# fmt: on
