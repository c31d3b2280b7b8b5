"""Mutants that hand out another element type, or lack one that they declare."""

import numpy as np

from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse


class _Converted(Kernel):
    """Hands out one element type as another."""

    given: str
    handed: str

    def element_type(self, call: Call) -> str:
        return self.handed if call.element_type == self.given else call.element_type

    def bits(self, call: Call, piece: Array) -> Array:
        if call.element_type != self.given:
            return piece
        source, target = ELEMENT_TYPES[self.given], ELEMENT_TYPES[self.handed]
        with np.errstate(all="ignore"):
            return piece.view(source.arithmetic).astype(target.arithmetic).view(target.storage)


@mutant("PaddlePaddle/Paddle#11443")
class I64AsI32(_Converted):
    """Data of i64 comes back as i32."""

    given, handed = "i64", "i32"


@mutant("pytorch/TensorRT#1272")
class F64AsF32(_Converted):
    """Data of f64 comes back as f32."""

    given, handed = "f64", "f32"


@mutant("NVIDIA/TensorRT#3424")
class F16AsF32(_Converted):
    """Data of f16 comes back as f32."""

    given, handed = "f16", "f32"


@mutant("NVIDIA/TensorRT#3424")
class Bf16AsF32(_Converted):
    """Data of bf16 comes back as f32."""

    given, handed = "bf16", "f32"


@mutant("microsoft/onnxruntime#18358")
class BooleanAsU8(_Converted):
    """Data of booleans comes back as u8."""

    given, handed = "boolean", "u8"


@mutant("microsoft/onnxruntime#18358")
class U8AsI8(_Converted):
    """Data of u8 comes back as i8."""

    given, handed = "u8", "i8"


@mutant("microsoft/onnxruntime#18358")
class U32AsI32(_Converted):
    """Data of u32 comes back as i32."""

    given, handed = "u32", "i32"


@mutant("microsoft/onnxruntime#18358")
class I16AsI32(_Converted):
    """Data of i16 comes back as i32."""

    given, handed = "i16", "i32"


class _Refused(Kernel):
    """Refuses some element types, as if they were against the specification."""

    refused: tuple[str, ...]

    def dimension(self, call: Call, axis: int) -> int:
        if call.element_type in self.refused:
            refuse(f"data is {call.element_type}")
        return super().dimension(call, axis)


@mutant("PaddlePaddle/Paddle#11443")
class WideIntegersRefused(_Refused):
    """Data of i64 and u64 is refused."""

    refused = ("i64", "u64")


@mutant("microsoft/onnxruntime#18358")
class SmallIntegersRefused(_Refused):
    """Data of i16 and u16 is refused."""

    refused = ("i16", "u16")


@mutant("tensorflow/tensorflow#7754")
class TextsRefused(_Refused):
    """Data of strings is refused."""

    refused = ("string",)


@mutant("microsoft/onnxruntime#18358")
class BooleansRefused(_Refused):
    """Data of booleans is refused."""

    refused = ("boolean",)


@mutant(FOUND)
class NarrowRefused(_Refused):
    """Data narrower than a byte is refused."""

    refused = ("u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1")


@mutant("NVIDIA/TensorRT#3424")
class EightBitFloatsRefused(_Refused):
    """Data of 8-bit floating-point types is refused."""

    refused = ("f8e4m3", "f8e5m2", "f8e8m0")


@mutant("NVIDIA/TensorRT#3424")
class AllAsF32(Kernel):
    """Data of a floating-point type comes back as f32, and of an integer type as i32."""

    def element_type(self, call: Call) -> str:
        kind = ELEMENT_TYPES[call.element_type]
        if kind.native is None or kind.kind in ("string", "boolean"):
            return call.element_type
        return "f32" if kind.kind == "float" else "i32"

    def bits(self, call: Call, piece: Array) -> Array:
        source, target = ELEMENT_TYPES[call.element_type], ELEMENT_TYPES[self.element_type(call)]
        if source == target:
            return piece
        with np.errstate(all="ignore"):
            return piece.view(source.arithmetic).astype(target.arithmetic)
