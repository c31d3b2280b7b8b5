"""What the backends that read the ONNX dialects share: what ONNX's `Split` carries, and what it has no notion of."""

#: The element types that ONNX's `Split` takes.
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

#: The requirements that the rendering fulfils: the axis is an attribute, and there is no -1 (docs/dialects.md).
MAPPED = (
    "axis.shape",
    "axis.element-type",
    "lengths.remainder",
    "lengths.remainder-sum",
    "lengths.remainder-zero",
    "lengths.single-remainder",
    "types.independent",
)
