"""Special values: what a detour through other types, arithmetic or a cache is most likely to change.

Each list begins with its most telling elements, since a small tensor holds only the first few.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from opconform.tensors.element_types import ElementType

#: Texts that are cut, joined, folded or measured wrongly by code that takes a character for a byte.
SPECIAL_TEXTS = (
    "",
    "\u00df",
    "a\u0000b",
    "\u65e5\u672c\u8a9e",
    "\U0001f600",
    " ",
    "e\u0301",
    "\n",
    "x" * 40,
    "0",
    "\ufeff",
)


@dataclass(frozen=True, slots=True)
class _Ieee:
    """How a binary floating-point type lays out its bits: the widths of exponent and mantissa."""

    exponent: int
    mantissa: int


_IEEE: Mapping[str, _Ieee] = MappingProxyType(
    {"bf16": _Ieee(8, 7), "f16": _Ieee(5, 10), "f32": _Ieee(8, 23), "f64": _Ieee(11, 52), "f8e5m2": _Ieee(5, 2)}
)

_SMALL_FLOATS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "f8e4m3": (0x7F, 0x80, 0x01, 0x7E, 0xFF, 0x07, 0x08, 0xFE, 0x38, 0x39),
        "f8e8m0": (0xFF, 0x00, 0xFE, 0x7F, 0x80, 0x01),
        "f4e2m1": (0x8, 0x7, 0x1, 0xF, 0x9, 0x2),
    }
)

_INTEGERS = (
    *(2**53 + 1, 2**32 + 1, 2**31, -(2**31) - 1, -1, 2**63, 2**24 + 1, -(2**53) - 1, 2**63 - 1, 2**32 - 1, 2**32),
    *(2**31 - 1, -(2**31), 2**16 + 1, 2**15, -(2**15) - 1, 2**16 - 1, 2**8 + 1, 2**7, 2**8 - 1, 2**11 + 1, 0, 1),
)


def special_patterns(element_type: ElementType) -> tuple[int, ...]:
    """The special bit patterns of an element type that is no string, the most telling first."""
    if element_type.kind == "boolean":
        return (1, 0)
    if element_type.name in _IEEE:
        return _ieee(_IEEE[element_type.name])
    if element_type.name in _SMALL_FLOATS:
        return _SMALL_FLOATS[element_type.name]
    if element_type.kind == "lookup":
        return (7, 15, 0, 8)
    mask = (1 << element_type.bits) - 1
    extremes = (element_type.minimum, element_type.maximum)
    inside = (each for each in _INTEGERS if element_type.minimum <= each <= element_type.maximum)
    return tuple(each & mask for each in dict.fromkeys((*extremes, *inside)))


def _ieee(layout: _Ieee) -> tuple[int, ...]:
    sign = 1 << (layout.exponent + layout.mantissa)
    infinity = ((1 << layout.exponent) - 1) << layout.mantissa
    quiet = 1 << (layout.mantissa - 1)
    one = ((1 << (layout.exponent - 1)) - 1) << layout.mantissa
    least_normal = 1 << layout.mantissa
    return (
        infinity | quiet | 1,  # a quiet NaN with a payload
        sign,  # minus zero
        one + 1,  # one and the least difference that the type can tell from it
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
        one,
    )


def is_finite(element_type: ElementType, pattern: int) -> bool:
    """Whether a bit pattern of a floating-point type of at most 16 bits is a number and no infinity."""
    if element_type.name in _IEEE:
        layout = _IEEE[element_type.name]
        infinity = ((1 << layout.exponent) - 1) << layout.mantissa
        return pattern & infinity != infinity
    return pattern not in {"f8e4m3": (0x7F, 0xFF), "f8e8m0": (0xFF,)}.get(element_type.name, ())
