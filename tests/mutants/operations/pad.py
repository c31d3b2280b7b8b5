"""Mutants of Pad-12: pads and modes that are misread, and limits that are too strict or not checked."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array
from tests.mutants.row import FOUND, Call, Hook, MutantRow, accepts, converted, integers, moves, refuses, rows

_CROPPED, _REFLECT, _SYMMETRIC = (
    "microsoft/onnxruntime#11828",
    "microsoft/onnxruntime#20801",
    "openvinotoolkit/openvino#2586",
)
_LIMITS = ("reflect.limit", "symmetric.limit", "edge.empty")

#: The size of a dimension, and its pads.
Pads = tuple[int, int, int]


def _pads(call: Call) -> list[Pads]:
    return list(zip(call.data.shape, call.integers("pads_begin"), call.integers("pads_end"), strict=False))


def _any(condition: Callable[[int, int, int], object]) -> Callable[[Call], bool]:
    """Whether the size and the pads of a dimension have a condition."""
    return lambda call: any(condition(*pad) for pad in _pads(call))


def _mode(call: Call) -> object:
    return call.attributes.get("pad_mode")


def _changed(change: Callable[[int, int, int], tuple[int, int]]) -> Hook:
    """The step that reads the pads of each dimension as a function of its size and of both."""

    def hook(call: Call) -> Any:
        outputs, count = call.right(), call.data.ndim
        changed = [change(*pad) for pad in _pads(call)]
        begin, end = (integers([x[n] for x in changed], (count,)) for n in (0, 1))
        return call.right(pads_begin=begin, pads_end=end) if count else outputs

    return hook


def _cropped_first(call: Call) -> Any:
    """Elements are removed before others are mirrored."""
    outputs, count = call.right(), call.data.ndim
    pads = [(min(begin, 0), min(end, 0), max(begin, 0), max(end, 0)) for _, begin, end in _pads(call)]
    if not count or _mode(call) == "constant":
        return outputs
    first = [integers([pad[n] for pad in pads], (count,)) for n in range(4)]
    [data] = call.right(pads_begin=first[0], pads_end=first[1])
    return call.right(data=data, pads_begin=first[2], pads_end=first[3])


def _memory(call: Call, array: Array) -> Array:
    """Other memory where a crop leaves too few elements."""
    is_short = _any(lambda size, *ends: min(ends) < 0 < max(ends) >= size + min(ends))(call)
    if not is_short or _mode(call) == "constant" or not array.size or array.dtype.kind == "U":
        return array
    changed = array.copy()
    changed[..., -1] = np.array(0x5A).astype(array.dtype)
    return changed


def _placed(mode: str, place_of: Callable[[int, int], int]) -> Hook:
    """The step whose added elements in a mode are at other places, given their places in data and its size."""

    def change(call: Call, array: Array) -> Array:
        if _mode(call) != mode or 0 in (*array.shape, *call.data.shape):
            return array
        changed = call.data
        for axis, (size, begin, end) in enumerate(_pads(call)):
            places = [n if 0 <= n < size else place_of(n, size) for n in range(-begin, size + end)]
            changed = np.take(changed, np.clip(places, 0, size - 1), axis)
        return changed

    return moves(change)


def _as_mode(mode: str, other: str) -> Hook:
    """The step that pads in another mode."""
    return lambda call: call.right(pad_mode=other) if _mode(call) == mode else call.right()


def _value_rounded(call: Call) -> Any:
    outputs, value = call.right(), call.inputs.get("pad_value")
    if value is None or value.element_type not in ("i32", "i64", "u32", "u64", "f64"):
        return outputs
    kind = value.type.arithmetic
    with np.errstate(all="ignore"):
        rounded = value.array.view(kind).astype(np.float32).astype(kind)
    return call.right(pad_value=converted(value, rounded.view(value.array.dtype)))


def _size_kept(call: Call) -> Any:
    """The limits of the second inference are those of the first one."""
    first = call.first("shape", call.data.shape)
    limits = {"reflect": 1, "symmetric": 0, "edge": 0}
    most = [max(begin, end) for _, begin, end in _pads(call)]
    fits = all(pad <= size - limits.get(str(_mode(call)), 0) for pad, size in zip(most, first, strict=False))
    return accepts(*_LIMITS, when=lambda _: call.feed and fits)(call)


# fmt: off
_OF_CORE = rows("pads", ("Pad-12",),
    ("begin-of-crop", "What pads_begin removes is removed from the end.", "microsoft/onnxruntime#2550",
        _changed(lambda _, begin, end: (max(begin, 0), end + min(begin, 0)))),
    ("exchanged", "The ends are exchanged.", "microsoft/onnxruntime#16401", _changed(lambda _, begin, end: (end, begin))),
    ("cropped-first", "Elements are removed before others are mirrored.", _CROPPED, _cropped_first),
    ("memory-of-crop", "Elements that a crop leaves too few for come from other memory.", _CROPPED, moves(_memory)),
    ("mixed-refused", "A crop and an extension of one dimension are refused.", _CROPPED,
        refuses(_any(lambda _, *ends: min(ends) < 0 < max(ends)))),
    ("no-output", "An output without elements is refused.", "microsoft/onnxruntime#13332",
        refuses(_any(lambda size, *ends: size and size + sum(ends) <= 0))),
    ("far-refused", "Pads beyond 31 bits are refused.", "tensorflow/tensorflow#51908",
        refuses(_any(lambda _, *ends: max(map(abs, ends)) >> 31))),
    ("too-few", "Missing pads of the last dimensions are zeros.", "onnx/onnx#6735",
        accepts("pads_begin.count", "pads_end.count", when=lambda call: len(_pads(call)) < call.data.ndim)),
    ("too-many", "Pads of dimensions that data does not have are ignored.", "onnx/onnx#6735",
        accepts("pads_begin.count", "pads_end.count", when=lambda call: len(_pads(call)) == call.data.ndim)),
    ("value-everywhere", "A value that is given counts in every mode.", FOUND,
        lambda call: call.right(pad_mode="constant") if call.right() and "pad_value" in call.inputs else call.right()),
    ("value-unchecked-elsewhere", "The type and the shape of pad_value are checked in the mode constant alone.", FOUND,
        accepts("pad_value.element-type", "pad_value.scalar", when=lambda call: _mode(call) != "constant")),
    ("value-rounded", "A value goes through a single-precision number.", FOUND, _value_rounded),
    ("zeros-refused", "Pads of 0 in every dimension are refused.", FOUND,
        refuses(lambda call: call.data.ndim and not _any(lambda _, *ends: any(ends))(call))),
    ("reflect-last-refused", "The mode reflect refuses the last element that it may add.", "microsoft/onnxruntime#8265",
        refuses(lambda call: _mode(call) == "reflect" and _any(lambda size, *ends: max(ends) == size - 1 > 0)(call))),
    ("reflect-repeats", "The mode reflect repeats the edge.", _REFLECT, _as_mode("reflect", "symmetric")),
    ("reflect-first", "The mode reflect adds the same element again.", "microsoft/onnxruntime#6442",
        _placed("reflect", lambda place, size: 1 if place < 0 else size - 2)),
    ("symmetric-as-reflect", "The mode symmetric does not repeat the edge.", _SYMMETRIC,
        _placed("symmetric", lambda place, size: -place if place < 0 else 2 * size - 2 - place)),
    ("symmetric-last-refused", "The mode symmetric refuses the last element that it may add.", _SYMMETRIC,
        refuses(lambda call: _mode(call) == "symmetric" and _any(lambda size, *ends: max(ends) == size > 0)(call))),
    ("edge-as-zero", "The mode edge adds zeros.", _REFLECT, _as_mode("edge", "constant")),
    ("edge-at-begin", "The mode edge adds the first element at both ends.", _REFLECT, _placed("edge", lambda *_: 0)),
)
#: Those that need extreme pads, and second inferences of other sizes, which the profile `core` does not have.
_BEYOND_CORE = (
    MutantRow("pads/sum-wraps", "Pads whose sum does not fit into 64 bits are refused.", "pytorch/pytorch#50961",
        refuses(_any(lambda size, *ends: (size + sum(ends) + (1 << 63)) >> 64)), level="interpretation",
        ops=("Pad-12",), core=False),
    MutantRow("pads/size-kept", "The second inference checks the size in the first one.", "openvinotoolkit/openvino#15146",
        _size_kept, ops=("Pad-12",), core=False),
)
ROWS: tuple[MutantRow, ...] = (*_OF_CORE, *_BEYOND_CORE)
# fmt: on
