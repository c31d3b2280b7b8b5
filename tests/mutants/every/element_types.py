"""Mutants that hand out another element type, or lack one that they declare."""

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from tests.mutants.row import FOUND, Call, Row, stricter

_OTHERS, _FLOATS = "microsoft/onnxruntime#18358", "NVIDIA/TensorRT#3424"


def _as(tensor: Tensor, name: str) -> Tensor:
    """The same values in another element type."""
    with np.errstate(all="ignore"):
        array = tensor.array.view(tensor.type.arithmetic).astype(ELEMENT_TYPES[name].arithmetic)
    return Tensor(element_type=name, array=array.view(ELEMENT_TYPES[name].storage))


def _handed_out(given: str, handed: str, seen: str) -> Row:
    """A mutant that hands out one element type as another."""
    what = f"Data of {given} comes back as {handed}."
    change = {"handed": lambda _, tensor: _as(tensor, handed) if tensor.element_type == given else tensor}
    return Row(f"element_types/{given}-as-{handed}", what, seen, change)


def _refused(name: str, what: str, seen: str, *types: str) -> Row:
    """A mutant that refuses element types that it declares."""
    change = stricter("handed", lambda _, tensor: tensor.element_type in types)
    return Row(f"element_types/{name}-refused", what, seen, change)


def _all_as_32_bits(_call: Call, tensor: Tensor) -> Tensor:
    if tensor.type.native is None or tensor.type.kind in ("string", "boolean"):
        return tensor
    return _as(tensor, "f32" if tensor.type.kind == "float" else "i32")


# fmt: off
ROWS = (
    _handed_out("i64", "i32", "PaddlePaddle/Paddle#11443"),
    _handed_out("f64", "f32", "pytorch/TensorRT#1272"),
    _handed_out("f16", "f32", _FLOATS),
    _handed_out("bf16", "f32", _FLOATS),
    _handed_out("boolean", "u8", _OTHERS),
    _handed_out("u8", "i8", _OTHERS),
    _handed_out("u32", "i32", _OTHERS),
    _handed_out("i16", "i32", _OTHERS),
    _refused("wide-integers", "Data of i64 and u64 is refused.", "PaddlePaddle/Paddle#11443", "i64", "u64"),
    _refused("small-integers", "Data of i16 and u16 is refused.", _OTHERS, "i16", "u16"),
    _refused("texts", "Data of strings is refused.", "tensorflow/tensorflow#7754", "string"),
    _refused("booleans", "Data of booleans is refused.", _OTHERS, "boolean"),
    _refused("narrow", "Data narrower than a byte is refused.", FOUND,
        *(name for name, each in ELEMENT_TYPES.items() if 0 < each.bits < 8)),
    _refused("eight-bit-floats", "Data of 8-bit floating-point types is refused.", _FLOATS, "f8e4m3", "f8e5m2",
        "f8e8m0"),
    Row("element_types/all-as-f32", "Data of a floating-point type comes back as f32, and of an integer type as i32.",
        _FLOATS, {"handed": _all_as_32_bits}),
)
# fmt: on
