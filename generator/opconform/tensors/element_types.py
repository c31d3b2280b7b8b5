"""The element types by OpenVINO's names, and what each is called elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import ml_dtypes
import numpy as np

Kind = Literal["boolean", "float", "signed", "unsigned", "lookup", "string"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementType:
    """One element type: its width, and its name in each neighbour's language.

    Attributes:
        name: OpenVINO's name, as in `element_type="f32"`.
        kind: What its bits mean; `lookup` is an index into a table of values (nf4).
        bits: The width of one element, in bits; 0 for strings, whose elements have no fixed width.
        dtype: Its numpy or ml_dtypes name, or None where neither has such a type.
        precision: What OpenVINO's IR calls it in `precision="FP32"`.
        onnx: The name in `onnx.TensorProto`, or None.
        mlir: The builtin type that StableHLO uses, or None.
    """

    name: str
    kind: Kind
    bits: int
    dtype: str | None
    precision: str
    onnx: str | None
    mlir: str | None

    @property
    def is_integer(self) -> bool:
        """Whether the specification's "any integer type" covers it."""
        return self.kind in ("signed", "unsigned")

    @property
    def native(self) -> "np.dtype[Any] | None":
        """The numpy dtype whose arithmetic is this type's own (ml_dtypes included), or None."""
        if self.dtype is None:
            return None
        return np.dtype(getattr(ml_dtypes, self.dtype) if hasattr(ml_dtypes, self.dtype) else self.dtype)

    @property
    def arithmetic(self) -> "np.dtype[Any]":
        """The dtype to compute with: its own, or that of its storage."""
        return self.native or self.storage

    @property
    def storage(self) -> "np.dtype[Any]":
        """The dtype of this type in `.npy`: its own, or unsigned integers of the same width, a byte at the least."""
        return _STORAGE[self.name]

    @property
    def minimum(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1 if self.kind == "signed" else self.bits)) - 1


def _row(
    name: str, kind: Kind, bits: int, dtype: str | None, precision: str, onnx: str | None, mlir: str | None
) -> ElementType:
    return ElementType(name=name, kind=kind, bits=bits, dtype=dtype, precision=precision, onnx=onnx, mlir=mlir)


_ROWS = (
    _row("boolean", "boolean", 8, "bool", "BOOL", "BOOL", "i1"),
    _row("bf16", "float", 16, "bfloat16", "BF16", "BFLOAT16", "bf16"),
    _row("f16", "float", 16, "float16", "FP16", "FLOAT16", "f16"),
    _row("f32", "float", 32, "float32", "FP32", "FLOAT", "f32"),
    _row("f64", "float", 64, "float64", "FP64", "DOUBLE", "f64"),
    _row("f4e2m1", "float", 4, "float4_e2m1fn", "F4E2M1", "FLOAT4E2M1", "f4E2M1FN"),
    _row("f8e4m3", "float", 8, "float8_e4m3fn", "F8E4M3", "FLOAT8E4M3FN", "f8E4M3FN"),
    _row("f8e5m2", "float", 8, "float8_e5m2", "F8E5M2", "FLOAT8E5M2", "f8E5M2"),
    _row("f8e8m0", "float", 8, "float8_e8m0fnu", "F8E8M0", "FLOAT8E8M0", "f8E8M0FNU"),
    _row("i4", "signed", 4, "int4", "I4", "INT4", "i4"),
    _row("i8", "signed", 8, "int8", "I8", "INT8", "i8"),
    _row("i16", "signed", 16, "int16", "I16", "INT16", "i16"),
    _row("i32", "signed", 32, "int32", "I32", "INT32", "i32"),
    _row("i64", "signed", 64, "int64", "I64", "INT64", "i64"),
    _row("u1", "unsigned", 1, None, "BIN", None, None),
    _row("u2", "unsigned", 2, "uint2", "U2", "UINT2", "ui2"),
    _row("u3", "unsigned", 3, None, "U3", None, None),
    _row("u4", "unsigned", 4, "uint4", "U4", "UINT4", "ui4"),
    _row("u6", "unsigned", 6, None, "U6", None, None),
    _row("u8", "unsigned", 8, "uint8", "U8", "UINT8", "ui8"),
    _row("u16", "unsigned", 16, "uint16", "U16", "UINT16", "ui16"),
    _row("u32", "unsigned", 32, "uint32", "U32", "UINT32", "ui32"),
    _row("u64", "unsigned", 64, "uint64", "U64", "UINT64", "ui64"),
    _row("nf4", "lookup", 4, None, "NF4", None, None),
    _row("string", "string", 0, "str", "STRING", "STRING", None),
)

#: Every element type by its name.
ELEMENT_TYPES: Mapping[str, ElementType] = MappingProxyType({each.name: each for each in _ROWS})


def _storage_of(element_type: ElementType) -> "np.dtype[Any]":
    if element_type.dtype is not None and not hasattr(ml_dtypes, element_type.dtype):
        return np.dtype(element_type.dtype)
    return np.dtype(np.uint16 if element_type.bits == 16 else np.uint8)  # noqa: PLR2004 - two bytes


_STORAGE: Mapping[str, "np.dtype[Any]"] = MappingProxyType({each.name: _storage_of(each) for each in _ROWS})
