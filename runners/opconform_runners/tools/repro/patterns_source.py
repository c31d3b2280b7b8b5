"""The source of what a script does with bits: it shows those of an element, and knows a NaN."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES

#: What tells a NaN of the types that numpy does not have: bits above these, where the first are looked at.
_NANS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"bf16": (0x7FFF, 0x7F80), "f8e4m3": (0x7F, 0x7E), "f8e5m2": (0x7F, 0x7C), "f8e8m0": (0xFF, 0xFE)}
)


def is_odd(element_type: str) -> bool:
    """Whether numpy has no dtype of its own for it."""
    kind = ELEMENT_TYPES[element_type]
    return kind.kind != "string" and kind.native != kind.storage


def nan_source(element_type: str, name: str) -> str:
    """An expression for where an array holds a NaN; nothing for an element type that has none.

    Args:
        element_type: The element type.
        name: What the array is called, which holds bits where numpy has no such type.
    """
    if element_type in _NANS:
        mask, last = _NANS[element_type]
        return f"({name} & {mask:#x} > {last:#x})"
    has_nans = ELEMENT_TYPES[element_type].kind == "float" and not is_odd(element_type)
    return f"np.isnan({name})" if has_nans else ""


class Bits(NamedTuple):
    """How a script shows the bits of an element: the width of what holds them, and the digits that they take."""

    stored: int
    digits: int
    alone: bool


def bits_of(case: Case) -> Bits | None:
    """How the bits of data are shown, or None where it has none."""
    kind = next((ELEMENT_TYPES[each.element_type] for each in case.inputs if each.role == "tensor"), None)
    if kind is None or kind.kind == "string":
        return None
    alone = is_odd(kind.name) or kind.kind == "boolean"
    return Bits(stored=8 * kind.storage.itemsize, digits=max(1, kind.bits // 4), alone=alone)


def both_nan_source(case: Case) -> str:
    """An expression for where both arrays hold a NaN; nothing for data that has none."""
    data = next((each.element_type for each in case.inputs if each.role == "tensor"), None)
    both = [nan_source(data, each) for each in ("want", "have")] if data is not None else []
    return " & ".join(each for each in both if each)
