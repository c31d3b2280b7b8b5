"""Literals: the elements in specs, checked against their element type and converted to its bits."""

import re
from collections.abc import Sequence

import numpy as np

from opconform.errors import quoted, quoted_text
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array
from opconform.tensors.texts import text_of

#: One element in a spec: a number, a boolean or a string; `0x7fc00001` is a bit pattern, and `nan` a number.
Element = bool | int | float | str

_PATTERN = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT_TEXTS = frozenset({"nan", "inf", "-inf", "-nan"})


def checked(name: str, element: Element) -> Element:
    """The normalized element: an integer for integer types, a lower-case bit pattern, or unchanged.

    An element that the type does not have raises `ValueError`.
    """
    element_type = ELEMENT_TYPES[name]
    if element_type.kind == "string":
        return _checked_text(element)
    if isinstance(element, str) and _PATTERN.fullmatch(element):
        return _checked_pattern(element_type, element)
    if element_type.kind == "boolean":
        if element in (0, 1) and not isinstance(element, float):
            return int(element)
        raise ValueError(f"{quoted(element)} is not a boolean; write true or false")
    if element_type.kind == "float":
        return _checked_float(element_type, element)
    return _checked_integer(element_type, element)


def encoded(name: str, elements: Sequence[Element]) -> Array:
    """Checked elements as a flat array in the storage dtype."""
    element_type = ELEMENT_TYPES[name]
    storage = element_type.storage
    if element_type.kind == "string":
        return np.array([text_of(str(element).encode()) for element in elements], dtype=np.str_)
    if element_type.kind == "float":
        return np.array([_float_pattern(element_type, element) for element in elements], _unsigned(storage)).view(
            storage
        )
    if element_type.is_integer and storage.kind in "iu" and storage.itemsize * 8 == element_type.bits:
        return np.array(elements, storage)
    mask = (1 << element_type.bits) - 1
    return np.array([int(element) & mask for element in elements], storage)


def _checked_text(element: Element) -> str:
    if not isinstance(element, str):
        raise ValueError(f"{quoted(element)} is not text; write it in quotes")
    if any("\ud800" <= x <= "\udfff" for x in element):
        raise ValueError(f"{quoted(element)} contains an unpaired surrogate")
    return element


def _checked_pattern(element_type: ElementType, element: str) -> Element:
    pattern = int(element, 16)
    bits = 1 if element_type.kind == "boolean" else element_type.bits
    if pattern >> bits:
        raise ValueError(f"{quoted_text(element)} has more than the {bits} bits of {element_type.name}")
    if element_type.kind == "float":
        return element.lower()
    if element_type.kind == "signed" and pattern > element_type.maximum:
        return pattern - (1 << element_type.bits)
    return pattern


def _checked_float(element_type: ElementType, element: Element) -> Element:
    if isinstance(element, str) and element not in _FLOAT_TEXTS:
        raise ValueError(
            f"{quoted(element)} is not a number; write a number, nan, inf, -inf or a bit pattern such as 0x1f"
        )
    if isinstance(element, bool):
        raise ValueError(f"{quoted(element)} is not a number; write 0 or 1")
    try:
        number = float(element)
    except OverflowError:
        number = float("inf")
    with np.errstate(all="ignore"):
        rounded = float(np.array([number]).astype(element_type.native)[0])
    if (np.isfinite(number) and not np.isfinite(rounded)) or (isinstance(element, int) and np.isinf(number)):
        raise ValueError(f"{quoted(element)} is out of range for {element_type.name}")
    return element if isinstance(element, str) else number


def _checked_integer(element_type: ElementType, element: Element) -> int:
    first, last = element_type.minimum, element_type.maximum
    if isinstance(element, bool) or not isinstance(element, int):
        raise ValueError(f"{quoted(element)} is not an integer, which {element_type.name} requires")
    if not first <= element <= last:
        raise ValueError(f"{quoted(element)} is not in the range of {element_type.name}, {first} to {last}")
    return element


def _float_pattern(element_type: ElementType, element: Element) -> int:
    if isinstance(element, str) and _PATTERN.fullmatch(element):
        return int(element, 16)
    with np.errstate(all="ignore"):
        array = np.array([float(element)]).astype(element_type.native)
    pattern = int(array.view(_unsigned(element_type.storage))[0])
    return pattern & ((1 << element_type.bits) - 1)


def _unsigned(storage: "np.dtype[np.generic]") -> "np.dtype[np.unsignedinteger]":
    return np.dtype(f"u{storage.itemsize}")
