"""The element types by OpenVINO's names, with their names elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import ml_dtypes
import numpy as np

Kind = Literal["boolean", "float", "signed", "unsigned", "lookup", "string"]


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type: OpenVINO's name, the width, and the names elsewhere; None where a product lacks the type.

    Attributes:
        kind: What its bits mean; `lookup` is an index into a table of values (nf4).
        bits: The width of one element; 0 for strings.
        dtype: The name in numpy or ml_dtypes.
        precision: The name in OpenVINO's IR, as in `precision="FP32"`.
        mlir: The builtin type of MLIR in StableHLO.
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
        """The dtype of numpy or ml_dtypes with this type's arithmetic, or None."""
        if self.dtype is None:
            return None
        return np.dtype(getattr(ml_dtypes, self.dtype) if hasattr(ml_dtypes, self.dtype) else self.dtype)

    @property
    def arithmetic(self) -> "np.dtype[Any]":
        """The dtype to compute with: the native or the storage dtype."""
        return self.native or self.storage

    @property
    def layout(self) -> "ml_dtypes.finfo | np.finfo[np.floating]":
        """The limits of a floating-point type: `nmant`, `minexp`, `max` and others."""
        return _layout(self.dtype)

    @property
    def storage(self) -> "np.dtype[Any]":
        """The dtype in `.npy`: numpy's own, or unsigned integers of the same width, at least a byte."""
        return _STORAGE[self.name]

    @property
    def minimum(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1 if self.kind == "signed" else self.bits)) - 1


@cache
def _layout(dtype: str | None) -> "ml_dtypes.finfo | np.finfo[np.floating]":
    """The limits of a type by the name in numpy or ml_dtypes; they are asked for at every element."""
    kind = np.dtype(getattr(ml_dtypes, dtype) if dtype and hasattr(ml_dtypes, dtype) else dtype)
    return ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]


_ROWS = (
    ElementType("boolean", "boolean", 8, "bool", "BOOL", "BOOL", "i1"),
    ElementType("bf16", "float", 16, "bfloat16", "BF16", "BFLOAT16", "bf16"),
    ElementType("f16", "float", 16, "float16", "FP16", "FLOAT16", "f16"),
    ElementType("f32", "float", 32, "float32", "FP32", "FLOAT", "f32"),
    ElementType("f64", "float", 64, "float64", "FP64", "DOUBLE", "f64"),
    ElementType("f4e2m1", "float", 4, "float4_e2m1fn", "F4E2M1", "FLOAT4E2M1", "f4E2M1FN"),
    ElementType("f8e4m3", "float", 8, "float8_e4m3fn", "F8E4M3", "FLOAT8E4M3FN", "f8E4M3FN"),
    ElementType("f8e5m2", "float", 8, "float8_e5m2", "F8E5M2", "FLOAT8E5M2", "f8E5M2"),
    ElementType("f8e8m0", "float", 8, "float8_e8m0fnu", "F8E8M0", "FLOAT8E8M0", "f8E8M0FNU"),
    ElementType("i4", "signed", 4, "int4", "I4", "INT4", "i4"),
    ElementType("i8", "signed", 8, "int8", "I8", "INT8", "i8"),
    ElementType("i16", "signed", 16, "int16", "I16", "INT16", "i16"),
    ElementType("i32", "signed", 32, "int32", "I32", "INT32", "i32"),
    ElementType("i64", "signed", 64, "int64", "I64", "INT64", "i64"),
    ElementType("u1", "unsigned", 1, None, "BIN", None, None),
    ElementType("u2", "unsigned", 2, "uint2", "U2", "UINT2", "ui2"),
    ElementType("u3", "unsigned", 3, None, "U3", None, None),
    ElementType("u4", "unsigned", 4, "uint4", "U4", "UINT4", "ui4"),
    ElementType("u6", "unsigned", 6, None, "U6", None, None),
    ElementType("u8", "unsigned", 8, "uint8", "U8", "UINT8", "ui8"),
    ElementType("u16", "unsigned", 16, "uint16", "U16", "UINT16", "ui16"),
    ElementType("u32", "unsigned", 32, "uint32", "U32", "UINT32", "ui32"),
    ElementType("u64", "unsigned", 64, "uint64", "U64", "UINT64", "ui64"),
    ElementType("nf4", "lookup", 4, None, "NF4", None, None),
    ElementType("string", "string", 0, "str", "STRING", "STRING", None),
)

#: Every element type by its name.
ELEMENT_TYPES: Mapping[str, ElementType] = {row.name: row for row in _ROWS}


def _storage_of(element_type: ElementType) -> "np.dtype[Any]":
    if element_type.dtype is not None and not hasattr(ml_dtypes, element_type.dtype):
        return np.dtype(element_type.dtype)
    return np.dtype(np.uint16 if element_type.bits == 16 else np.uint8)  # noqa: PLR2004 - two bytes


_STORAGE: Mapping[str, "np.dtype[Any]"] = {row.name: _storage_of(row) for row in _ROWS}
