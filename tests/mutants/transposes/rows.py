"""Mutants that move dimensions wrongly, or take an order that they must refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, skipped, stricter, unchecked

_INVERSE, _LAST, _IDENTITY, _COMPOSED = (
    "alibaba/BladeDISC#638",
    "tracel-ai/burn#1642",
    "microsoft/onnxruntime#32228",
    "webonnx/wonnx#112",
)
_ONE, _LOST, _IMAGE = "openvinotoolkit/openvino#33449", "google/XNNPACK#3029", "NVIDIA/DALI#1802"
_DEFAULT, _EMPTY, _EMPTY_BUG = "openvinotoolkit/openvino#20821", "openvinotoolkit/openvino#2043", "Samsung/ONE#4549"
_SCALAR, _RANKS, _SIX, _ZERO = (
    "llvm/torch-mlir#4656",
    "tenstorrent/tt-metal#12154",
    "Oneflow-Inc/oneflow#3800",
    "facebookincubator/AITemplate#946",
)
_NEGATIVE, _RANGE, _RUN_TIME = "tensorflow/tensorflow#63685", "apache/tvm#1355", "microsoft/onnxruntime#739"
_REPEATED, _SHORT, _LONG = "tensorflow/tensorflow#126162", "google/tensorstore#201", "onnx/onnx#5481"
_VECTOR, _SHAPE, _NARROW = (
    "llvm/llvm-project#74237",
    "openvinotoolkit/openvino#5613",
    "tensorflow/tensorflow#126126",
)
_TAIL, _LAYOUT, _KEPT = "openvinotoolkit/openvino#37022", "opencv/opencv#25297", "openvinotoolkit/openvino#9705"


def _row(name: str, what: str, seen: str, changes: Hooks) -> Row:
    return Row(f"transposes/{name}", what, seen, changes, op="Transpose-1")


def _moved(change: Callable[[Call, Array, list[int], Array], Array]) -> Hooks:
    """The change of the output, given the input, the order and the right output."""
    return {"moved": lambda call, array, axes: change(call, array, axes, call.right("moved", array, axes))}


def _ordered(change: Callable[[list[int]], list[int]]) -> Hooks:
    """The change that moves the dimensions into another order."""
    return {"moved": lambda call, array, axes: call.right("moved", array, change(axes))}


def _is_identity(axes: list[int]) -> bool:
    return axes == list(range(len(axes)))


def _swapped(axes: list[int]) -> list[int]:
    """The order that swaps the last two dimensions."""
    rank = len(axes)
    return [*range(rank - 2), rank - 1, rank - 2] if rank > 1 else axes


def _shift(array: Array, axes: list[int]) -> bool:
    """Whether an order moves dimensions of 1 alone, and so no element."""
    long = [each for each in axes if array.shape[each] != 1]
    return long == sorted(long)


def _cleared(output: Array, *index: Any) -> Array:
    changed = output.copy()
    changed[index] = np.zeros((), output.dtype)
    return changed


def _half(_call: Call, array: Array, _axes: list[int], output: Array) -> Array:
    """Without the second half of the elements where the last two dimensions are 1."""
    if array.shape[-2:] != (1, 1) or array.ndim < 4:
        return output
    flat = output.reshape(-1)
    return _cleared(flat, slice(flat.size // 2, None)).reshape(output.shape)


def _without_tail(_call: Call, _array: Array, _axes: list[int], output: Array) -> Array:
    """Without what is left over of rows that are longer than a block of 16."""
    size = output.shape[-1] if output.ndim else 0
    return _cleared(output, ..., slice(size - size % 16, None)) if size > 16 else output


def _whole_bytes(call: Call, _array: Array, _axes: list[int], output: Array) -> Array:
    """Without the last element of a row that ends inside a byte."""
    bits = call.inputs["arg"].type.bits
    return _cleared(output, ..., -1) if 0 < bits < 8 and output.size and output.shape[-1] * bits % 8 else output


def _of_first_shape(call: Call, array: Array, axes: list[int], output: Array) -> Array:
    """Read with the strides of the first inference."""
    shape: tuple[int, ...] = call.first("shape", array.shape)
    if shape == array.shape or len(shape) != array.ndim:
        return output
    return np.resize(np.resize(array, shape).transpose(axes), output.shape)


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


def _in_context(context: str, change: Callable[[list[Tensor], Call], Array]) -> Hooks:
    """The change of the only output of the models of a context."""

    def outputs(call: Call) -> list[Tensor]:
        right: list[Tensor] = call.right("outputs")
        if call.context != context:
            return right
        return [Tensor(element_type=right[0].element_type, array=change(right, call))]

    return {"outputs": outputs}


ROWS = (
    _row(
        "inverse",
        "The inverse of the order is applied.",
        _INVERSE,
        _ordered(lambda axes: [axes.index(each) for each in range(len(axes))]),
    ),
    _row("last-two", "Every order swaps the last two dimensions.", _LAST, _ordered(_swapped)),
    _row(
        "identity-as-swap",
        "An order that changes nothing swaps the last two dimensions.",
        _IDENTITY,
        _ordered(lambda axes: _swapped(axes) if _is_identity(axes) else axes),
    ),
    _row(
        "reinterpreted",
        "The output has the right shape, and the elements stay where they are.",
        _IMAGE,
        _moved(lambda _, array, __, output: array.reshape(output.shape)),
    ),
    _row(
        "size-one-ignored",
        "An order that moves dimensions of 1 alone is ignored.",
        _ONE,
        _moved(lambda _, array, axes, output: array if _shift(array, axes) and array.size else output),
    ),
    _row("size-one-lost", "Elements are lost where the last two dimensions are 1.", _LOST, _moved(_half)),
    _row("tail-lost", "Elements after the last whole block of 16 are lost.", _TAIL, _moved(_without_tail)),
    _row("aligned", "The last element of a row that ends inside a byte is lost.", FOUND, _moved(_whole_bytes)),
    _row(
        "channels-last-reversed",
        "Channels that move to the end leave the two dimensions before them swapped.",
        _LAYOUT,
        _moved(
            lambda _, array, axes, output: (
                array.transpose(0, 3, 2, 1).reshape(output.shape) if axes == [0, 2, 3, 1] else output
            )
        ),
    ),
    _row(
        "empty-as-identity",
        "An empty order changes nothing.",
        _DEFAULT,
        {"inverted": lambda _, rank: list(range(rank))},
    ),
    _row(
        "empty-swaps-last-two",
        "An empty order swaps the last two dimensions.",
        "tf-encrypted/tf-encrypted#73",
        {"inverted": lambda _, rank: _swapped(list(range(rank)))},
    ),
    _row(
        "empty-without-last",
        "An empty order inverts all dimensions but the last.",
        _EMPTY_BUG,
        {"inverted": lambda _, rank: [*reversed(range(rank - 1)), *range(rank)[-1:]]},
    ),
    _row("empty-refused", "An empty order is refused.", _EMPTY, stricter("inverted", lambda _, rank: rank)),
    _row(
        "empty-at-run-time",
        "An empty order at run time changes nothing.",
        _DEFAULT,
        {"inverted": lambda call, rank: list(range(rank)) if _run_time(call) else call.right("inverted", rank)},
    ),
    _row("scalar-refused", "A scalar is refused.", _SCALAR, stricter("check_arg_shape", lambda _, shape: not shape)),
    _row(
        "vector-refused",
        "A tensor of rank 1 is refused.",
        "tenstorrent/tt-metal#15750",
        stricter("check_arg_shape", lambda _, shape: len(shape) == 1),
    ),
    _row(
        "five-dimensions",
        "A tensor of more than five dimensions is refused.",
        _RANKS,
        stricter("check_arg_shape", lambda _, shape: len(shape) > 5),
    ),
    _row(
        "six-dimensions",
        "A tensor of more than six dimensions is refused.",
        _SIX,
        stricter("check_arg_shape", lambda _, shape: len(shape) > 6),
    ),
    _row(
        "zero-size-refused",
        "A tensor without elements is refused.",
        _ZERO,
        stricter("check_arg_shape", lambda _, shape: 0 in shape),
    ),
    _row(
        "zero-size-ignored",
        "A tensor without elements is output as it is.",
        "tenstorrent/tt-metal#15881",
        _moved(lambda _, array, __, output: output if array.size else array),
    ),
    _row(
        "order-wraps",
        "The order is read as 32 bits.",
        FOUND,
        _values(lambda _, values: [low_bits(each, 32) for each in values]),
    ),
    _row(
        "negative-from-end",
        "Negative elements count from the end.",
        _NEGATIVE,
        _lenience("check_order_negative"),
    ),
    _row(
        "negative-at-run-time",
        "Negative elements at run time count from the end.",
        _NEGATIVE,
        _lenience("check_order_negative", _run_time),
    ),
    _row("range-unchecked", "An element out of range wraps around.", _RANGE, _lenience("check_order_range")),
    _row(
        "range-at-run-time",
        "An element out of range wraps around at run time.",
        _RUN_TIME,
        _lenience("check_order_range", _run_time),
    ),
    _row(
        "range-later",
        "The range is checked in the first inference alone.",
        _RUN_TIME,
        _lenience("check_order_range", lambda call: call.feed),
    ),
    _row("repeated", "A dimension may be named twice.", _REPEATED, _lenience("check_order_unique")),
    _row(
        "repeated-constant",
        "A dimension may be named twice by a constant.",
        _REPEATED,
        _lenience("check_order_unique", lambda call: not _run_time(call)),
    ),
    _row(
        "repeated-at-run-time",
        "A dimension may be named twice at run time.",
        _REPEATED,
        _lenience("check_order_unique", _run_time),
    ),
    _row(
        "repeated-later",
        "Repeated dimensions are looked for in the first inference alone.",
        _REPEATED,
        _lenience("check_order_unique", lambda call: call.feed),
    ),
    _row(
        "short-filled",
        "An order with too few elements goes on with the other dimensions.",
        _SHORT,
        {
            **skipped("check_order_length", lambda _, values, rank: len(values) < rank),
            "axes_from_front": _filled,
        },
    ),
    _row(
        "long-cut",
        "An order with too many elements is cut.",
        _LONG,
        {
            **skipped("check_order_length", lambda _, values, rank: len(values) > rank),
            **skipped("check_order_range", lambda _, values, rank: len(values) > rank),
            "axes_from_front": _filled,
        },
    ),
    _row(
        "scalar-order",
        "The order can be a scalar.",
        _VECTOR,
        skipped("check_order_rank", lambda _, order: not order.shape),
    ),
    _row(
        "matrix-order",
        "The order can be a matrix.",
        _SHAPE,
        skipped("check_order_rank", lambda _, order: len(order.shape) > 1),
    ),
    _row(
        "type-unchecked",
        "A floating-point order is rounded.",
        FOUND,
        {**unchecked("check_order_type"), "order_values": _rounded},
    ),
    _row(
        "order-has-default",
        "A missing order inverts the dimensions.",
        "tf-encrypted/tf-encrypted#73",
        {
            **unchecked("check_order_given"),
            "order_values": lambda call: call.right("order_values") if "input_order" in call.inputs else [],
        },
    ),
    _row(
        "i32-refused",
        "An order of 32 bits is refused.",
        _NARROW,
        stricter("check_order_type", _typed("i32", "u32")),
    ),
    _row(
        "unsigned-refused",
        "An unsigned order is refused.",
        _NARROW,
        stricter("check_order_type", _typed("u8", "u16", "u32", "u64")),
    ),
    _row("order-kept", "The order of the first inference is used in the second one.", _KEPT, kept("order_axes")),
    _row(
        "strides-kept",
        "The strides of the first inference are used in the second one.",
        "microsoft/onnxruntime#5646",
        _moved(_of_first_shape),
    ),
    _row(
        "chain-cancelled",
        "Two transpositions in a row are taken for inverses of each other.",
        _INVERSE,
        _in_context("chain", lambda _, call: call.tensors[0].array),
    ),
    _row(
        "inverse-not-cancelled",
        "A transposition back gives the shape of the first one.",
        _COMPOSED,
        _in_context("inverse", lambda right, _: right[0].array.reshape([*right[0].shape[1:], *right[0].shape[:1]])),
    ),
)
