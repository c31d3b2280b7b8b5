"""Mutants of Pad-12: pads, modes and values that are misread, unchecked or kept."""

from typing import Any

import numpy as np

from opconform.suite.manifest import Level
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.pads.kernel import MODES
from tests.mutants.row import FOUND, Call, Hooks, Row, low_bits, skipped, stricter, unchecked
from tests.mutants.settings import misread

_CROPPED = "microsoft/onnxruntime#11828"
_NEGATIVE = "microsoft/onnxruntime#2433"
_ALL = "microsoft/onnxruntime#13332"
_LIMIT = "microsoft/onnxruntime#27652"
_REFLECT = "microsoft/onnxruntime#20801"
_SYMMETRIC = "openvinotoolkit/openvino#2586"
_FIRST = "openvinotoolkit/openvino#15146"
_EXTREME = "pytorch/pytorch#50961"
_EMPTY = "ml-explore/mlx#4221"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Level = "normative") -> Row:
    return Row(f"pads/{name}", what, seen, changes, level, "Pad-12")


def _numbers(change: Any) -> Hooks:
    """The change of all pads of one end, as a function of the name, the tensor and the numbers."""
    return {"pad_numbers": lambda call, name, given: change(name, given, call.right("pad_numbers", name, given))}


def _value(change: Any) -> Hooks:
    """The change of a given value, as a function of its elements and of data."""
    return {"given_value": lambda call, value, data: change(call.right("given_value", value, data), data)}


def _as_integers(call: Call, name: str, rank: int) -> Tensor | None:
    """Pads of another type, converted to integers."""
    given: Tensor | None = call.right("given_pads", name, rank)
    if given is None or given.type.is_integer:
        return given
    array = given.array.view(given.type.arithmetic) if given.type.kind == "float" else given.array
    return Tensor(element_type="i64", array=array.astype(np.int64))


def _optional(missing: str) -> Hooks:
    """The change that takes zeros for the pads of one end that are missing."""

    def change(call: Call, name: str, rank: int) -> Tensor | None:
        given: Tensor | None = call.right("given_pads", name, rank)
        if given is None and name == missing:
            return Tensor(element_type="i64", array=np.zeros(rank, np.int64))
        return given

    return {"given_pads": change}


def _flat(call: Call, name: str, rank: int) -> Tensor | None:
    given: Tensor | None = call.right("given_pads", name, rank)
    return None if given is None else Tensor(element_type=given.element_type, array=given.array.reshape(-1))


def _filled_up(call: Call, name: str, given: Tensor) -> list[int]:
    numbers: list[int] = call.right("pad_numbers", name, given)
    rank = len(call.inputs["data"].shape)
    return [*numbers, *[0] * (rank - len(numbers))]


def _cut(call: Call, name: str, given: Tensor) -> list[int]:
    numbers: list[int] = call.right("pad_numbers", name, given)
    return numbers[: len(call.inputs["data"].shape)]


def _mode(change: Any) -> Hooks:
    """The change of the attribute as it is given, or None to leave it."""

    def read(call: Call) -> str:
        changed = change(call.attributes.get("pad_mode"))
        return call.right("mode_attribute") if changed is None else changed  # type: ignore[no-any-return]

    return {"mode_attribute": read}


def _cropped_first(call: Call, length: int, size: int, before: int, after: int) -> list[int]:
    """The places if elements are removed first, and others are mirrored at the ends of what is left."""
    mode, left = call.attributes.get("pad_mode"), size + min(before, 0) + min(after, 0)
    right: range = call.right("places", length, size, before, after)
    if mode != "reflect" or min(before, after) >= 0 or left < 1:
        return list(right)
    first, last = -min(before, 0), size - 1 + min(after, 0)
    mirrored = [2 * first - each if each < first else 2 * last - each if each > last else each for each in right]
    return [min(max(each, first), last) for each in mirrored]


def _place(mode: str, change: Any) -> Hooks:
    return {f"{mode}_place": lambda call, place, size: change(call.right(f"{mode}_place", place, size), place, size)}


def _ignored(call: Call, data: Tensor, mode: str) -> Array:
    return call.right("default_value", data) if "pad_value" in call.inputs else call.right("pad_value", data, mode)  # type: ignore[no-any-return]


def _everywhere(call: Call, data: Array, pads: Any, mode: str, value: Array) -> Array:
    """A value that is given counts in every mode."""
    return call.right("padded", data, pads, "constant" if "pad_value" in call.inputs else mode, value)  # type: ignore[no-any-return]


def _last_dimension(call: Call, data: Array, pads: Any, mode: str, value: Array) -> Array:
    """The pads of two dimensions exchanged where that gives the same shape."""
    begin, end = pads
    right: Array = call.right("padded", data, pads, mode, value)
    if data.ndim < 2:
        return right
    other: Array = call.right("padded", data, (end, begin), mode, value)
    return other if other.shape == right.shape else right


def _first_value(call: Call, data: Tensor, mode: str) -> Array:
    return call.first("value", call.right("pad_value", data, mode))  # type: ignore[no-any-return]


def _first_pads(call: Call, name: str, given: Tensor) -> list[int]:
    return call.first(f"{name} {given.shape}", call.right("pad_numbers", name, given))  # type: ignore[no-any-return]


def _uninitialized(call: Call, data: Array, pads: Any, mode: str, value: Array) -> Array:
    """Memory that is not an element of data, where one end is cropped and the other extended beyond what is left."""
    right: Array = call.right("padded", data, pads, mode, value)
    beyond = any(min(ends) < 0 < max(ends) >= size + min(ends) for size, *ends in zip(data.shape, *pads, strict=True))
    if not beyond or mode == "constant" or not right.size or data.dtype.kind == "U":
        return right
    right[..., -1] = np.array(0x5A).astype(data.dtype)
    return right


def _rounded(array: Array, data: Tensor) -> Array:
    """A value that goes through a single-precision number."""
    if data.element_type not in ("i32", "i64", "u32", "u64", "f64"):
        return array
    kind = data.type.arithmetic
    with np.errstate(all="ignore"):
        return array.view(kind).astype(np.float32).astype(kind).view(array.dtype)


def _of_data(call: Call, data: Tensor) -> Array:
    """The first element of data in place of zeros."""
    right: Array = call.right("default_value", data)
    return data.array.reshape(-1)[0] if data.array.size else right


def _is_elsewhere(call: Call, *_: Any) -> bool:
    """Whether the mode does not use `pad_value`."""
    return call.attributes["pad_mode"] != "constant"


def _zero_elsewhere(call: Call, value: Tensor, data: Tensor) -> Array:
    hook, arguments = ("default_value", (data,)) if _is_elsewhere(call) else ("given_value", (value, data))
    added: Array = call.right(hook, *arguments)
    return added


# fmt: off
ROWS = (
    _row("negative-refused", "Negative pads are refused.", _NEGATIVE,
        stricter("pad_numbers", lambda call, name, given: min([0, *call.right("pad_numbers", name, given)]) < 0)),
    _row("negative-as-zero", "Negative pads are taken as 0.", _NEGATIVE,
        _numbers(lambda _, __, given: [max(each, 0) for each in given])),
    _row("negative-sign-lost", "The sign of negative pads is lost.", _NEGATIVE,
        _numbers(lambda _, __, given: [each if each >= 0 else min(-each, 9) for each in given])),
    _row("begin-of-crop", "What pads_begin removes is removed from the end.", "microsoft/onnxruntime#2550",
        {"places": lambda _, length, __, before, ___: range(-max(before, 0), length - max(before, 0))}),
    _row("cropped-first", "Elements are removed before others are mirrored.", _CROPPED, {"places": _cropped_first}),
    _row("memory-of-crop", "Elements that a crop leaves too few for come from other memory.", _CROPPED,
        {"padded": _uninitialized}),
    _row("mixed-refused", "A crop and an extension of one dimension are refused.", _CROPPED,
        stricter("check_limits", lambda _, __, ___, before, after: min(before, after) < 0 < max(before, after))),
    _row("no-output", "An output without elements is refused.", _ALL,
        stricter("padded_size", lambda _, size, before, after: size and before + size + after <= 0)),
    _row("negative-size", "More elements removed than there are is refused.", "robertknight/rten#1406",
        stricter("padded_size", lambda _, size, before, after: before + size + after < 0), "interpretation"),
    _row("crop-beyond", "A pad that removes more than there is is refused.", "robertknight/rten#1406",
        stricter("check_limits", lambda _, __, size, *ends: min(ends) < -size < sum(ends)), "interpretation"),
    _row("exchanged", "The ends are exchanged.", "microsoft/onnxruntime#16401", {"padded": _last_dimension}),
    _row("mixed-types-refused", "Pads of different types are refused.", FOUND,
        stricter("check_pads_type", lambda call, _, given: any(
            each.element_type != given.element_type for name, each in call.inputs.items() if name.startswith("pads_"))),
        "interpretation"),
    _row("booleans-refused", "Booleans are refused.", FOUND,
        stricter("pad_value", lambda _, data, __: data.element_type == "boolean"), "interpretation"),
    _row("end-ignored", "The pads of the end are those of the begin.", FOUND,
        {"pads": lambda call, name, rank: call.right("pads", "pads_begin" if name in call.inputs else name, rank)}),
    _row("wraps", "The pads are read as 32 bits.", FOUND,
        _numbers(lambda _, __, given: [low_bits(each, 32) for each in given])),
    _row("sum-wraps", "The sizes are added in 64 bits.", _EXTREME,
        {"padded_size": lambda _, size, before, after: min(max(low_bits(before + size + after, 64), 0), 99)}),
    _row("far-refused", "Pads beyond 31 bits are refused.", "tensorflow/tensorflow#51908",
        stricter("pad_numbers", lambda call, name, given: any(
            abs(each) >> 31 for each in call.right("pad_numbers", name, given)))),
    _row("unsigned-as-signed", "Unsigned pads are read as signed ones.", _EXTREME,
        _numbers(lambda _, tensor, given: [low_bits(each, tensor.type.bits) for each in given])),
    _row("other-types", "Pads of other types are converted.", FOUND, {"given_pads": _as_integers}),
    _row("begin-optional", "Missing pads_begin are zeros.", FOUND, _optional("pads_begin")),
    _row("end-optional", "Missing pads_end are zeros.", FOUND, _optional("pads_end")),
    _row("flat", "Pads of any rank are accepted.", FOUND, {"given_pads": _flat}),
    _row("too-few", "Missing pads of the last dimensions are zeros.", "onnx/onnx#6735", {"pad_numbers": _filled_up}),
    _row("too-many", "Pads of dimensions that data does not have are ignored.", "onnx/onnx#6735", {"pad_numbers": _cut}),
    _row("kept", "The second inference uses the pads of the first one.", _FIRST, {"pad_numbers": _first_pads}),
    _row("value-kept", "The second inference uses the value of the first one.", _FIRST, {"pad_value": _first_value}),
    _row("size-kept", "The second inference checks the size in the first one.", _FIRST,
        {"check_limits": lambda call, mode, size, *ends: call.right(
            "check_limits", mode, call.first("size", max(size, call.model.get("size", 0))), *ends)}),
    _row("value-ignored", "A value that is given is ignored.", FOUND, {"pad_value": _ignored}),
    _row("value-everywhere", "A value that is given counts in every mode.", FOUND, {"padded": _everywhere}),
    _row("value-refused", "A value that is given is refused in other modes.", FOUND,
        stricter("pad_value", lambda call, _, mode: mode != "constant" and "pad_value" in call.inputs), "interpretation"),
    _row("value-rounded", "A value goes through a single-precision number.", FOUND, _value(_rounded)),
    _row("value-shape", "A value of any shape is accepted.", FOUND,
        {**unchecked("check_value_shape"), **_value(lambda array, _: array.reshape(-1)[0])}),
    _row("value-type", "A value of any type is converted.", FOUND,
        {**unchecked("check_value_type"), **_value(lambda array, data: array.astype(data.array.dtype))}),
    _row("default-of-data", "Without a value, the first element of data is added.", FOUND, {"default_value": _of_data}),
    _row("nf4-default", "Without a value, every bit is 0, and nf4 has another element there.", FOUND,
        {"default_value": lambda _, data: np.zeros((), data.array.dtype)}),
    _row("no-zero", "A type without a zero has the bits 0.", FOUND, unchecked("check_zero"), "interpretation"),
    _row("mode-optional", "A missing mode is constant.", FOUND,
        _mode(lambda given: "constant" if given is None else None)),
    _row("mode-unknown", "An unknown mode is edge.", FOUND,
        _mode(lambda given: "edge" if given is not None and str(given).lower() not in MODES else None)),
    _row("mode-spelling", "Modes are read without regard to case.", FOUND,
        _mode(lambda given: given.lower() if isinstance(given, str) and given.lower() in MODES else None),
        "interpretation"),
    _row("string-modes", "Strings are padded in every mode.", FOUND, unchecked("check_string_mode")),
    _row("strings-refused", "Strings are refused.", FOUND, stricter("default_value", lambda _, data: data.array.dtype.kind == "U")),
    _row("edge-empty", "The mode edge extends empty dimensions.", _EMPTY, unchecked("check_edge"), "interpretation"),
    _row("reflect-unchecked", "More elements than the mode reflect has are clamped.", _LIMIT,
        {**unchecked("check_reflect"), **_place("reflect", lambda place, _, size: min(max(place, 0), size - 1))}),
    _row("reflect-by-one", "The mode reflect may add as many elements as data has.", _REFLECT,
        {**skipped("check_reflect", lambda _, size, pad: pad == size),
            **_place("reflect", lambda place, _, size: min(max(place, 0), size - 1))}),
    _row("reflect-last-refused", "The mode reflect refuses the last element that it may add.", "microsoft/onnxruntime#8265",
        stricter("check_reflect", lambda _, size, pad: pad == size - 1)),
    _row("reflect-repeats", "The mode reflect repeats the edge.", _REFLECT,
        {"reflect_place": lambda _, place, size: -1 - place if place < 0 else 2 * size - 1 - place}),
    _row("reflect-first", "The mode reflect adds the same element again.", "microsoft/onnxruntime#6442",
        _place("reflect", lambda _, place, size: min(1, size - 1) if place < 0 else max(size - 2, 0))),
    _row("reflect-zero-refused", "The mode reflect refuses a pad of 0 of an empty dimension.", _EMPTY,
        stricter("check_limits", lambda _, mode, size, before, after: mode == "reflect" and max(before, after) > size - 1),
        "interpretation"),
    _row("symmetric-unchecked", "More elements than the mode symmetric has are clamped.", "tensorflow/tensorflow#48914",
        {**unchecked("check_symmetric"), **_place("symmetric", lambda place, _, size: min(max(place, 0), size - 1))}),
    _row("symmetric-last-refused", "The mode symmetric refuses the last element that it may add.", _SYMMETRIC,
        stricter("check_symmetric", lambda _, size, pad: pad == size)),
    _row("symmetric-as-reflect", "The mode symmetric does not repeat the edge.", _SYMMETRIC,
        _place("symmetric", lambda _, place, size: max(0, min(
            size - 1, -place if place < 0 else 2 * size - 2 - place)))),
    _row("edge-as-zero", "The mode edge adds zeros.", _REFLECT, {"edge_place": lambda *_: -1}),
    _row("edge-at-begin", "The mode edge adds the first element at both ends.", _REFLECT, {"edge_place": lambda *_: 0}),
    _row("limits-kept", "The second inference is not checked.", _FIRST,
        {"check_limits": lambda call, *given: None if call.feed else call.right("check_limits", *given),
            **{f"{mode}_place": lambda call, place, size, mode=mode: min(max(
                call.right(f"{mode}_place", place, size), 0), size - 1) for mode in ("reflect", "symmetric")}}),
    _row("zeros-refused", "Pads of 0 in every dimension are refused.", FOUND,
        stricter("padded", lambda _, data, pads, *__: data.ndim and not any(map(any, pads)))),
    _row("scalar-refused", "Data of rank 0 is refused.", FOUND, stricter("padded", lambda _, data, *__: not data.ndim)),
    *misread("pads/pads", "Pad-12", "pad_numbers", lambda _, name, given: (name, given)),
    _row("value-type-unchecked-elsewhere", "The type of pad_value is checked in the mode constant alone.", FOUND,
        {**skipped("check_value_type", _is_elsewhere), "given_value": _zero_elsewhere}),
    _row("value-shape-unchecked-elsewhere", "The shape of pad_value is checked in the mode constant alone.", FOUND,
        {**skipped("check_value_shape", _is_elsewhere), "given_value": _zero_elsewhere}),
)
# fmt: on
