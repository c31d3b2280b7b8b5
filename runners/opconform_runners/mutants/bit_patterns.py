"""Mutants that change elements on their way: narrowed, rounded, flushed, cut."""

from collections.abc import Sequence

import numpy as np

from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, patterns
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import Call, Kernel


class _Changed(Kernel):
    """Changes the elements of some element types."""

    types: Sequence[str]

    def bits(self, call: Call, piece: Array) -> Array:
        if call.element_type not in self.types or not piece.size:
            return piece
        with np.errstate(all="ignore"):
            return self.changed(piece, call.element_type)

    def changed(self, piece: Array, name: str) -> Array:
        """The elements as they are handed out."""
        return piece


class _Through(_Changed):
    """Converts elements to another type and back."""

    through: str

    def changed(self, piece: Array, name: str) -> Array:
        native = ELEMENT_TYPES[name].arithmetic
        between = ELEMENT_TYPES[self.through].arithmetic
        return piece.view(native).astype(between).astype(native).view(piece.dtype)


@mutant(FOUND)
class I64ThroughI32(_Through):
    """The elements of i64 go through i32."""

    types, through = ("i64",), "i32"


@mutant(FOUND)
class U64ThroughU32(_Through):
    """The elements of u64 go through u32."""

    types, through = ("u64",), "u32"


@mutant(FOUND)
class F64ThroughF32(_Through):
    """The elements of f64 go through f32."""

    types, through = ("f64",), "f32"


@mutant("openvinotoolkit/openvino#9988")
class I64ThroughF64(_Through):
    """The elements of i64 go through f64."""

    types, through = ("i64",), "f64"


@mutant("openvinotoolkit/openvino#9988")
class U64ThroughF64(_Through):
    """The elements of u64 go through f64."""

    types, through = ("u64",), "f64"


@mutant("openvinotoolkit/openvino#9988")
class I32ThroughF32(_Through):
    """The elements of i32 go through f32."""

    types, through = ("i32",), "f32"


@mutant("openvinotoolkit/openvino#9988")
class U32ThroughF32(_Through):
    """The elements of u32 go through f32."""

    types, through = ("u32",), "f32"


@mutant("NVIDIA/TensorRT#3424")
class F32ThroughBf16(_Through):
    """The elements of f32 go through bf16."""

    types, through = ("f32",), "bf16"


@mutant("NVIDIA/TensorRT#3424")
class F32ThroughF16(_Through):
    """The elements of f32 go through f16."""

    types, through = ("f32",), "f16"


@mutant("NVIDIA/TensorRT#3424")
class Bf16ThroughF16(_Through):
    """The elements of bf16 go through f16."""

    types, through = ("bf16",), "f16"


@mutant("NVIDIA/TensorRT#3424")
class F16ThroughBf16(_Through):
    """The elements of f16 go through bf16."""

    types, through = ("f16",), "bf16"


@mutant("microsoft/onnxruntime#18358")
class I16ThroughF16(_Through):
    """The elements of i16 and u16 go through f16."""

    types, through = ("i16", "u16"), "f16"


@mutant("NVIDIA/TensorRT#3424")
class EightBitFloatsThroughF16(_Through):
    """The elements of f8e8m0 go through f16."""

    types, through = ("f8e8m0",), "f16"


@mutant(FOUND)
class F8ThroughEachOther(_Through):
    """The elements of f8e5m2 go through f8e4m3."""

    types, through = ("f8e5m2",), "f8e4m3"


@mutant(FOUND)
class F8MantissaLost(_Changed):
    """The last bit of f8e4m3 and f8e5m2 is lost."""

    types = ("f8e4m3", "f8e5m2")

    def changed(self, piece: Array, name: str) -> Array:
        return piece & np.uint8(0xFE)


@mutant("NVIDIA/TensorRT#3424")
class MinusZeroLost(_Changed):
    """Minus zero becomes zero."""

    types = ("f32", "f16", "bf16", "f64")

    def changed(self, piece: Array, name: str) -> Array:
        bits = patterns(piece)
        minus_zero = np.array(1 << (ELEMENT_TYPES[name].bits - 1), bits.dtype)
        return np.where(bits == minus_zero, np.zeros(1, bits.dtype), bits).view(piece.dtype)


@mutant("NVIDIA/TensorRT#3424")
class DenormalsFlushed(_Changed):
    """Denormal numbers become zero."""

    types = ("f32", "f16", "f64")

    def changed(self, piece: Array, name: str) -> Array:
        tiny = np.finfo(piece.dtype).tiny
        return np.where((np.abs(piece) < tiny) & (piece != 0), np.zeros(1, piece.dtype), piece)


@mutant("NVIDIA/TensorRT#3424")
class InfinityClamped(_Changed):
    """Infinities become the largest finite numbers."""

    types = ("f32", "f16", "f64")

    def changed(self, piece: Array, name: str) -> Array:
        largest = np.finfo(piece.dtype).max
        return np.where(np.isinf(piece), np.copysign(largest, piece), piece)


@mutant("NVIDIA/TensorRT#3424")
class NanIsZero(_Changed):
    """A NaN becomes zero."""

    types = ("f32", "f16", "f64")

    def changed(self, piece: Array, name: str) -> Array:
        return np.where(np.isnan(piece), np.zeros(1, piece.dtype), piece)


@mutant("NVIDIA/TensorRT#3424", "interpretation")
class OneNan(_Changed):
    """Every NaN becomes the same one."""

    types = ("f32", "f16", "f64")

    def changed(self, piece: Array, name: str) -> Array:
        return np.where(np.isnan(piece), np.full(1, np.nan, piece.dtype), piece)


@mutant(FOUND, "interpretation")
class SignallingNanQuieted(_Changed):
    """A signalling NaN becomes a quiet one."""

    types = ("f16",)

    def changed(self, piece: Array, name: str) -> Array:
        bits = patterns(piece)
        return np.where(np.isnan(piece), bits | np.uint16(0x200), bits).view(piece.dtype)


@mutant("NVIDIA/TensorRT#3424")
class LastMantissaBitsLost(_Changed):
    """Of f32 only 19 bits are kept, as tensor cores do."""

    types = ("f32",)

    def changed(self, piece: Array, name: str) -> Array:
        return (patterns(piece) & np.uint32(0xFFFFE000)).view(piece.dtype)


@mutant("onnx/onnx-tensorrt#348")
class BytesSwapped(_Changed):
    """The bytes of 16-bit elements are exchanged."""

    types = ("i16", "u16", "f16", "bf16")

    def changed(self, piece: Array, name: str) -> Array:
        return piece.byteswap()


@mutant("microsoft/onnxruntime#18358")
class I8Saturated(_Changed):
    """The least i8 becomes -127, as in symmetric quantization."""

    types = ("i8",)

    def changed(self, piece: Array, name: str) -> Array:
        return np.maximum(piece, np.int8(-127))


@mutant("microsoft/onnxruntime#18358")
class U8AsSignedSaturated(_Changed):
    """Elements of u8 over 127 become 127."""

    types = ("u8",)

    def changed(self, piece: Array, name: str) -> Array:
        return np.minimum(piece, np.uint8(127))


@mutant("microsoft/onnxruntime#18358")
class BooleanAlwaysTrue(_Changed):
    """Every boolean becomes true."""

    types = ("boolean",)

    def changed(self, piece: Array, name: str) -> Array:
        return np.ones_like(piece)


@mutant("tensorflow/tensorflow#7754")
class TextsCutAtNul(_Changed):
    """A string ends at its first NUL."""

    types = ("string",)

    def changed(self, piece: Array, name: str) -> Array:
        return np.array([each.partition("\0")[0] for each in piece.reshape(-1).tolist()]).reshape(piece.shape)


@mutant("tensorflow/tensorflow#7754")
class TextsCutAtSixteen(_Changed):
    """A string is cut at its 16th character, as short strings that are kept in place are."""

    types = ("string",)

    def changed(self, piece: Array, name: str) -> Array:
        return piece.astype("<U16")


@mutant("tensorflow/tensorflow#7754")
class TextsInLatin(_Changed):
    """Characters beyond Latin-1 become question marks."""

    types = ("string",)

    def changed(self, piece: Array, name: str) -> Array:
        flat = [each.encode("latin-1", "replace").decode("latin-1") for each in piece.reshape(-1).tolist()]
        return np.array(flat).reshape(piece.shape)


@mutant("tensorflow/tensorflow#7754")
class EmptyTextsLost(_Changed):
    """An empty string becomes the one before it."""

    types = ("string",)

    def changed(self, piece: Array, name: str) -> Array:
        flat = piece.reshape(-1).tolist()
        return np.array([each or flat[place - 1] for place, each in enumerate(flat)]).reshape(piece.shape)


@mutant(FOUND)
class NibblesExchanged(_Changed):
    """The two 4-bit elements of each byte are exchanged."""

    types = ("i4", "u4", "nf4", "f4e2m1")

    def changed(self, piece: Array, name: str) -> Array:
        flat = piece.reshape(-1).copy()
        paired = len(flat) // 2 * 2
        flat[:paired] = flat[:paired].reshape(-1, 2)[:, ::-1].reshape(-1)
        return flat.reshape(piece.shape)


@mutant(FOUND)
class NarrowCutAtByte(Kernel):
    """A piece of elements narrower than a byte begins at the beginning of a byte."""

    def copied(self, call: Call, rows: Array, start: int, size: int) -> Array:
        width = ELEMENT_TYPES[call.element_type].bits
        inner = rows.shape[2]
        if not 0 < width < 8 or not inner or not size:  # noqa: PLR2004 - a byte
            return super().copied(call, rows, start, size)
        first = start * inner
        aligned = first - first % max(8 // width, 1)
        return rows.reshape(rows.shape[0], -1)[:, aligned : aligned + size * inner].reshape(rows.shape[0], size, inner)


@mutant(FOUND)
class LastNarrowLost(_Changed):
    """The last of an odd number of 4-bit elements is lost."""

    types = ("i4", "u4", "nf4", "f4e2m1")

    def changed(self, piece: Array, name: str) -> Array:
        flat = piece.reshape(-1).copy()
        flat[len(flat) // 2 * 2 :] = 0
        return flat.reshape(piece.shape)


@mutant(FOUND)
class OddWidthsAsBits(_Changed):
    """The highest bit of u2, u3 and u6 is lost."""

    types = ("u2", "u3", "u6")

    def changed(self, piece: Array, name: str) -> Array:
        return piece & np.uint8((1 << (ELEMENT_TYPES[name].bits - 1)) - 1)


@mutant(FOUND)
class BitsInverted(_Changed):
    """The elements of u1 come back inverted."""

    types = ("u1",)

    def changed(self, piece: Array, name: str) -> Array:
        return piece ^ np.uint8(1)
