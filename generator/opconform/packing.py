"""Packing: tensors as the raw bytes that OpenVINO's IR and its tensors hold.

The layouts of the types narrower than a byte were read off OpenVINO itself.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor

_COUNT = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class _Field:
    """Where some bits of an element lie in its group: the element's number, its bits, and the place in the group."""

    element: int
    shift: int
    bits: int
    byte: int
    place: int


@dataclass(frozen=True, slots=True)
class _Layout:
    """How many elements make a group, in how many bytes, and where their bits lie."""

    elements: int
    bytes: int
    fields: tuple[_Field, ...]


def _low_first(bits: int) -> _Layout:
    """The first element in the lowest bits of the byte."""
    count = 8 // bits
    return _Layout(count, 1, tuple(_Field(each, 0, bits, 0, each * bits) for each in range(count)))


_LAYOUTS: Mapping[str, _Layout] = MappingProxyType(
    {
        **dict.fromkeys(("i4", "u4", "nf4", "f4e2m1"), _low_first(4)),
        "u2": _low_first(2),
        "u1": _Layout(8, 1, tuple(_Field(each, 0, 1, 0, 7 - each) for each in range(8))),
        "u3": _Layout(
            8,
            3,
            (
                *(_Field(each, 0, 2, each // 4, 6 - each % 4 * 2) for each in range(8)),
                *(_Field(each, 2, 1, 2, 7 - each) for each in range(8)),
            ),
        ),
        "u6": _Layout(
            4,
            3,
            (
                *(_Field(each, 0, 4, each // 2, 4 - each % 2 * 4) for each in range(4)),
                *(_Field(each, 4, 2, 2, 6 - each * 2) for each in range(4)),
            ),
        ),
    }
)


def pack(tensor: Tensor) -> bytes:
    """The bytes of a tensor, little-endian; narrow types packed, the last group filled up with zeros."""
    if tensor.type.kind == "string":
        return _packed_texts(tensor.array)
    layout = _LAYOUTS.get(tensor.element_type)
    if layout is None:
        return tensor.array.astype(tensor.array.dtype.newbyteorder("<"), copy=False).tobytes()
    groups = -(-tensor.array.size // layout.elements)
    padded = np.zeros(groups * layout.elements, np.uint8)
    padded[: tensor.array.size] = tensor.array.reshape(-1)
    elements = padded.reshape(groups, layout.elements)
    packed = np.zeros((groups, layout.bytes), np.uint8)
    for each in layout.fields:
        packed[:, each.byte] |= ((elements[:, each.element] >> each.shift) & ((1 << each.bits) - 1)) << each.place
    return packed.tobytes()


def unpack(content: bytes | memoryview, element_type: str, shape: tuple[int, ...]) -> Tensor:
    """The tensor that some bytes hold.

    Args:
        content: The bytes, as `pack` makes them; what pads the last group is not looked at.
        element_type: A name of the element types' table that is no string.
        shape: The sizes of the dimensions.
    """
    count, storage = math.prod(shape), ELEMENT_TYPES[element_type].storage
    layout = _LAYOUTS.get(element_type)
    if layout is None:
        flat: Array = np.frombuffer(content, storage.newbyteorder("<"), count).astype(storage)
        return Tensor(element_type=element_type, array=flat.reshape(shape))
    groups = -(-count // layout.elements)
    packed = np.frombuffer(content, np.uint8, groups * layout.bytes).reshape(groups, layout.bytes)
    elements = np.zeros((groups, layout.elements), np.uint8)
    for each in layout.fields:
        elements[:, each.element] |= ((packed[:, each.byte] >> each.place) & ((1 << each.bits) - 1)) << each.shift
    return Tensor(element_type=element_type, array=elements.reshape(-1)[:count].reshape(shape))


def _packed_texts(texts: Array) -> bytes:
    """The number of texts, 0, the end of each, and their UTF-8 bytes one after the other."""
    encoded = [str(each).encode() for each in texts.reshape(-1)]
    ends = np.cumsum([len(each) for each in encoded], dtype=_COUNT)
    return np.array([len(encoded), 0], _COUNT).tobytes() + ends.tobytes() + b"".join(encoded)
