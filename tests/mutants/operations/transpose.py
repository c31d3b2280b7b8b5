"""Mutants of Transpose-1 that move dimensions wrongly."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hook, MutantRow, accepts, converted, integers, moves, reads, refuses, rows

_INVERSE, _LAST, _IDENTITY = "alibaba/BladeDISC#638", "tracel-ai/burn#1642", "microsoft/onnxruntime#32228"
_ONE, _LOST, _IMAGE = "openvinotoolkit/openvino#33449", "google/XNNPACK#3029", "NVIDIA/DALI#1802"
_DEFAULT, _EMPTY, _TAIL = "openvinotoolkit/openvino#20821", "Samsung/ONE#4549", "openvinotoolkit/openvino#37022"
_PLAIN, _SHORT, _LONG = "tf-encrypted/tf-encrypted#73", "google/tensorstore#201", "onnx/onnx#5481"


def _order(call: Call) -> list[int]:
    """The dimension of arg that is each dimension of the output."""
    return call.integers("input_order") or [*reversed(range(call.data.ndim))]


def _swapped(order: list[int]) -> list[int]:
    """The order that swaps the last two dimensions."""
    rank = len(order)
    return [*range(rank - 2), rank - 1, rank - 2] if rank > 1 else order


def _empty_as(change: Callable[[Call, int], list[int]]) -> Hook:
    """The step that reads an empty order as a function of the rank."""

    def hook(call: Call) -> Any:
        if "input_order" not in call.inputs or call.inputs["input_order"].shape != (0,) or not call.data.ndim:
            return call.right()
        order = change(call, call.data.ndim)
        return call.right(input_order=integers(order, (len(order),)))

    return hook


def _at_run_time(call: Call, rank: int) -> list[int]:
    return [*range(rank)] if call.is_parameter("input_order") else []


def _moves_ones(call: Call) -> bool:
    """Whether the order moves dimensions of 1 alone, and so no element."""
    long = [x for x in _order(call) if call.data.shape[x] != 1]
    return long == sorted(long) and call.data.size > 0


def _cleared(array: Array, *index: Any) -> Array:
    changed = array.copy()
    changed[index] = array.dtype.type()
    return changed


def _second_half_lost(call: Call, array: Array) -> Array:
    if call.data.shape[-2:] != (1, 1) or array.ndim < 4:
        return array
    return _cleared(array.reshape(-1), slice(array.size // 2, None)).reshape(array.shape)


def _tail_lost(_call: Call, array: Array) -> Array:
    size = array.shape[-1] if array.ndim else 0
    return _cleared(array, ..., slice(size - size % 16, None)) if size > 16 else array


def _last_of_a_byte_lost(call: Call, array: Array) -> Array:
    bits = call.inputs["arg"].type.bits
    return _cleared(array, ..., -1) if 0 < bits < 8 and array.size and array.shape[-1] * bits % 8 else array


def _channels_last(call: Call, array: Array) -> Array:
    return call.data.transpose(0, 3, 2, 1).reshape(array.shape) if _order(call) == [0, 2, 3, 1] else array


def _first_strides(call: Call, array: Array) -> Array:
    """The elements read with the strides of the first inference."""
    shape = call.first("shape", call.data.shape)
    if shape == call.data.shape or len(shape) != call.data.ndim:
        return array
    return np.resize(np.resize(call.data, shape).transpose(_order(call)), array.shape)


def _in_context(context: str, change: Callable[[Call, Tensor], Array]) -> Hook:
    """The step of a whole model whose only output is another one in a context."""

    def hook(call: Call) -> list[Tensor]:
        outputs: list[Tensor] = call.right()
        return [converted(outputs[0], change(call, outputs[0]))] if call.context == context else outputs

    return hook


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("transposes", ("Transpose-1",),
        ("inverse", "The inverse of the order is applied.", _INVERSE,
            reads("input_order", lambda _, order: [order.index(index) for index in range(len(order))])),
        ("last-two", "Every order swaps the last two dimensions.", _LAST,
            reads("input_order", lambda _, order: _swapped(order))),
        ("identity-as-swap", "An order that changes nothing swaps the last two dimensions.", _IDENTITY,
            reads("input_order", lambda _, order: _swapped(order) if order == sorted(order) else order)),
        ("reinterpreted", "The output has the right shape, and the elements stay where they are.", _IMAGE,
            moves(lambda call, array: call.data.reshape(array.shape))),
        ("size-one-ignored", "An order that moves dimensions of 1 alone is ignored.", _ONE,
            moves(lambda call, array: call.data if _moves_ones(call) else array)),
        ("rows-in-order", "Rows of three dimensions whose first two are swapped stay where they are.",
            "microsoft/onnxruntime#7316",
            moves(lambda call, array: call.data.reshape(array.shape) if _order(call) == [1, 0, 2] else array)),
        ("size-one-lost", "Elements are lost where the last two dimensions are 1.", _LOST, moves(_second_half_lost)),
        ("tail-lost", "Elements after the last whole block of 16 are lost.", _TAIL, moves(_tail_lost)),
        ("aligned", "The last element of a row that ends inside a byte is lost.", FOUND, moves(_last_of_a_byte_lost)),
        ("channels-last-reversed", "Channels that move to the end leave the two dimensions before them swapped.",
            "opencv/opencv#25297", moves(_channels_last)),
        ("empty-as-identity", "An empty order changes nothing.", _DEFAULT, _empty_as(lambda _, rank: [*range(rank)])),
        ("empty-swaps-last-two", "An empty order swaps the last two dimensions.", _PLAIN,
            _empty_as(lambda _, rank: _swapped([*range(rank)]))),
        ("empty-without-last", "An empty order inverts all dimensions but the last.", _EMPTY,
            _empty_as(lambda _, rank: [*reversed(range(rank - 1)), rank - 1])),
        ("empty-refused", "An empty order is refused.", "openvinotoolkit/openvino#2043",
            refuses(lambda call: not call.integers("input_order") and call.data.ndim)),
        ("empty-at-run-time", "An empty order at run time changes nothing.", _DEFAULT, _empty_as(_at_run_time)),
        ("zero-size-ignored", "A tensor without elements is output as it is.", "tenstorrent/tt-metal#15881",
            moves(lambda call, array: array if array.size else call.data)),
        ("strides-kept", "The strides of the first inference are used in the second one.", "microsoft/onnxruntime#5646",
            moves(_first_strides)),
        ("short-filled", "An order with too few elements goes on with the other dimensions.", _SHORT,
            accepts("order.length", when=lambda call: len(_order(call)) < call.data.ndim)),
        ("long-cut", "An order with too many elements is cut.", _LONG,
            accepts("order.length", when=lambda call: len(_order(call)) > call.data.ndim)),
        ("unique-by-sum", "An order is taken for one of all dimensions if its sum is right.",
            "tensorflow/tensorflow#126162",
            accepts("order.unique", when=lambda call: sum(_order(call)) == sum(range(call.data.ndim)))),
    ),
    MutantRow("transposes/chain-cancelled", "Two transpositions in a row are taken for inverses of each other.", _INVERSE,
        _in_context("chain", lambda call, _: call.tensors[0].array), "model", ops=("Transpose-1",)),
    MutantRow("transposes/inverse-not-cancelled", "A transposition back gives the shape of the first one.", "webonnx/wonnx#112",
        _in_context("inverse", lambda _, right: right.array.reshape([*right.shape[1:], *right.shape[:1]])), "model",
        ops=("Transpose-1",)),
)
# fmt: on
