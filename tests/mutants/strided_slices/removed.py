"""Mutants that keep, confuse or do not check the elements of removed dimensions."""

from collections.abc import Callable
from typing import Any

from tests.mutants.row import Call, Hooks, Row, refuse, stricter, unchecked

_SHRINK, _RANGE, _SHRUNK = "apache/tvm#5172", "tensorflow/tensorflow#4677", "openvinotoolkit/openvino#13581"
_LAST, _STRIDE = "bytedance/byteir#504", "tensorflow/tensorflow#54228"
#: The change of the page that states the rules, and contradicts some of them.
_PAGE = "openvinotoolkit/openvino#23039"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"strided_slices/{name}", what, seen, changes, level, op="StridedSlice-1")


def _index(change: Callable[[Call, int, int, int], int]) -> Hooks:
    """The change that selects another element of a removed dimension."""
    return {
        "removed_index": lambda call, at, size: change(call, at, size, call.right("removed_index", at, size)),
    }


def _of_first_size(call: Call, at: int, size: int) -> range:
    """A removed dimension whose negative index counts from the size in the first inference."""
    index: int = call.do("removed_index", at, size)
    call.do("check_removed", index, size)
    index = min(call.do("index_from_front", index, call.first(f"removed {at}", size)), size - 1)
    return range(index, index + 1)


ROWS = (
    _row(
        "shrink-keeps-one",
        "A removed dimension remains with one element.",
        _SHRUNK,
        {
            "kinds": lambda call, *given: [
                "kept" if each == "shrink" else each for each in call.right("kinds", *given)
            ],
            "step": lambda call, kind, number, size: (
                call.do("removed", call.do("place", number), size)
                if kind == "kept"
                else call.right("step", kind, number, size)
            ),
        },
    ),
    _row(
        "shrink-first",
        "The first element of a removed dimension remains.",
        _SHRINK,
        {"removed_index": lambda *_: 0},
    ),
    _row(
        "shrink-negative",
        "A negative index of a removed dimension is taken as 0.",
        _LAST,
        _index(lambda _, __, ___, index: max(index, 0)),
    ),
    _row(
        "shrink-needs-begin-at-end",
        "A removed dimension needs an end after its begin.",
        _SHRINK,
        stricter(
            "removed_index",
            lambda call, at, _: call.do("index_values", "end")[at] <= call.do("index_values", "begin")[at],
        ),
    ),
    _row(
        "shrink-end-checked",
        "The end of a removed dimension must be its begin.",
        _PAGE,
        stricter(
            "removed_index",
            lambda call, at, _: call.do("index_values", "end")[at] != call.do("index_values", "begin")[at],
        ),
        "interpretation",
    ),
    _row(
        "shrink-stride-checked",
        "The stride of a removed dimension must be positive.",
        _STRIDE,
        stricter("removed_index", lambda call, at, _: call.do("index_values", "stride")[at] < 0),
    ),
    _row(
        "shrink-begin-mask-ignored",
        "A bit in begin_mask does not apply to a removed dimension.",
        "tensorflow/tensorflow#60939",
        {"removed_index": lambda call, at, _: call.do("index_values", "begin")[at]},
        "interpretation",
    ),
    _row(
        "shrink-clamped",
        "An element that does not exist is the nearest one.",
        _RANGE,
        {
            **unchecked("check_removed"),
            "removed": lambda call, at, size: (
                range(
                    n := min(max(call.do("index_from_front", call.do("removed_index", at, size), size), 0), size - 1),
                    n + 1,
                )
                if size
                else refuse("there is no element")
            ),
        },
        "interpretation",
    ),
    _row(
        "shrink-size-kept",
        "A negative index of a removed dimension counts from the size in the first inference.",
        _LAST,
        {"removed": _of_first_size},
    ),
    _row(
        "shrink-list-kept",
        "A list whose only dimension is removed remains a list of one element.",
        _SHRUNK,
        {"shaped": lambda call, shape, _: shape or [1] * (len(call.inputs["data"].shape) == 1)},
    ),
)
