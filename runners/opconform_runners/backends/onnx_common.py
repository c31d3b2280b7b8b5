"""The element types and mapped requirements of all backends that read the ONNX dialects."""

from collections.abc import Mapping
from types import MappingProxyType

#: The element types that ONNX's operators take.
CARRIED = (
    "boolean",
    "bf16",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "string",
)

#: The requirements that the rendering of each operation fulfils (docs/dialects.md): the axis of ONNX's `Split` is an
#: attribute, and its lengths cannot be -1.
MAPPED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Split-1": ("axis.shape", "axis.element-type"),
        "VariadicSplit-1": (
            "axis.shape",
            "axis.element-type",
            "lengths.remainder",
            "lengths.remainder-sum",
            "lengths.remainder-zero",
            "lengths.single-remainder",
            "types.independent",
        ),
    }
)
