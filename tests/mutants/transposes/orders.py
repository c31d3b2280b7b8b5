"""Mutants that take an order that they must refuse, or refuse one that they must take."""

from collections.abc import Callable

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, Hooks, low_bits, skipped, stricter, unchecked
from tests.mutants.settings import misread
from tests.mutants.transposes.rows import row

_NEGATIVE = "tensorflow/tensorflow#63685"
_RANGE = "apache/tvm#1355"
_RUN_TIME = "microsoft/onnxruntime#739"
_REPEATED = "tensorflow/tensorflow#126162"
_SHORT = "google/tensorstore#201"
_LONG = "onnx/onnx#5481"
_VECTOR = "llvm/llvm-project#74237"
_SHAPE = "openvinotoolkit/openvino#5613"
_NARROW = "tensorflow/tensorflow#126126"


def _lenient(call: Call, array: Array, axes: list[int]) -> Array:
    """Zeros where a dimension is repeated."""
    if len(set(axes)) < array.ndim:
        return np.zeros([array.shape[each] for each in axes], array.dtype)
    return call.right("moved", array, axes)  # type: ignore[no-any-return]


def _lenience(check: str, when: Callable[[Call], object] = lambda _: True) -> Hooks:
    """The change that leaves out a check of the elements of the order."""
    return {**unchecked(check, when=when), "moved": _lenient}


def _run_time(call: Call) -> bool:
    return call.is_parameter("input_order")


def _values(change: Callable[[Call, list[int]], list[int]]) -> Hooks:
    return {"order_values": lambda call: change(call, call.right("order_values"))}


def _rounded(call: Call) -> list[int]:
    order = call.inputs["input_order"]
    if order.type.is_integer:
        return call.right("order_values")  # type: ignore[no-any-return]
    return [int(each) for each in order.array.view(order.type.arithmetic).reshape(-1)]


def _filled(_call: Call, values: list[int], rank: int) -> list[int]:
    """The order, cut or with the dimensions that it does not name."""
    return [*values, *(each for each in range(rank) if each not in values)][:rank]


def _typed(*types: str) -> Callable[..., bool]:
    return lambda _, order: order.element_type in types


ROWS = (
    row(
        "order-wraps",
        "The order is read as 32 bits.",
        FOUND,
        _values(lambda _, values: [low_bits(each, 32) for each in values]),
    ),
    row(
        "negative-from-end",
        "Negative elements count from the end.",
        _NEGATIVE,
        _lenience("check_order_negative"),
    ),
    row(
        "negative-at-run-time",
        "Negative elements at run time count from the end.",
        _NEGATIVE,
        _lenience("check_order_negative", _run_time),
    ),
    row("range-unchecked", "An element out of range wraps around.", _RANGE, _lenience("check_order_range")),
    row(
        "range-at-run-time",
        "An element out of range wraps around at run time.",
        _RUN_TIME,
        _lenience("check_order_range", _run_time),
    ),
    row(
        "range-later",
        "The range is checked in the first inference alone.",
        _RUN_TIME,
        _lenience("check_order_range", lambda call: call.feed),
    ),
    row("repeated", "A dimension may be named twice.", _REPEATED, _lenience("check_order_unique")),
    row(
        "repeated-constant",
        "A dimension may be named twice by a constant.",
        _REPEATED,
        _lenience("check_order_unique", lambda call: not _run_time(call)),
    ),
    row(
        "repeated-at-run-time",
        "A dimension may be named twice at run time.",
        _REPEATED,
        _lenience("check_order_unique", _run_time),
    ),
    row(
        "repeated-later",
        "Repeated dimensions are looked for in the first inference alone.",
        _REPEATED,
        _lenience("check_order_unique", lambda call: call.feed),
    ),
    row(
        "short-filled",
        "An order with too few elements goes on with the other dimensions.",
        _SHORT,
        {
            **skipped("check_order_length", lambda _, values, rank: len(values) < rank),
            "axes_from_front": _filled,
        },
    ),
    row(
        "long-cut",
        "An order with too many elements is cut.",
        _LONG,
        {
            **skipped("check_order_length", lambda _, values, rank: len(values) > rank),
            **skipped("check_order_range", lambda _, values, rank: len(values) > rank),
            "axes_from_front": _filled,
        },
    ),
    row(
        "scalar-order",
        "The order can be a scalar.",
        _VECTOR,
        skipped("check_order_rank", lambda _, order: not order.shape),
    ),
    row(
        "matrix-order",
        "The order can be a matrix.",
        _SHAPE,
        skipped("check_order_rank", lambda _, order: len(order.shape) > 1),
    ),
    row(
        "type-unchecked",
        "A floating-point order is rounded.",
        FOUND,
        {**unchecked("check_order_type"), "order_values": _rounded},
    ),
    row(
        "order-has-default",
        "A missing order inverts the dimensions.",
        "tf-encrypted/tf-encrypted#73",
        {
            **unchecked("check_order_given"),
            "order_values": lambda call: call.right("order_values") if "input_order" in call.inputs else [],
        },
    ),
    row(
        "i32-refused",
        "An order of 32 bits is refused.",
        _NARROW,
        stricter("check_order_type", _typed("i32", "u32")),
    ),
    row(
        "unsigned-refused",
        "An unsigned order is refused.",
        _NARROW,
        stricter("check_order_type", _typed("u8", "u16", "u32", "u64")),
    ),
    *misread(
        "transposes/order", "Transpose-1", "order_values", lambda call: ("input_order", call.inputs["input_order"])
    ),
    row(
        "unique-by-sum",
        "An order is taken for one of all dimensions if its sum is right.",
        _REPEATED,
        {
            **skipped("check_order_unique", lambda _, values: sum(values) == sum(range(len(values)))),
            "moved": _lenient,
        },
    ),
)
