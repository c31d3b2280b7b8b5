"""Mutants that select other elements, or slice what they must refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, Hooks, Row, kept, low_bits, refuse, skipped, stricter, unchecked
from tests.mutants.settings import misread
from tests.mutants.slices.kernel import INDICES

_BACKWARDS, _EXTREME, _STEP = "iree-org/iree#24584", "microsoft/onnxruntime#11107", "microsoft/onnxruntime#9376"
_IDENTITY, _DYNAMIC, _BAKED = (
    "openvinotoolkit/openvino#38240",
    "openvinotoolkit/openvino#13157",
    "pytorch/TensorRT#4607",
)
_NEGATIVE, _DEFAULT, _SECOND = (
    "ROCm/AMDMIGraphX#858",
    "openvinotoolkit/openvino#38136",
    "microsoft/onnxruntime#19564",
)
_AXIS, _RANGE, _SIGN = "microsoft/onnxruntime#21771", "apache/tvm#1595", "openvinotoolkit/openvino_contrib#1093"
_SHAPE, _SHAPES, _NARROW, _RANKS = (
    "openvinotoolkit/openvino#5613",
    "alibaba/TinyNeuralNetwork#346",
    "tensorflow/tensorflow#126126",
    "robertknight/rten#746",
)
_ZERO, _FOLDED, _CLAMP = "microsoft/onnxruntime#9492", "llvm/torch-mlir#3843", "tensorflow/tensorflow#125224"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"slices/{name}", what, seen, changes, level, op="Slice-8")


def _both(one: Hooks, other: Hooks) -> Hooks:
    """Two changes at once."""
    return {**one, **other}


def _stepped(change: Callable[[int, int, int], range]) -> Hooks:
    """The change that selects other elements for a first, an end and a step."""
    return {"stepped": lambda _, first, end, step: change(first, end, step)}


def _values(change: Callable[[Call, str, list[int]], list[int]]) -> Hooks:
    """The change that reads other elements of the index inputs."""
    return {"index_values": lambda call, name: change(call, name, call.right("index_values", name))}


def _low(bits: int, *names: str) -> Hooks:
    """The change that cuts the elements of index inputs to some bits."""
    return _values(lambda _, name, given: [low_bits(each, bits) for each in given] if name in names else given)


def _of_first_feed(name: str) -> Hooks:
    return _values(lambda call, given, values: call.first(name, values) if given == name else values)


def _signed(call: Call, name: str, given: list[int]) -> list[int]:
    bits = call.inputs[name].type.bits
    return [low_bits(each, bits) for each in given]


def _without_end(bound: str) -> Hooks:
    """The change that takes a large stop backwards as if there were none."""

    def change(call: Call, stop: int, step: int, size: int) -> int:
        return -1 if step < 0 and stop > 1 << 30 else int(call.right(bound, stop, step, size))

    return {bound: change}


def _identity(call: Call, array: Array, axis: int, selected: Any) -> Array:
    """Data itself where the output has its shape and a step comes at run time."""
    if call.is_parameter("step") and len(selected) == array.shape[axis]:
        return array
    return call.right("taken", array, axis, selected)  # type: ignore[no-any-return]


def _in_order(call: Call, array: Array, axis: int, selected: Any) -> Array:
    backwards = len(selected) > 1 and selected[0] > selected[-1]
    return call.right("taken", array, axis, selected[::-1] if backwards else selected)  # type: ignore[no-any-return]


def _flat(call: Call, array: Array, axis: int, selected: Any) -> Array:
    """The right shape, with the elements that come first in memory."""
    right: Array = call.right("taken", array, axis, selected)
    return np.ascontiguousarray(array).reshape(-1)[: right.size].reshape(right.shape)


def _bytes(call: Call, array: Array, axis: int, selected: Any) -> Array:
    """A slice of a type narrower than a byte that begins at a byte."""
    bits = call.inputs["data"].type.bits
    if not 0 < bits < 8 or not len(selected) or not array.size:
        return call.right("taken", array, axis, selected)  # type: ignore[no-any-return]
    per_byte = 8 // bits if not 8 % bits else 8
    shift = selected[0] % per_byte
    return call.right("taken", array, axis, [max(each - shift, 0) for each in selected])  # type: ignore[no-any-return]


def _not_empty(selected: range) -> range:
    return selected or refuse("nothing is selected")


def _all_of(axes: list[int], rank: int) -> list[int]:
    return axes if len(axes) == rank else refuse("a dimension has no start")


def _as_given(call: Call, counted: list[int]) -> list[int]:
    """The axes as they are given, which differ where one is negative."""
    return call.inputs["axes"].integers() if "axes" in call.inputs else counted


def _rounded(call: Call, name: str) -> list[int]:
    given = call.inputs[name]
    if given.type.is_integer:
        return call.right("index_values", name)  # type: ignore[no-any-return]
    return [int(each) for each in given.array.view(given.type.arithmetic).reshape(-1)]


def _typed(types: set[str]) -> Callable[..., bool]:
    return lambda _, __, given: given.element_type in types


def _alone(name: str) -> Callable[..., bool]:
    return lambda _, given, *__: given == name


def _missing_step(call: Call, name: str) -> list[int]:
    if name == "step" and name not in call.inputs:
        return [1] * len(call.inputs["start"].integers())
    return call.right("index_values", name)  # type: ignore[no-any-return]


def _missing_start(call: Call, name: str) -> list[int]:
    if name == "start" and name not in call.inputs:
        return [0] * len(call.inputs["stop"].integers())
    return call.right("index_values", name)  # type: ignore[no-any-return]


def _missing_stop(call: Call, name: str) -> list[int]:
    if name == "stop" and name not in call.inputs:
        return [1 << 62] * len(call.inputs["start"].integers())
    return call.right("index_values", name)  # type: ignore[no-any-return]


def _padded(call: Call, name: str) -> list[int]:
    """The elements of an index input, repeated or cut to the number of starts."""
    given: list[int] = call.right("index_values", name)
    count = len(call.right("index_values", "start"))
    return [*given, *given[-1:] * count][:count]


ROWS = (
    _row(
        "stop-included",
        "The element at stop is selected.",
        _NEGATIVE,
        _stepped(lambda first, end, step: range(first, end + (1 if step > 0 else -1), step)),
    ),
    _row(
        "start-excluded",
        "The slice begins after start.",
        _BACKWARDS,
        _stepped(lambda first, end, step: range(first + (1 if step > 0 else -1), end, step)),
    ),
    _row(
        "backwards-shifted",
        "A backward slice is shifted by one element.",
        _BACKWARDS,
        _stepped(
            lambda first, end, step: (
                range(max(first - 1, 0), max(end - 1, -1), step) if step < 0 else range(first, end, step)
            )
        ),
    ),
    _row("backwards-in-order", "A negative step does not reverse the order.", _BACKWARDS, {"taken": _in_order}),
    _row(
        "step-absolute",
        "The sign of a step is lost.",
        _DEFAULT,
        _values(lambda _, name, given: [abs(each) for each in given] if name == "step" else given),
    ),
    _row(
        "step-ignored",
        "Every step is 1 or -1.",
        _IDENTITY,
        _stepped(lambda first, end, step: range(first, end, 1 if step > 0 else -1)),
    ),
    _row(
        "length-rounded-down",
        "An element is lost where the step does not divide the length.",
        "alibaba/heterogeneity-aware-lowering-and-optimization#275",
        _stepped(lambda first, end, step: range(first, end, step)[: max(0, (end - first) // step)]),
    ),
    _row(
        "start-clamped-to-last",
        "A forward start beyond the end is clamped to the last element.",
        _FOLDED,
        {
            "first": lambda call, start, step, size: (
                min(call.right("first", start, step, size), max(size - 1, 0))
                if step > 0
                else call.right("first", start, step, size)
            )
        },
    ),
    _row(
        "start-clamped-to-first",
        "A backward start before the first element is clamped to it.",
        FOUND,
        {"first": lambda call, start, step, size: max(call.right("first", start, step, size), 0)},
    ),
    _row(
        "stop-not-clamped-below",
        "A backward stop before the first element is counted from the end once more.",
        _CLAMP,
        {
            "end": lambda call, stop, step, size: call.right(
                "end", stop + size if step < 0 and stop < -size else stop, step, size
            )
        },
    ),
    _row(
        "stop-not-clamped-above",
        "A stop beyond the end is refused.",
        _BAKED,
        stricter("end", lambda _, stop, __, size: stop > size),
    ),
    _row(
        "start-not-clamped",
        "A start beyond either end is refused.",
        _FOLDED,
        stricter("first", lambda _, start, __, size: not -size <= start <= size),
    ),
    _row(
        "extreme-stop-is-none",
        "Backwards, a large stop means that there is none.",
        _EXTREME,
        _without_end("end"),
    ),
    _row("extreme-stop-wraps", "A stop is read as 32 bits.", FOUND, _low(32, "stop")),
    _row("start-wraps", "A start is read as 32 bits.", FOUND, _low(32, "start")),
    _row("step-wraps", "A step is read as 32 bits.", _STEP, _low(32, "step")),
    _row("axes-wrap", "An axis is read as 32 bits.", FOUND, _low(32, "axes")),
    _row(
        "large-step-refused",
        "A step beyond 31 bits is refused.",
        _STEP,
        stricter("check_step", lambda _, step, __: abs(step) >= 1 << 31),
    ),
    _row(
        "step-limited",
        "A step is at most the size of the dimension.",
        _STEP,
        stricter("check_step", lambda _, step, size: abs(step) > max(size, 1)),
    ),
    _row("unsigned-as-signed", "Unsigned integers are read as signed ones.", _SIGN, _values(_signed)),
    _row(
        "negative-bounds-lost",
        "A negative start or stop is taken as 0.",
        _NEGATIVE,
        {"bound_from_front": lambda _, bound, __: max(bound, 0)},
    ),
    _row(
        "negative-bounds-off-by-one",
        "A negative start or stop counts from the last element.",
        _NEGATIVE,
        {"bound_from_front": lambda _, bound, size: bound + size - 1 if bound < 0 else bound},
    ),
    _row(
        "empty-refused",
        "A slice that selects nothing is refused.",
        "onnx/onnx#7735",
        {"stepped": lambda call, first, end, step: _not_empty(call.right("stepped", first, end, step))},
    ),
    _row(
        "empty-keeps-one",
        "A slice that selects nothing gives one element.",
        _CLAMP,
        {"stepped": lambda call, first, end, step: call.right("stepped", first, end, step) or range(1)},
    ),
    _row(
        "zero-size-refused",
        "Data with a dimension of 0 is not sliced.",
        _ZERO,
        stricter("check_step", lambda _, __, size: size == 0),
    ),
    _row(
        "step-zero-as-one",
        "A step of 0 is taken as 1.",
        FOUND,
        _values(lambda _, name, given: [each or 1 for each in given] if name == "step" else given),
    ),
    _row(
        "step-zero-of-nothing",
        "A step of 0 is not refused for an empty dimension.",
        FOUND,
        _both(
            skipped("check_step", lambda _, __, size: size == 0),
            {"stepped": lambda _, first, end, step: range(first, end, step or 1)},
        ),
    ),
    _row(
        "step-zero-at-run-time",
        "A step of 0 at run time selects nothing.",
        FOUND,
        _both(
            unchecked("check_step", when=lambda call: call.is_parameter("step")),
            {"stepped": lambda _, first, end, step: range(first, end, step) if step else range(0)},
        ),
    ),
    _row(
        "axis-sign-lost",
        "The sign of a negative axis is lost.",
        _AXIS,
        {"axis_from_front": lambda _, axis, rank: abs(axis) % rank},
    ),
    _row(
        "axes-ignored",
        "The slices apply to the first dimensions.",
        _AXIS,
        _values(lambda _, name, given: list(range(len(given))) if name == "axes" else given),
    ),
    _row(
        "axes-sorted",
        "The axes are sorted, and their starts are not.",
        _AXIS,
        _values(lambda _, name, given: sorted(given) if name == "axes" else given),
    ),
    _row("axes-wrap-around", "An axis out of range is taken modulo the rank.", _RANGE, unchecked("check_axes_range")),
    _row(
        "axes-unchecked-at-run-time",
        "A run-time axis out of range is taken modulo the rank.",
        _RANGE,
        unchecked("check_axes_range", when=lambda call: call.is_parameter("axes")),
    ),
    _row(
        "axes-unchecked-later",
        "The axes are checked in the first inference alone.",
        _SECOND,
        unchecked("check_axes_range", "check_axes_unique", when=lambda call: call.feed),
    ),
    _row("axes-repeated", "An axis may be repeated.", FOUND, unchecked("check_axes_unique")),
    _row(
        "axes-repeated-mixed",
        "An axis may be repeated as a positive and a negative number.",
        FOUND,
        {"check_axes_unique": lambda call, axes: call.right("check_axes_unique", _as_given(call, axes))},
    ),
    _row(
        "default-axes-last",
        "Without axes, the last dimensions are sliced.",
        _DEFAULT,
        {"default_axes": lambda call, rank: list(range(rank))[-len(call.right("default_axes", rank)) :]},
    ),
    _row(
        "default-axes-all",
        "Without axes, there must be a start for every dimension.",
        _DEFAULT,
        {"default_axes": lambda call, rank: _all_of(call.right("default_axes", rank), rank)},
    ),
    _row(
        "default-axes-cut",
        "More starts than dimensions are ignored.",
        _DEFAULT,
        {"default_axes": lambda call, rank: call.right("default_axes", rank)[:rank]},
    ),
    _row(
        "no-indices-refused",
        "Empty lists of starts are refused.",
        FOUND,
        stricter("check_counts", lambda _, shapes: (0,) in shapes),
        "interpretation",
    ),
    _row(
        "counts-padded",
        "Numbers of elements that differ are made equal.",
        _SHAPES,
        _both(unchecked("check_counts"), {"index_values": _padded}),
    ),
    _row(
        "types-unchecked",
        "Floating-point indices are rounded.",
        FOUND,
        _both(unchecked("check_index_type"), {"index_values": _rounded}),
    ),
    *(
        _row(
            f"{name}-type-unchecked",
            f"A floating-point {name} is rounded.",
            FOUND,
            _both(skipped("check_index_type", _alone(name)), {"index_values": _rounded}),
        )
        for name in (*INDICES, "axes")
    ),
    *(
        _row(
            f"{name}-rank-unchecked",
            f"The input {name} can be a scalar or a matrix.",
            _SHAPE,
            _both(skipped("check_index_rank", _alone(name)), skipped("check_counts", lambda *_: True)),
        )
        for name in (*INDICES, "axes")
    ),
    _row(
        "start-has-default",
        "A missing start is 0.",
        FOUND,
        _both(skipped("check_given", _alone("start")), {"index_values": _missing_start}),
    ),
    _row(
        "stop-has-default",
        "A missing stop is the end.",
        FOUND,
        _both(skipped("check_given", _alone("stop")), {"index_values": _missing_stop}),
    ),
    _row(
        "step-has-default",
        "A missing step is 1.",
        FOUND,
        _both(skipped("check_given", _alone("step")), {"index_values": _missing_step}),
    ),
    _row(
        "narrow-indices-refused",
        "Indices of 8 and 16 bits are refused.",
        _NARROW,
        stricter("check_index_type", _typed({"i8", "u8", "i16", "u16"})),
    ),
    _row(
        "unsigned-indices-refused",
        "Unsigned indices are refused.",
        _NARROW,
        stricter("check_index_type", _typed({"u8", "u16", "u32", "u64"})),
    ),
    _row(
        "mixed-types-refused",
        "Start, stop and step must have the same type.",
        _SIGN,
        stricter("check_counts", lambda call, _: len({call.inputs[each].element_type for each in INDICES}) > 1),
        "interpretation",
    ),
    _row(
        "axes-type-refused",
        "The axes must have the type of start.",
        _SIGN,
        stricter(
            "check_counts",
            lambda call, _: (
                call.inputs.get("axes", call.inputs["start"]).element_type != call.inputs["start"].element_type
            ),
        ),
    ),
    _row(
        "scalar-accepted",
        "Data of rank 0 is output as it is.",
        _RANKS,
        _both(
            unchecked("check_data_rank"),
            {"sliced_axes": lambda call, rank: call.right("sliced_axes", rank) if rank else []},
        ),
    ),
    _row(
        "identity-at-run-time",
        "A run-time step is ignored where the output has the shape of data.",
        _IDENTITY,
        {"taken": _identity},
    ),
    _row(
        "bounds-kept", "The elements of the first inference are selected in the second one.", _DYNAMIC, kept("selected")
    ),
    _row("axes-kept", "The axes of the first inference are used in the second one.", _SECOND, kept("sliced_axes")),
    *(
        _row(
            f"{name}-kept",
            f"The {name} of the first inference is used in the second one.",
            _SECOND,
            _of_first_feed(name),
        )
        for name in INDICES
    ),
    _row(
        "size-kept",
        "Negative bounds count from the end of the first inference's dimension.",
        _DYNAMIC,
        {"bound_from_front": lambda call, bound, size: call.right("bound_from_front", bound, call.first("size", size))},
    ),
    _row(
        "elements-from-the-front",
        "The output has the right shape and the first elements of data.",
        _IDENTITY,
        {"taken": _flat},
    ),
    _row("aligned", "A slice of a type narrower than a byte begins at a byte.", FOUND, {"taken": _bytes}),
    _row(
        "high-ranks-refused",
        "Data of more than five dimensions is refused.",
        _RANKS,
        stricter("check_data_rank", lambda _, data: len(data.shape) > 5),
    ),
    _row(
        "one-axis",
        "Only the first axis is sliced.",
        _NEGATIVE,
        {"sliced_axes": lambda call, rank: call.right("sliced_axes", rank)[:1]},
    ),
    *misread("slices/bounds", "Slice-8", "index_values", lambda call, name: (name, call.inputs.get(name))),
    _row(
        "scalars-without-slices",
        "Data of rank 0 is output if there is nothing to slice.",
        _ZERO,
        skipped("check_data_rank", lambda call, _: "start" in call.inputs and call.inputs["start"].shape == (0,)),
    ),
)
