"""Mutants of every operation that moves data that change its elements: narrowed, rounded, flushed, of another type."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import Level
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor, patterns
from tests.mutants.row import FOUND, Call, Hook, MutantRow, converted, derived, gives

_FLOATS, _WIDE = "NVIDIA/TensorRT#3424", "openvinotoolkit/openvino#9988"
_SMALL, _TEXTS = "microsoft/onnxruntime#18358", "tensorflow/tensorflow#7754"
_NATIVE_FLOATS, _NIBBLES = ("f32", "f16", "f64"), ("i4", "u4", "nf4", "f4e2m1")

#: A change of the elements of some types: a name, a sentence, a public report, the types, and the elements.
Change = tuple[str, str, str, Sequence[str], Callable[[Tensor], Any]]


def _through(other: str, seen: str, *types: str) -> Change:
    """Elements that are converted to another type and back."""

    def changed(tensor: Tensor) -> Array:
        own, between = tensor.type.arithmetic, ELEMENT_TYPES[other].arithmetic
        return tensor.array.view(own).astype(between).astype(own).view(tensor.array.dtype)

    return (
        f"{types[0]}-through-{other}",
        f"The elements of {' and '.join(types)} go through {other}.",
        seen,
        types,
        changed,
    )


def _text(name: str, what: str, changed: Callable[[str], str]) -> Change:
    def every(tensor: Tensor) -> Array:
        texts = [changed(value) for value in tensor.array.reshape(-1).tolist()]
        return np.array(texts).reshape(tensor.shape)

    return name, what, _TEXTS, ("string",), every


def _where(array: Array, condition: Array, value: Any) -> Array:
    return np.where(condition, np.full((), value, array.dtype), array)


def _without_minus_zero(tensor: Tensor) -> Array:
    bits = patterns(tensor.array)
    minus_zero = np.array(1 << (tensor.type.bits - 1), bits.dtype)
    return _where(bits, bits == minus_zero, 0).view(tensor.array.dtype)


def _without_denormals(tensor: Tensor) -> Array:
    array = tensor.array
    return _where(array, (np.abs(array) < np.finfo(array.dtype).tiny) & (array != 0), 0)


def _clamped(tensor: Tensor) -> Array:
    array = tensor.array
    return np.where(np.isinf(array), np.copysign(np.finfo(array.dtype).max, array), array)


def _quieted(tensor: Tensor) -> Array:
    bits = patterns(tensor.array)
    return np.where(np.isnan(tensor.array), bits | np.uint16(0x200), bits).view(tensor.array.dtype)


def _filled_from_before(tensor: Tensor) -> Array:
    flat = tensor.array.reshape(-1).tolist()
    return np.array([value or flat[place - 1] for place, value in enumerate(flat)]).reshape(tensor.shape)


def _nibbles_exchanged(tensor: Tensor) -> Array:
    flat = tensor.array.reshape(-1).copy()
    paired = len(flat) // 2 * 2
    flat[:paired] = flat[:paired].reshape(-1, 2)[:, ::-1].reshape(-1)
    return flat.reshape(tensor.shape)


def _last_nibble_lost(tensor: Tensor) -> Array:
    flat = tensor.array.reshape(-1).copy()
    flat[len(flat) // 2 * 2 :] = 0
    return flat.reshape(tensor.shape)


# fmt: off
_NORMATIVE: tuple[Change, ...] = (
    *(_through(other, seen, kind) for kind, other, seen in (
        ("i64", "i32", FOUND), ("u64", "u32", FOUND), ("f64", "f32", FOUND), ("i64", "f64", _WIDE),
        ("u64", "f64", _WIDE), ("i32", "f32", _WIDE), ("u32", "f32", _WIDE), ("f32", "bf16", _FLOATS),
        ("f32", "f16", _FLOATS), ("bf16", "f16", _FLOATS), ("f16", "bf16", _FLOATS), ("f8e8m0", "f16", _FLOATS),
        ("f8e5m2", "f8e4m3", FOUND), ("i16", "f16", _SMALL), ("u16", "f16", _SMALL),
    )),
    ("f8-mantissa-lost", "The last bit of f8e4m3 and f8e5m2 is lost.", FOUND, ("f8e4m3", "f8e5m2"),
        lambda tensor: tensor.array & np.uint8(0xFE)),
    ("minus-zero-lost", "Minus zero becomes zero.", _FLOATS, ("f32", "f16", "bf16", "f64"), _without_minus_zero),
    ("denormals-flushed", "Denormal numbers become zero.", _FLOATS, _NATIVE_FLOATS, _without_denormals),
    ("infinity-clamped", "Infinities become the largest finite numbers.", _FLOATS, _NATIVE_FLOATS, _clamped),
    ("nan-is-zero", "A NaN becomes zero.", _FLOATS, _NATIVE_FLOATS,
        lambda tensor: _where(tensor.array, np.isnan(tensor.array), 0)),
    ("last-mantissa-bits-lost", "Of f32 only 19 bits are kept, as tensor cores do.", _FLOATS, ("f32",),
        lambda tensor: (patterns(tensor.array) & np.uint32(0xFFFFE000)).view(np.float32)),
    ("bytes-swapped", "The bytes of 16-bit elements are exchanged.", "onnx/onnx-tensorrt#348",
        ("i16", "u16", "f16", "bf16"), lambda tensor: tensor.array.byteswap()),
    ("i8-saturated", "The least i8 becomes -127, as in symmetric quantization.", _SMALL, ("i8",),
        lambda tensor: np.maximum(tensor.array, np.int8(-127))),
    ("u8-as-signed-saturated", "Elements of u8 over 127 become 127.", _SMALL, ("u8",),
        lambda tensor: np.minimum(tensor.array, np.uint8(127))),
    ("boolean-always-true", "Every boolean becomes true.", _SMALL, ("boolean",),
        lambda tensor: np.ones_like(tensor.array)),
    _text("texts-cut-at-nul", "A string ends at its first NUL.", lambda text: text.partition("\0")[0]),
    _text("texts-cut-at-sixteen", "A string is truncated to 16 characters.", lambda text: text[:16]),
    _text("texts-in-latin", "Characters beyond Latin-1 become question marks.",
        lambda text: text.encode("latin-1", "replace").decode("latin-1")),
    ("empty-texts-lost", "An empty string becomes the one before it.", _TEXTS, ("string",), _filled_from_before),
    ("nibbles-exchanged", "The two 4-bit elements of each byte are exchanged.", FOUND, _NIBBLES, _nibbles_exchanged),
    ("last-narrow-lost", "The last of an odd number of 4-bit elements is lost.", FOUND, _NIBBLES, _last_nibble_lost),
    ("odd-widths-as-bits", "The highest bit of u2, u3 and u6 is lost.", FOUND, ("u2", "u3", "u6"),
        lambda tensor: tensor.array & np.uint8((1 << (tensor.type.bits - 1)) - 1)),
    ("bits-inverted", "The elements of u1 come back inverted.", FOUND, ("u1",),
        lambda tensor: tensor.array ^ np.uint8(1)),
)
_PAYLOADS: tuple[Change, ...] = (
    ("one-nan", "Every NaN becomes the same one.", _FLOATS, _NATIVE_FLOATS,
        lambda tensor: _where(tensor.array, np.isnan(tensor.array), np.nan)),
    ("signalling-nan-quieted", "A signalling NaN becomes a quiet one.", FOUND, ("f16",), _quieted),
)
#: Element types that are handed out as another one, with a public report.
_OTHERS = (
    ("i64", "i32", "PaddlePaddle/Paddle#11443"), ("f64", "f32", "pytorch/TensorRT#1272"), ("f16", "f32", _FLOATS),
    ("bf16", "f32", _FLOATS), ("boolean", "u8", _SMALL), ("u8", "i8", _SMALL), ("u32", "i32", _SMALL),
    ("i16", "i32", _SMALL),
)
# fmt: on


def _changing(types: Sequence[str], changed: Callable[[Tensor], Any]) -> Hook:
    def handed(tensor: Tensor) -> Tensor:
        if tensor.element_type not in types or not tensor.array.size:
            return tensor
        with np.errstate(all="ignore"):
            return converted(tensor, changed(tensor))

    return gives(lambda _, outputs: [handed(output) for output in outputs])


def _handed_as(kind: str, other: str) -> Hook:
    """The step that hands out elements of one type as the same values of another one."""

    def handed(tensor: Tensor) -> Tensor:
        if tensor.element_type != kind:
            return tensor
        with np.errstate(all="ignore"):
            array = tensor.array.view(tensor.type.arithmetic).astype(ELEMENT_TYPES[other].arithmetic)
        return Tensor(element_type=other, array=array.view(ELEMENT_TYPES[other].storage))

    return gives(lambda _, outputs: [handed(output) for output in outputs])


def _in_bytes(tensor: Tensor) -> Tensor:
    """A tensor whose rows begin at a byte in memory, and are read as if they followed each other."""
    bits, size = tensor.type.bits, tensor.shape[-1] if tensor.shape else 0
    padding = -size * bits % 8 // bits if 0 < bits < 8 and tensor.array.size else 0
    if not padding:
        return tensor
    padded = np.pad(tensor.array.reshape(-1, size), ((0, 0), (0, padding)))
    return converted(tensor, padded.reshape(-1)[: tensor.array.size].reshape(tensor.shape))


def _read_in_bytes(call: Call) -> Any:
    call.right()
    data = OPERATIONS[call.op].inputs[0].name
    return call.right(**{name: _in_bytes(input_) for name, input_ in call.inputs.items() if name.startswith(data)})


def _changed(op: str, level: Level, changes: Sequence[Change]) -> Iterator[MutantRow]:
    for name, what, seen, types, changed in changes:
        yield derived(f"data/{op}/{name}", op, f"{op}: {what}", seen, _changing(types, changed), level)


def _rows(op: str) -> Iterator[MutantRow]:
    if requirements_of(op).establishes.get("nan-payload"):
        yield from _changed(op, "interpretation", _PAYLOADS)
    if not OPERATIONS[op].moves_data:
        return
    yield from _changed(op, "normative", _NORMATIVE)
    for kind, other, seen in _OTHERS:
        what = f"Data of {kind} of {op} comes back as {other}."
        yield derived(f"data/{op}/{kind}-as-{other}", op, what, seen, _handed_as(kind, other))
    what = f"{op}: Each row of a type narrower than a byte begins at a byte, and is read as if it did not."
    yield derived(f"data/{op}/narrow-rows-in-bytes", op, what, FOUND, _read_in_bytes)


ROWS = tuple(row for op in shipped_operations() for row in _rows(op))
