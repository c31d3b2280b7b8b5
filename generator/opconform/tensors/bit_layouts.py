"""Packing: tensors as raw bytes in models and runtimes.

The packing of types narrower than a byte differs between dialects and between versions of a runtime.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform.tensors.texts import bytes_of

_COUNT = np.dtype("<i4")
_BYTE = 8
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the elements of one type are packed: a group of some elements takes some bytes.

    Attributes:
        places: For each bit of a group's bytes, the lowest of the first byte first: an element, and the bit of it.
        tail: The bits per element of an incomplete last group; 0 if such a group is written whole.
    """

    elements: int
    places: tuple[tuple[int, int], ...]
    tail: int = 0

    @property
    def bytes(self) -> int:
        """The size of a group."""
        return len(self.places) // _BYTE

    def size(self, count: int) -> int:
        """The size of a number of elements in bytes."""
        whole, rest = divmod(count, self.elements)
        last = -(-rest * self.tail // _BYTE) if self.tail else self.bytes * bool(rest)
        return whole * self.bytes + last


#: The layouts of the types narrower than a byte, by their names.
Layouts = Mapping[str, Layout]


def _stream(bits: int) -> Layout:
    """One stream of bits, lowest first; an element may span two bytes."""
    count = math.lcm(bits, _BYTE)
    return Layout(count // bits, tuple(divmod(index, bits) for index in range(count)), tail=bits)


def _high_first(bits: int) -> Layout:
    """The first element in the highest bits of the byte."""
    last = _BYTE // bits - 1
    return Layout(last + 1, tuple((last - index // bits, index % bits) for index in range(_BYTE)))


#: Elements of 3 bits: the low two of each element high first in two bytes, and the high ones in a third.
_U3_TRANSPOSED = Layout(
    8,
    (
        *((3 - index // 2, index % 2) for index in range(_BYTE)),
        *((7 - index // 2, index % 2) for index in range(_BYTE)),
        *((7 - index, 2) for index in range(_BYTE)),
    ),
)
#: Elements of 6 bits: the low four of each element high first in two bytes, and the high two in a third.
_U6_TRANSPOSED = Layout(
    4,
    (
        *((1 - index // 4, index % 4) for index in range(_BYTE)),
        *((3 - index // 4, index % 4) for index in range(_BYTE)),
        *((3 - index // 2, 4 + index % 2) for index in range(_BYTE)),
    ),
)

#: Every narrow type as one stream of bits, lowest first, as ONNX and MLIR have it.
LOW_FIRST: Layouts = {
    element_type.name: _stream(element_type.bits)
    for element_type in ELEMENT_TYPES.values()
    if 0 < element_type.bits < _BYTE
}
#: OpenVINO's layouts by the first version that has them, the newest first; all of them keep u1 highest first.
_OPENVINO: Mapping[tuple[int, int], Layouts] = {
    (2026, 5): {**LOW_FIRST, "u1": _high_first(1)},
    (2025, 3): {**LOW_FIRST, "u1": _high_first(1), "u3": _U3_TRANSPOSED, "u6": _U6_TRANSPOSED},
    (0, 0): {**LOW_FIRST, "u1": _high_first(1), "u2": _high_first(2), "u3": _U3_TRANSPOSED, "u6": _U6_TRANSPOSED},
}


def openvino_layouts(version: str) -> Layouts:
    """How a version of OpenVINO, as in `2026.4.1-22982-e213a147257`, packs narrow types.

    u2 changed from high first to low first in 2025.3, and u3 and u6 became a stream of bits after 2026.4.
    """
    match = _VERSION.match(version)
    known = (int(match[1]), int(match[2])) if match else max(_OPENVINO)
    return next(layouts for first, layouts in _OPENVINO.items() if first <= known)


#: The packing of constants in `model.bin`, as in OpenVINO 2025.3 to 2026.4.
OPENVINO_IR: Layouts = _OPENVINO[2025, 3]


def pack(tensor: Tensor, layouts: Layouts) -> bytes:
    """The bytes of a tensor, little-endian, with narrow types packed and the last group zero-padded.

    Strings are their number, 0, the end of each, and their bytes.
    """
    if tensor.type.kind == "string":
        texts = [bytes_of(str(value)) for value in tensor.array.reshape(-1)]
        ends = np.cumsum([len(text) for text in texts], dtype=_COUNT)
        return np.array([len(texts), 0], _COUNT).tobytes() + ends.tobytes() + b"".join(texts)
    layout = layouts.get(tensor.element_type)
    if layout is None:
        return tensor.array.astype(tensor.array.dtype.newbyteorder("<"), copy=False).tobytes()
    groups = -(-tensor.array.size // layout.elements)
    padded = np.zeros(groups * layout.elements, np.uint8)
    padded[: tensor.array.size] = tensor.array.reshape(-1)
    elements = padded.reshape(groups, layout.elements)
    packed = np.zeros((groups, layout.bytes), np.uint8)
    for place, (element, bit) in enumerate(layout.places):
        packed[:, place // _BYTE] |= (elements[:, element] >> bit & 1) << place % _BYTE
    return packed.tobytes()[: layout.size(tensor.array.size)]


def unpack(content: bytes | memoryview, element_type: str, shape: tuple[int, ...], layouts: Layouts) -> Tensor:
    """The tensor in some bytes, as packed by `pack`; padding is ignored. Strings are not supported."""
    count, storage = math.prod(shape), ELEMENT_TYPES[element_type].storage
    layout = layouts.get(element_type)
    if layout is None:
        flat: Array = np.frombuffer(content, storage.newbyteorder("<"), count).astype(storage)
        return Tensor(element_type=element_type, array=flat.reshape(shape))
    groups = -(-count // layout.elements)
    whole = np.zeros(groups * layout.bytes, np.uint8)
    whole[: layout.size(count)] = np.frombuffer(content, np.uint8, layout.size(count))
    packed = whole.reshape(groups, layout.bytes)
    elements = np.zeros((groups, layout.elements), np.uint8)
    for place, (element, bit) in enumerate(layout.places):
        elements[:, element] |= (packed[:, place // _BYTE] >> place % _BYTE & 1) << bit
    return Tensor(element_type=element_type, array=elements.reshape(-1)[:count].reshape(shape))
