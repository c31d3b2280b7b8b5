"""Mutants that join their inputs wrongly, or join what they must refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, converted, kept, low_bits, skipped, stricter, unchecked

_ORDER, _EMPTY, _CONSTANT = "kendryte/nncase#397", "NervanaSystems/ngraph#1120", "openvinotoolkit/openvino#33255"
_TYPES, _SHAPES, _BUFFER = "openvinotoolkit/openvino#4745", "apache/mxnet#11635", "microsoft/onnxruntime#20606"
_CHANNELS, _SECOND, _CACHE = (
    "openvinotoolkit/openvino#38102",
    "microsoft/onnxruntime#19564",
    "openvinotoolkit/openvino#22660",
)
_RANK = "tenstorrent/tt-metal#21581"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"joins/{name}", what, seen, changes, level, op="Concat-1")


def _ordered(order: Callable[[list[Tensor]], list[Tensor]]) -> Hooks:
    """The change that joins the inputs in another order, or others."""
    return {"joined_inputs": lambda call: order(call.right("joined_inputs"))}


def _without_checks(call: Call, tensors: list[Tensor], axis: int) -> None:
    if call.feed == 0:
        call.right("check_shapes", tensors, axis)


def _constants(call: Call) -> set[str]:
    return {each.name for each in call.case.inputs if each.binding == "constant"}


def _constants_first(call: Call) -> list[Tensor]:
    fixed = _constants(call)
    return [call.inputs[name] for name in sorted(call.inputs, key=lambda name: name not in fixed)]


def _constants_last(call: Call) -> list[Tensor]:
    fixed = _constants(call)
    return [call.inputs[name] for name in sorted(call.inputs, key=lambda name: name in fixed)]


def _constant_lost_later(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.right("joined_inputs")
    fixed = _constants(call)
    if not call.feed or len(fixed) in (0, len(tensors)):
        return tensors
    return [converted(each, np.zeros_like(each.array)) if name in fixed else each for name, each in call.inputs.items()]


def _first_output_kept(call: Call, tensors: list[Tensor], axis: int, sizes: list[int]) -> tuple[int, ...]:
    shape: tuple[int, ...] = call.right("joined_shape", tensors, axis, sizes)
    return call.first("shape", shape)  # type: ignore[no-any-return]


def _first_width_kept(call: Call, tensors: list[Tensor], axis: int, sizes: list[int]) -> tuple[int, ...]:
    shape: list[int] = list(call.right("joined_shape", tensors, axis, sizes))
    first = list(call.first("width", shape))
    return (*first[:axis], shape[axis], *first[axis + 1 :]) if len(first) == len(shape) else tuple(shape)


def _inputs_of_the_first(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.right("joined_inputs")
    earlier: list[Tensor] = call.first("tensors", tensors)
    return earlier if [each.shape for each in earlier] == [each.shape for each in tensors] else tensors


def _in_memory(_call: Call, arrays: list[Array], _axis: int, _sizes: list[int], shape: tuple[int, ...]) -> Array:
    return np.concatenate([each.reshape(-1) for each in arrays]).reshape(shape)


def _along_the_first(call: Call, arrays: list[Array], axis: int, sizes: list[int], shape: tuple[int, ...]) -> Array:
    alike = len({each.shape for each in arrays}) == 1
    return np.concatenate(arrays, 0).reshape(shape) if alike else call.right("joined", arrays, axis, sizes, shape)


def _interleaved(_call: Call, arrays: list[Array], axis: int, sizes: list[int], shape: tuple[int, ...]) -> Array:
    whole = np.concatenate(arrays, axis)
    if len(set(sizes)) > 1 or not whole.size:
        return whole
    order = np.arange(sum(sizes)).reshape(len(sizes), -1).T.reshape(-1)
    return np.take(whole, order, axis).reshape(shape)


def _aligned(call: Call, output: Array, place: tuple[slice, ...], array: Array) -> None:
    """Copy an input narrower than a byte to the byte in which it begins, as if it began there."""
    bits = ELEMENT_TYPES[next(iter(call.inputs.values())).element_type].bits
    per_byte = 8 // bits if 0 < bits < 8 and not 8 % bits else 1
    start = place[-1].start // per_byte * per_byte
    call.right("copied", output, (*place[:-1], slice(start, start + array.shape[len(place) - 1])), array)


def _promoted_type(call: Call, tensors: list[Tensor]) -> str:
    widest = max(tensors, key=lambda each: each.type.bits)
    return str(call.right("joined_type", [widest]))


def _promoted(call: Call, arrays: list[Array], axis: int, sizes: list[int], shape: tuple[int, ...]) -> Array:
    widest = max(call.inputs.values(), key=lambda each: each.type.bits)
    cast = [each.astype(widest.array.dtype) for each in arrays]
    return call.right("joined", cast, axis, sizes, shape)  # type: ignore[no-any-return]


def _broadcast(call: Call, output: Array, place: tuple[slice, ...], array: Array) -> None:
    whole = output[place]
    if array.ndim == whole.ndim and all(each in (1, size) for each, size in zip(array.shape, whole.shape, strict=True)):
        call.right("copied", output, place, np.broadcast_to(array, whole.shape))
    else:
        call.right("copied", output, place, np.resize(array, whole.shape) if array.size else np.zeros_like(whole))


def _can_broadcast(_call: Call, tensors: list[Tensor], axis: int) -> bool:
    others = [(*each.shape[:axis], *each.shape[axis + 1 :]) for each in tensors]
    return all(0 not in each and set(map(max, each, others[0])) <= {*each, *others[0]} for each in others) and all(
        size in (1, most) for each in others for size, most in zip(each, map(max, *others), strict=True)
    )


def _same_count(_call: Call, tensors: list[Tensor], axis: int) -> bool:
    return len({int(np.prod(each.shape)) // max(1, each.shape[axis]) for each in tensors}) == 1


def _empty_ignored(tensors: list[Tensor]) -> list[Tensor]:
    return [each for each in tensors if each.array.size] or tensors


def _twice(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.right("joined_inputs")
    seen: dict[int, Tensor] = {}
    for each in tensors:
        seen.setdefault(id(each), each)
    return list(seen.values())


def _declared_sizes(call: Call, tensors: list[Tensor], axis: int) -> list[int]:
    """The upper bounds of dimensions that are declared with bounds, in place of their sizes."""
    sizes: list[int] = call.right("joined_sizes", tensors, axis)
    declared = {each.name: each.dynamic for each in call.case.inputs}
    return [
        int(str(dimensions[axis]).partition("..")[2]) if ".." in str(dimensions[axis]) else size
        for size, dimensions in zip(sizes, (declared.get(name) or ("",) * 64 for name in call.inputs), strict=False)
    ]


def _padded(call: Call, output: Array, place: tuple[slice, ...], array: Array) -> None:
    held = (*place[:-1], slice(place[-1].start, place[-1].start + array.shape[len(place) - 1]))
    call.right("copied", output, held, array)


def _blocks(call: Call, output: Array, place: tuple[slice, ...], array: Array) -> None:
    """Copy along the axis in blocks of eight, and lose what is left of a larger input."""
    size = array.shape[len(place) - 1]
    whole = size // 8 * 8 if size > 8 else size
    axis = len(place) - 1
    held = (*place[:-1], slice(place[-1].start, place[-1].start + whole))
    call.right("copied", output, held, array[(slice(None),) * axis + (slice(whole),)])


def _offsets_in_16_bits(call: Call, sizes: list[int]) -> list[int]:
    return [each & 0xFFFF for each in call.right("offsets", sizes)]


def _chained_once(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.right("joined_inputs")
    if call.context == "chain" and "seen" in call.model:
        return tensors[:1]
    call.model["seen"] = True
    return tensors


def _overwritten(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.right("outputs")
    if call.context == "doubled":
        outputs[0] = converted(outputs[0], np.roll(outputs[0].array, 1))
    return outputs


def _folded_in_order_of_size(call: Call) -> list[Tensor]:
    tensors: list[Tensor] = call.right("joined_inputs")
    return sorted(tensors, key=lambda each: each.array.size) if call.context == "folded" else tensors


# fmt: off
ROWS = (
    _row("backwards", "The inputs are joined from the last to the first.", _ORDER, _ordered(lambda each: each[::-1])),
    _row("last-lost", "The last of several inputs is left out.", _CHANNELS,
        _ordered(lambda each: each[:-1] if len(each) > 1 else each)),
    _row("first-two-exchanged", "The first two inputs are exchanged.", _ORDER,
        _ordered(lambda each: [*each[1:2], *each[:1], *each[2:]])),
    _row("in-order-of-names", "The inputs come in the order of their names, so that inputs_10 follows inputs_1.",
        "PINTO0309/onnx2tf#588", {"joined_inputs": lambda call: [call.inputs[name] for name in sorted(call.inputs)]}),
    _row("first-repeated", "Every input has the elements of the first one of its shape.", _CHANNELS,
        _ordered(lambda each: [next(one for one in each if one.shape == own.shape) for own in each])),
    _row("one-input-refused", "A single input is refused.", "tensorflow/tensorflow#31137",
        stricter("check_number", lambda _, tensors: len(tensors) == 1)),
    _row("at-most-64", "The inputs after the 64th are left out.", "openvinotoolkit/openvino#1472",
        _ordered(lambda each: each[:64])),
    _row("along-the-first", "Inputs of equal shapes are joined along the first axis.", _ORDER,
        {"joined": _along_the_first}),
    _row("in-memory", "The inputs are joined in memory, one after the other.", _ORDER, {"joined": _in_memory}),
    _row("interleaved", "Inputs of equal sizes are interleaved along the axis.", _CHANNELS, {"joined": _interleaved}),
    _row("sign-lost", "A negative axis is read without its sign.", _CACHE,
        {"from_front": lambda _, value, rank: abs(value) % rank}),
    _row("last-but-one", "The last axis but one, counted from the end, is taken for the last one.", _CACHE,
        {"from_front": lambda _, value, rank: rank - 1 if value == -2 else value % rank}),
    _row("axis-clamped", "An axis out of range is clamped to the last dimension.", _RANK,
        {"check_axis_range": lambda *_: None,
         "from_front": lambda _, value, rank: max(-rank, min(value, rank - 1)) % rank}),
    _row("axis-wraps", "An axis out of range is counted on from the first dimension.", _RANK,
        unchecked("check_axis_range")),
    _row("axis-of-the-rank", "An axis equal to the rank is the first one.", _RANK,
        {"check_axis_range": lambda call, value, rank: call.right("check_axis_range", value - (value == rank), rank)}),
    _row("axis-in-32-bits", "The axis is truncated to 32 bits.", FOUND,
        {"axis_attribute": lambda call: low_bits(call.right("axis_attribute"), 32)}),
    _row("axis-in-8-bits", "The axis is truncated to 8 bits.", FOUND,
        {"axis_attribute": lambda call: low_bits(call.right("axis_attribute"), 8)}),
    _row("axis-last-refused", "The last axis is refused.", _RANK,
        stricter("from_front", lambda _, value, rank: value in (-1, rank - 1) and rank > 1)),
    _row("axis-defaults-to-0", "An axis that is missing is 0.", FOUND, {"missing_axis": lambda _: 0}),
    _row("axis-of-digits", "The leading digits of a text are the axis.", FOUND,
        {"no_integer": lambda _, given: int(float(given)) if isinstance(given, float) else 0}),
    _row("no-inputs-empty", "Without inputs, the output is empty.", FOUND,
        {"Concat-1": lambda call: call.right("Concat-1") if call.inputs
         else [Tensor(element_type="f32", array=np.zeros(0, np.float32))]}),
    _row("types-promoted", "Inputs of different element types are converted to the widest.", _TYPES,
        {"check_types": lambda *_: None, "joined": _promoted, "joined_type": _promoted_type}),
    _row("last-type-unchecked", "The element type of the last input is not checked.", _TYPES,
        {"check_types": lambda call, tensors: call.right("check_types", tensors[:-1]), "joined": _promoted,
         "joined_type": _promoted_type}),
    _row("ranks-aligned", "Inputs of fewer dimensions get leading dimensions of 1.", _RANK,
        {"check_ranks": lambda *_: None,
         "joined_inputs": lambda call: [
             converted(each, each.array.reshape((1,) * (max(one.array.ndim for one in call.inputs.values())
                                                        - each.array.ndim) + each.shape))
             for each in call.inputs.values()]}),
    _row("scalars-as-vectors", "Scalars are joined as vectors of one element.", FOUND,
        {"check_scalars": lambda *_: None,
         "joined_inputs": lambda call: [converted(each, np.atleast_1d(each.array)) for each in call.inputs.values()]}),
    _row("rank-over-six-refused", "Inputs of over six dimensions are refused.", _RANK,
        stricter("check_ranks", lambda _, tensors: len(tensors[0].shape) > 6)),
    _row("rank-one-refused", "Inputs of one dimension are refused.", "openvinotoolkit/openvino#11501",
        stricter("check_ranks", lambda _, tensors: len(tensors[0].shape) == 1)),
    _row("broadcast", "Inputs with a dimension of 1 beside the axis are broadcast.", _SHAPES,
        {**skipped("check_shapes", _can_broadcast), "copied": _broadcast}),
    _row("counted-alone", "Inputs with as many elements beside the axis are taken for equal.", _SHAPES,
        {**skipped("check_shapes", _same_count), "copied": _broadcast}),
    _row("shapes-unchecked", "The shapes of the inputs are not checked.", _SHAPES,
        {"check_shapes": lambda *_: None, "copied": _broadcast}),
    _row("last-shape-unchecked", "The shape of the last input is not checked.", _SHAPES,
        {"check_shapes": lambda call, tensors, axis: call.right("check_shapes", tensors[:-1] or tensors, axis),
         "copied": _broadcast}),
    _row("empty-unchecked", "Inputs without elements are left out before they are checked.", _EMPTY,
        _ordered(_empty_ignored)),
    _row("empty-refused", "An input without elements is refused.", _EMPTY,
        stricter("check_shapes", lambda _, tensors, __: any(not each.array.size for each in tensors)),
        "interpretation"),
    _row("booleans-refused", "Booleans and strings are refused.", FOUND,
        stricter("check_types", lambda _, tensors: tensors[0].type.kind in ("boolean", "string")), "interpretation"),
    _row("second-unchecked", "The shapes of a second inference are not checked.", _SECOND,
        {"check_shapes": _without_checks, "copied": _broadcast}),
    _row("first-sizes-kept", "The sizes of the first inference are used for the second.", _SECOND,
        {**kept("joined_sizes"), "copied": _broadcast}),
    _row("first-width-kept", "The sizes beside the axis of the first inference are used for the second.", _SECOND,
        {"joined_shape": _first_width_kept, "copied": _broadcast}),
    _row("first-shape-kept", "The second inference has the shape of the first output.", _SECOND,
        {"joined_shape": _first_output_kept, "joined": lambda call, arrays, axis, sizes, shape: np.resize(
            call.right("joined", arrays, axis, sizes, (*arrays[0].shape[:axis], sum(sizes),
                                                       *arrays[0].shape[axis + 1 :])), shape)}),
    _row("first-inputs-kept", "The second inference joins the first one's inputs where the shapes are the same.",
        _SECOND, {"joined_inputs": _inputs_of_the_first}),
    _row("constants-first", "Constant inputs are folded into one at the front.", _CONSTANT,
        {"joined_inputs": _constants_first}),
    _row("constants-last", "Constant inputs are folded into one at the end.", _CONSTANT,
        {"joined_inputs": _constants_last}),
    _row("constant-lost-later", "A constant input is written in the first inference only.",
        "openvinotoolkit/openvino#28615", {"joined_inputs": _constant_lost_later}),
    _row("bounds-as-sizes", "An input has the size of its upper bound.", _SECOND,
        {"joined_sizes": _declared_sizes, "copied": _padded}),
    _row("repeated-once", "A tensor that is given twice is joined once.", _BUFFER, {"joined_inputs": _twice}),
    _row("nested-once", "A join of a join is taken for its first input.", "openvinotoolkit/openvino#33294",
        {"joined_inputs": _chained_once}),
    _row("doubled-overwritten", "An output that is joined again is overwritten.", _BUFFER, {"outputs": _overwritten}),
    _row("folded-in-order-of-size", "Constant folding joins the smaller inputs first.", FOUND,
        {"joined_inputs": _folded_in_order_of_size}),
    _row("narrow-aligned", "An input of a type narrower than a byte begins at the start of a byte.", FOUND,
        {"copied": _aligned}),
    _row("blocks-of-eight", "What is left of an input after blocks of eight is lost.", _CHANNELS, {"copied": _blocks}),
    _row("offsets-in-16-bits", "The offsets of inputs are truncated to 16 bits.", _CHANNELS,
        {"offsets": _offsets_in_16_bits, "copied": _padded}),
    _row("one-input-unchecked", "The axis of a single input is not checked.", "openvinotoolkit/openvino#22660",
        {"joined_axis": lambda call, rank: (
            call.do("axis_attribute") % rank if len(call.inputs) == 1 else call.right("joined_axis", rank))}),
    _row("strings-cut", "Strings are cut to the longest one of the first input.", "tensorflow/tensorflow#7754",
        {"joined": lambda call, arrays, *rest: call.right("joined", arrays, *rest).astype(arrays[0].dtype)}),
)
# fmt: on
