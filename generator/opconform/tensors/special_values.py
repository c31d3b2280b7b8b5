"""Special values, which conversions, arithmetic and caches are most likely to change.

Each list begins with the most important values, since a small tensor holds only the first few.
"""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from opconform.tensors.element_types import ElementType

#: Strings that code which confuses characters with bytes handles wrongly.
SPECIAL_TEXTS = (
    "",
    "\u00df",
    "a\u0000b",
    "\u65e5\u672c\u8a9e",
    "\U0001f600",
    " ",
    "e\u0301",
    "\n",
    "x" * 300,
    "0",
    "\ufeff",
)


#: The types with the layout of IEEE 754: sign, exponent, mantissa, and infinities.
_IEEE = frozenset({"bf16", "f16", "f32", "f64", "f8e5m2"})

_SMALL_FLOATS: Mapping[str, tuple[int, ...]] = {
    "f8e4m3": (0x7F, 0x80, 0x01, 0x7E, 0xFF, 0x07, 0x08, 0xFE, 0x38, 0x39),
    "f8e8m0": (0xFF, 0x00, 0xFE, 0x7F, 0x80, 0x01),
    "f4e2m1": (0x8, 0x7, 0x1, 0xF, 0x9, 0x2),
}

_INTEGERS = (
    *(2**53 + 1, 2**32 + 1, 2**31, -(2**31) - 1, -1, 2**63, 2**24 + 1, -(2**53) - 1, 2**63 - 1, 2**32 - 1, 2**32),
    *(2**31 - 1, -(2**31), 2**16 + 1, 2**15, -(2**15) - 1, 2**16 - 1, 2**8 + 1, 2**7, 2**8 - 1, 2**11 + 1, 0, 1),
)


def special_patterns(element_type: ElementType) -> tuple[int, ...]:
    """The special bit patterns of an element type other than `string`, the most important first."""
    if element_type.kind == "boolean":
        return (1, 0)
    if element_type.name in _IEEE:
        return _ieee(ml_dtypes.finfo(element_type.native))  # type: ignore[no-untyped-call]
    if element_type.name in _SMALL_FLOATS:
        return _SMALL_FLOATS[element_type.name]
    if element_type.kind == "lookup":
        return (7, 15, 0, 8)
    mask = (1 << element_type.bits) - 1
    extremes = (element_type.minimum, element_type.maximum)
    inside = (integer for integer in _INTEGERS if element_type.minimum <= integer <= element_type.maximum)
    return tuple(fromkey & mask for fromkey in dict.fromkeys((*extremes, *inside)))


def _ieee(layout: "ml_dtypes.finfo | np.finfo[Any]") -> tuple[int, ...]:
    exponent, mantissa = layout.nexp, layout.nmant
    sign = 1 << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    quiet = 1 << (mantissa - 1)
    unit = ((1 << (exponent - 1)) - 1) << mantissa
    least_normal = 1 << mantissa
    return (
        infinity | quiet | 1,  # a quiet NaN with a payload
        sign,  # minus zero
        unit + 1,  # the least value above one
        1,  # the least denormal
        infinity,
        infinity - 1,  # the largest finite number
        infinity | 1,  # a signalling NaN
        sign | infinity | quiet,  # a negative NaN
        sign | infinity,
        sign | 1,
        least_normal - 1,  # the largest denormal
        least_normal,
        sign | (infinity - 1),
        infinity | (quiet - 1 or 1),  # a signalling NaN with a full payload
        sign | infinity | quiet | (quiet - 1),  # a NaN with every bit set
        0,
        unit,
    )
