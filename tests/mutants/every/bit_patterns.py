"""Mutants that change elements on their way: narrowed, rounded, flushed, truncated."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opconform.suite.manifest import Level
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor, patterns
from tests.mutants.row import FOUND, Call, Row, converted

_FLOATS, _WIDE = "NVIDIA/TensorRT#3424", "openvinotoolkit/openvino#9988"
_SMALL, _TEXTS = "microsoft/onnxruntime#18358", "tensorflow/tensorflow#7754"
_NATIVE_FLOATS, _NIBBLES = ("f32", "f16", "f64"), ("i4", "u4", "nf4", "f4e2m1")


def _row(
    name: str, what: str, seen: str, types: Sequence[str], changed: Callable[[Tensor], Any], level: Level = "normative"
) -> Row:
    """A mutant that changes the elements of outputs of some element types."""

    def handed(_call: Call, tensor: Tensor) -> Tensor:
        if tensor.element_type not in types or not tensor.array.size:
            return tensor
        with np.errstate(all="ignore"):
            return converted(tensor, changed(tensor))

    return Row(f"bit_patterns/{name}", what, seen, {"handed": handed}, level)


def _through(types: Sequence[str], other: str, seen: str, name: str = "") -> Row:
    """A mutant that converts elements to another type and back."""

    def changed(tensor: Tensor) -> Array:
        own, between = tensor.type.arithmetic, ELEMENT_TYPES[other].arithmetic
        return tensor.array.view(own).astype(between).astype(own).view(tensor.array.dtype)

    what = f"The elements of {' and '.join(types)} go through {other}."
    return _row(name or f"{types[0]}-through-{other}", what, seen, types, changed)


def _text(name: str, what: str, changed: Callable[[str], str]) -> Row:
    """A mutant that changes strings."""

    def every(tensor: Tensor) -> Array:
        texts = [changed(each) for each in tensor.array.reshape(-1).tolist()]
        return np.array(texts).reshape(tensor.shape)

    return _row(name, what, _TEXTS, ("string",), every)


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
    return np.array([each or flat[place - 1] for place, each in enumerate(flat)]).reshape(tensor.shape)


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
ROWS = (
    _through(["i64"], "i32", FOUND),
    _through(["u64"], "u32", FOUND),
    _through(["f64"], "f32", FOUND),
    _through(["i64"], "f64", _WIDE),
    _through(["u64"], "f64", _WIDE),
    _through(["i32"], "f32", _WIDE),
    _through(["u32"], "f32", _WIDE),
    _through(["f32"], "bf16", _FLOATS),
    _through(["f32"], "f16", _FLOATS),
    _through(["bf16"], "f16", _FLOATS),
    _through(["f16"], "bf16", _FLOATS),
    _through(["i16", "u16"], "f16", _SMALL),
    _through(["f8e8m0"], "f16", _FLOATS, "eight-bit-floats-through-f16"),
    _through(["f8e5m2"], "f8e4m3", FOUND, "f8-through-each-other"),
    _row("f8-mantissa-lost", "The last bit of f8e4m3 and f8e5m2 is lost.", FOUND, ["f8e4m3", "f8e5m2"],
        lambda tensor: tensor.array & np.uint8(0xFE)),
    _row("minus-zero-lost", "Minus zero becomes zero.", _FLOATS, ["f32", "f16", "bf16", "f64"], _without_minus_zero),
    _row("denormals-flushed", "Denormal numbers become zero.", _FLOATS, _NATIVE_FLOATS, _without_denormals),
    _row("infinity-clamped", "Infinities become the largest finite numbers.", _FLOATS, _NATIVE_FLOATS, _clamped),
    _row("nan-is-zero", "A NaN becomes zero.", _FLOATS, _NATIVE_FLOATS,
        lambda tensor: _where(tensor.array, np.isnan(tensor.array), 0)),
    _row("one-nan", "Every NaN becomes the same one.", _FLOATS, _NATIVE_FLOATS,
        lambda tensor: _where(tensor.array, np.isnan(tensor.array), np.nan), "interpretation"),
    _row("signalling-nan-quieted", "A signalling NaN becomes a quiet one.", FOUND, ["f16"], _quieted, "interpretation"),
    _row("last-mantissa-bits-lost", "Of f32 only 19 bits are kept, as tensor cores do.", _FLOATS, ["f32"],
        lambda tensor: (patterns(tensor.array) & np.uint32(0xFFFFE000)).view(np.float32)),
    _row("bytes-swapped", "The bytes of 16-bit elements are exchanged.", "onnx/onnx-tensorrt#348",
        ["i16", "u16", "f16", "bf16"], lambda tensor: tensor.array.byteswap()),
    _row("i8-saturated", "The least i8 becomes -127, as in symmetric quantization.", _SMALL, ["i8"],
        lambda tensor: np.maximum(tensor.array, np.int8(-127))),
    _row("u8-as-signed-saturated", "Elements of u8 over 127 become 127.", _SMALL, ["u8"],
        lambda tensor: np.minimum(tensor.array, np.uint8(127))),
    _row("boolean-always-true", "Every boolean becomes true.", _SMALL, ["boolean"],
        lambda tensor: np.ones_like(tensor.array)),
    _text("texts-cut-at-nul", "A string ends at its first NUL.", lambda text: text.partition("\0")[0]),
    _text("texts-cut-at-sixteen",
        "A string is truncated to 16 characters, as short strings that are kept in place are.", lambda text: text[:16]),
    _text("texts-in-latin", "Characters beyond Latin-1 become question marks.",
        lambda text: text.encode("latin-1", "replace").decode("latin-1")),
    _row("empty-texts-lost", "An empty string becomes the one before it.", _TEXTS, ["string"], _filled_from_before),
    _row("nibbles-exchanged", "The two 4-bit elements of each byte are exchanged.", FOUND, _NIBBLES,
        _nibbles_exchanged),
    _row("last-narrow-lost", "The last of an odd number of 4-bit elements is lost.", FOUND, _NIBBLES,
        _last_nibble_lost),
    _row("odd-widths-as-bits", "The highest bit of u2, u3 and u6 is lost.", FOUND, ["u2", "u3", "u6"],
        lambda tensor: tensor.array & np.uint8((1 << (tensor.type.bits - 1)) - 1)),
    _row("bits-inverted", "The elements of u1 come back inverted.", FOUND, ["u1"],
        lambda tensor: tensor.array ^ np.uint8(1)),
)
# fmt: on
