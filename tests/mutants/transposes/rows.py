"""Mutants that move dimensions wrongly."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, stricter

_INVERSE = "alibaba/BladeDISC#638"
_LAST = "tracel-ai/burn#1642"
_IDENTITY = "microsoft/onnxruntime#32228"
_COMPOSED = "webonnx/wonnx#112"
_ONE = "openvinotoolkit/openvino#33449"
_LOST = "google/XNNPACK#3029"
_IMAGE = "NVIDIA/DALI#1802"
_DEFAULT = "openvinotoolkit/openvino#20821"
_EMPTY = "openvinotoolkit/openvino#2043"
_EMPTY_BUG = "Samsung/ONE#4549"
_SCALAR = "llvm/torch-mlir#4656"
_RANKS = "tenstorrent/tt-metal#12154"
_SIX = "Oneflow-Inc/oneflow#3800"
_ZERO = "facebookincubator/AITemplate#946"
_TAIL = "openvinotoolkit/openvino#37022"
_LAYOUT = "opencv/opencv#25297"
_KEPT = "openvinotoolkit/openvino#9705"


def row(name: str, what: str, seen: str, changes: Hooks) -> Row:
    """A mutant of Transpose-1."""
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


def _in_context(context: str, change: Callable[[list[Tensor], Call], Array]) -> Hooks:
    """The change of the only output of the models of a context."""

    def outputs(call: Call) -> list[Tensor]:
        right: list[Tensor] = call.right("outputs")
        if call.context != context:
            return right
        return [Tensor(element_type=right[0].element_type, array=change(right, call))]

    return {"outputs": outputs}


ROWS = (
    row(
        "inverse",
        "The inverse of the order is applied.",
        _INVERSE,
        _ordered(lambda axes: [axes.index(each) for each in range(len(axes))]),
    ),
    row("last-two", "Every order swaps the last two dimensions.", _LAST, _ordered(_swapped)),
    row(
        "identity-as-swap",
        "An order that changes nothing swaps the last two dimensions.",
        _IDENTITY,
        _ordered(lambda axes: _swapped(axes) if _is_identity(axes) else axes),
    ),
    row(
        "reinterpreted",
        "The output has the right shape, and the elements stay where they are.",
        _IMAGE,
        _moved(lambda _, array, __, output: array.reshape(output.shape)),
    ),
    row(
        "size-one-ignored",
        "An order that moves dimensions of 1 alone is ignored.",
        _ONE,
        _moved(lambda _, array, axes, output: array if _shift(array, axes) and array.size else output),
    ),
    row(
        "rows-in-order",
        "Rows of three dimensions whose first two are swapped stay where they are.",
        "microsoft/onnxruntime#7316",
        _moved(lambda _, array, axes, output: array.reshape(output.shape) if axes == [1, 0, 2] else output),
    ),
    row("size-one-lost", "Elements are lost where the last two dimensions are 1.", _LOST, _moved(_half)),
    row("tail-lost", "Elements after the last whole block of 16 are lost.", _TAIL, _moved(_without_tail)),
    row("aligned", "The last element of a row that ends inside a byte is lost.", FOUND, _moved(_whole_bytes)),
    row(
        "channels-last-reversed",
        "Channels that move to the end leave the two dimensions before them swapped.",
        _LAYOUT,
        _moved(
            lambda _, array, axes, output: (
                array.transpose(0, 3, 2, 1).reshape(output.shape) if axes == [0, 2, 3, 1] else output
            )
        ),
    ),
    row(
        "empty-as-identity",
        "An empty order changes nothing.",
        _DEFAULT,
        {"inverted": lambda _, rank: list(range(rank))},
    ),
    row(
        "empty-swaps-last-two",
        "An empty order swaps the last two dimensions.",
        "tf-encrypted/tf-encrypted#73",
        {"inverted": lambda _, rank: _swapped(list(range(rank)))},
    ),
    row(
        "empty-without-last",
        "An empty order inverts all dimensions but the last.",
        _EMPTY_BUG,
        {"inverted": lambda _, rank: [*reversed(range(rank - 1)), *range(rank)[-1:]]},
    ),
    row("empty-refused", "An empty order is refused.", _EMPTY, stricter("inverted", lambda _, rank: rank)),
    row(
        "empty-at-run-time",
        "An empty order at run time changes nothing.",
        _DEFAULT,
        {
            "inverted": lambda call, rank: (
                list(range(rank)) if call.is_parameter("input_order") else call.right("inverted", rank)
            )
        },
    ),
    row("scalar-refused", "A scalar is refused.", _SCALAR, stricter("check_arg_shape", lambda _, shape: not shape)),
    row(
        "vector-refused",
        "A tensor of rank 1 is refused.",
        "tenstorrent/tt-metal#15750",
        stricter("check_arg_shape", lambda _, shape: len(shape) == 1),
    ),
    row(
        "five-dimensions",
        "A tensor of more than five dimensions is refused.",
        _RANKS,
        stricter("check_arg_shape", lambda _, shape: len(shape) > 5),
    ),
    row(
        "six-dimensions",
        "A tensor of more than six dimensions is refused.",
        _SIX,
        stricter("check_arg_shape", lambda _, shape: len(shape) > 6),
    ),
    row(
        "zero-size-refused",
        "A tensor without elements is refused.",
        _ZERO,
        stricter("check_arg_shape", lambda _, shape: 0 in shape),
    ),
    row(
        "zero-size-ignored",
        "A tensor without elements is output as it is.",
        "tenstorrent/tt-metal#15881",
        _moved(lambda _, array, __, output: output if array.size else array),
    ),
    row("order-kept", "The order of the first inference is used in the second one.", _KEPT, kept("order_axes")),
    row(
        "strides-kept",
        "The strides of the first inference are used in the second one.",
        "microsoft/onnxruntime#5646",
        _moved(_of_first_shape),
    ),
    row(
        "chain-cancelled",
        "Two transpositions in a row are taken for inverses of each other.",
        _INVERSE,
        _in_context("chain", lambda _, call: call.tensors[0].array),
    ),
    row(
        "inverse-not-cancelled",
        "A transposition back gives the shape of the first one.",
        _COMPOSED,
        _in_context("inverse", lambda right, _: right[0].array.reshape([*right[0].shape[1:], *right[0].shape[:1]])),
    ),
)
