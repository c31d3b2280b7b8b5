"""What the backends that read the ONNX dialects share: the element types, and what the rendering does for them."""

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

#: The requirements that the rendering of each operation fulfils (docs/dialects.md). The axis of ONNX's `Split` is an
#: attribute, and there is no -1.
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
