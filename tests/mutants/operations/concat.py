"""Mutants of Concat-1 that join their inputs wrongly, or join what they must refuse."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hook, MutantRow, accepts, converted, moves, reads, refuses, rows

_ORDER, _EMPTY, _CONSTANT = "kendryte/nncase#397", "NervanaSystems/ngraph#1120", "openvinotoolkit/openvino#33255"
_SHAPES, _BUFFER, _RANK = "apache/mxnet#11635", "microsoft/onnxruntime#20606", "tenstorrent/tt-metal#21581"
_CHANNELS, _SECOND, _CACHE = (
    "openvinotoolkit/openvino#38102",
    "microsoft/onnxruntime#19564",
    "openvinotoolkit/openvino#22660",
)


def _axis(call: Call) -> int:
    """The axis, counted from the front."""
    return int(str(call.attributes["axis"])) % max(call.data.ndim, 1)


def _tensors(call: Call) -> list[Tensor]:
    return list(call.inputs.values())


def _beside(call: Call) -> list[tuple[int, ...]]:
    """The sizes of each input beside the axis."""
    axis = _axis(call)
    return [(*tensor.shape[:axis], *tensor.shape[axis + 1 :]) for tensor in _tensors(call)]


def _joining(change: Callable[[Call, list[Tensor]], Sequence[Tensor]]) -> Hook:
    """The step that joins other inputs than the right ones."""

    def hook(call: Call) -> Any:
        call.right()
        joined = change(call, _tensors(call))
        return call.execute({f"inputs_{number}": x for number, x in enumerate(joined)}, call.attributes)

    return hook


def _sorted(key: Callable[[Call, str], Any]) -> Hook:
    """The step that joins the inputs in the order of a key of their names."""
    return _joining(
        lambda call, _: [call.inputs[name] for name in sorted(call.inputs, key=lambda name: key(call, name))]
    )


def _is_constant(call: Call, name: str) -> bool:
    return not call.is_parameter(name)


def _constant_lost_later(call: Call, tensors: list[Tensor]) -> list[Tensor]:
    lost = [name for name in call.inputs if _is_constant(call, name) and call.feed]
    if len(lost) == len(tensors):
        return tensors
    return [
        converted(input_, np.zeros_like(input_.array)) if name in lost else input_
        for name, input_ in call.inputs.items()
    ]


def _copied(change: Callable[[Array, int], tuple[Array, int]]) -> Hook:
    """The step that copies each input, or a part of it, to another place along the axis, given the right one."""

    def copy(call: Call, right: Array) -> Array:
        axis, arrays = _axis(call), [tensor.array for tensor in _tensors(call)]
        output = np.zeros_like(right)
        for array, start in zip(arrays, accumulate((array.shape[axis] for array in arrays), initial=0), strict=False):
            part, place = change(array.swapaxes(0, axis), start)
            output.swapaxes(0, axis)[place : place + len(part)] = part
        return output

    return moves(copy)


def _blocks(part: Array, start: int) -> tuple[Array, int]:
    return part[: len(part) // 8 * 8 if len(part) > 8 else len(part)], start


def _along_the_first(call: Call, array: Array) -> Array:
    arrays = [tensor.array for tensor in _tensors(call)]
    return np.concatenate(arrays).reshape(array.shape) if len({array.shape for array in arrays}) == 1 else array


def _interleaved(call: Call, array: Array) -> Array:
    sizes = [tensor.shape[_axis(call)] for tensor in _tensors(call)]
    if len({*sizes}) > 1 or not array.size:
        return array
    return np.take(array, np.arange(sum(sizes)).reshape(len(sizes), -1).T.reshape(-1), _axis(call))


def _first_shape(kept: Callable[[int, int], bool]) -> Hook:
    """The step whose output has some sizes of the first inference's, given the dimension and the axis."""

    def resize(call: Call, array: Array) -> Array:
        first, axis = call.first("shape", array.shape), _axis(call)
        if len(first) != array.ndim:
            return array
        return np.resize(array, [first[n] if kept(n, axis) else size for n, size in enumerate(array.shape)])

    return moves(resize)


def _can_broadcast(call: Call) -> bool:
    beside = _beside(call)
    most = [max(x) for x in zip(*beside, strict=True)]
    return all(0 not in x and all(n in (1, m) for n, m in zip(x, most, strict=True)) for x in beside)


def _is_at_bound(call: Call) -> bool:
    """Whether no input has another size along the axis than its upper bound."""
    declared = {input_.name: input_.dynamic for input_ in call.case.inputs}
    for name, item in call.inputs.items():
        dimensions = declared.get(name)
        bound = str(dimensions[_axis(call)]).partition("..")[2] if isinstance(dimensions, tuple) else ""
        if bound and int(bound) != item.shape[_axis(call)]:
            return False
    return True


def _repeated_once(_call: Call, tensors: list[Tensor]) -> list[Tensor]:
    return list({id(tensor): tensor for tensor in tensors}.values())


def _nested_once(call: Call) -> Any:
    is_second = call.context == "chain" and call.model.setdefault("seen", call.feed - 1) == call.feed
    call.model["seen"] = call.feed
    return _tensors(call)[:1] if is_second and call.inputs else call.right()


def _overwritten(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.right()
    if call.context == "doubled":
        outputs[0] = converted(outputs[0], np.roll(outputs[0].array, 1))
    return outputs


def _kept(call: Call, tensors: list[Tensor]) -> list[Tensor]:
    first: list[Tensor] = call.first("tensors", tensors)
    return first if [x.shape for x in first] == [tensor.shape for tensor in tensors] else tensors


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("joins", ("Concat-1",),
        ("backwards", "The inputs are joined from the last to the first.", _ORDER, _joining(lambda _, x: x[::-1])),
        ("last-lost", "The last of several inputs is left out.", _CHANNELS,
            _joining(lambda _, x: x[:-1] if len(x) > 1 else x)),
        ("first-two-exchanged", "The first two inputs are exchanged.", _ORDER,
            _joining(lambda _, x: [*x[1:2], *x[:1], *x[2:]])),
        ("in-order-of-names", "The inputs come in the order of their names, so that inputs_10 follows inputs_1.",
            "PINTO0309/onnx2tf#588", _sorted(lambda _, name: name)),
        ("first-repeated", "Every input has the elements of the first one of its shape.", _CHANNELS,
            _joining(lambda _, x: [next(one for one in x if one.shape == own.shape) for own in x])),
        ("one-input-refused", "A single input is refused.", "tensorflow/tensorflow#31137",
            refuses(lambda call: len(call.inputs) == 1)),
        ("at-most-64", "The inputs after the 64th are left out.", "openvinotoolkit/openvino#1472",
            _joining(lambda _, x: x[:64])),
        ("repeated-once", "A tensor that is given twice is joined once.", _BUFFER, _joining(_repeated_once)),
        ("constants-first", "Constant inputs are folded into one at the front.", _CONSTANT,
            _sorted(lambda call, name: not _is_constant(call, name))),
        ("constants-last", "Constant inputs are folded into one at the end.", _CONSTANT, _sorted(_is_constant)),
        ("constant-lost-later", "A constant input is written in the first inference only.",
            "openvinotoolkit/openvino#28615", _joining(_constant_lost_later)),
        ("folded-in-order-of-size", "Constant folding joins the smaller inputs first.", FOUND,
            _sorted(lambda call, name: call.inputs[name].array.size if call.context == "folded" else 0)),
        ("inputs-kept", "The second inference joins the first one's inputs where the shapes are the same.", _SECOND,
            _joining(_kept)),
        ("nested-once", "A join of a join is taken for its first input.", "openvinotoolkit/openvino#33294", _nested_once),
        ("along-the-first", "Inputs of equal shapes are joined along the first axis.", _ORDER, moves(_along_the_first)),
        ("in-memory", "The inputs are joined in memory, one after the other.", _ORDER, moves(lambda call, array:
            np.concatenate([tensor.array.reshape(-1) for tensor in _tensors(call)]).reshape(array.shape))),
        ("interleaved", "Inputs of equal sizes are interleaved along the axis.", _CHANNELS, moves(_interleaved)),
        ("blocks-of-eight", "What is left of an input after blocks of eight is lost.", _CHANNELS, _copied(_blocks)),
        ("offsets-in-16-bits", "The offsets of inputs are truncated to 16 bits.", _CHANNELS,
            _copied(lambda part, start: (part, start & 0xFFFF))),
        ("strings-cut", "Strings are cut to the longest one of the first input.", "tensorflow/tensorflow#7754",
            moves(lambda call, array: array.astype(call.data.dtype))),
        ("last-but-one", "The last axis but one, counted from the end, is taken for the last one.", _CACHE,
            reads("axis", lambda _, axis: -1 if axis == -2 else axis)),
        ("axis-last-refused", "The last axis is refused.", _RANK,
            refuses(lambda call: _axis(call) == call.data.ndim - 1 > 0)),
        ("one-input-unchecked", "The axis of a single input is not checked.", _CACHE,
            accepts("axis.range", when=lambda call: len(call.inputs) == 1)),
        ("last-type-unchecked", "The element type of the last input is not checked.", "openvinotoolkit/openvino#4745",
            accepts("inputs.element-type", when=lambda call: len({tensor.type for tensor in _tensors(call)[:-1]}) == 1)),
        ("broadcast", "Inputs with a dimension of 1 beside the axis are broadcast.", _SHAPES,
            accepts("inputs.shape", when=_can_broadcast)),
        ("counted-alone", "Inputs with as many elements beside the axis are taken for equal.", _SHAPES,
            accepts("inputs.shape", when=lambda call: len({prod(x) for x in _beside(call)}) == 1)),
        ("last-shape-unchecked", "The shape of the last input is not checked.", _SHAPES,
            accepts("inputs.shape", when=lambda call: len({*_beside(call)[:-1]}) == 1)),
        ("empty-unchecked", "Inputs without elements are left out before they are checked.", _EMPTY,
            accepts("inputs.shape", "inputs.rank", when=lambda call: len(
                {shape for shape, tensor in zip(_beside(call), _tensors(call), strict=True) if tensor.array.size}) < 2)),
        ("first-sizes-kept", "The sizes of the first inference are used for the second.", _SECOND,
            _first_shape(lambda place, axis: place == axis)),
        ("first-width-kept", "The sizes beside the axis of the first inference are used for the second.", _SECOND,
            _first_shape(lambda place, axis: place != axis)),
        ("bounds-as-sizes", "An input has the size of its upper bound.", _SECOND,
            refuses(lambda call: not _is_at_bound(call))),
    ),
    MutantRow("joins/doubled-overwritten", "An output that is joined again is overwritten.", _BUFFER, _overwritten, "model",
        ops=("Concat-1",)),
)
# fmt: on
