"""Packing: bytes as an IR holds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.bit_layouts import LOW_FIRST, OPENVINO_IR, Layouts, openvino_layouts, pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

TYPES = [element_type for element_type in ELEMENT_TYPES if element_type != "string"]
NARROW = sorted(LOW_FIRST)
#: A version of each layout.
VERSIONS = ("2025.2.0", "2026.4.1", "2026.5.0")

SHAPES = st.lists(st.integers(0, 9), max_size=3).map(tuple)


@given(name=st.sampled_from(TYPES), shape=SHAPES, version=st.sampled_from(VERSIONS))
def test_unpacking_is_the_inverse_of_packing(name: str, shape: tuple[int, ...], version: str) -> None:
    """What is packed comes back, whatever the type, the shape and the layout."""
    tensor = fill(TensorDraft(element_type=name, shape=shape, fill="bits"), 0, name, shape)
    back = unpack(pack(tensor, openvino_layouts(version)), name, shape, openvino_layouts(version))

    assert back.array.tobytes() == tensor.array.tobytes()
    assert back.shape == shape


@given(name=st.sampled_from(NARROW), values=st.lists(st.integers(0, 255), max_size=40))
def test_a_stream_of_bits_is_one_long_number(name: str, values: list[int]) -> None:
    """Element i takes the bits from i * width on, in as few bytes as hold them."""
    bits = ELEMENT_TYPES[name].bits
    cut = [value % (1 << bits) for value in values]
    number = sum(x << index * bits for index, x in enumerate(cut))
    tensor = Tensor(element_type=name, array=np.array(cut, np.uint8))

    assert pack(tensor, LOW_FIRST) == number.to_bytes(-(-len(cut) * bits // 8), "little")


def _changed(one: Layouts, other: Layouts) -> set[str]:
    return {name for name in NARROW if one[name] != other[name]}


def test_openvino_packs_by_its_version() -> None:
    """u2 changed in 2025.3, u3 and u6 after 2026.4; a build's suffix says nothing of it."""
    old, middle, new = (openvino_layouts(version) for version in VERSIONS)

    assert _changed(old, middle) == {"u2"}
    assert _changed(middle, new) == {"u3", "u6"}
    assert _changed(new, LOW_FIRST) == {"u1"}
    assert middle == OPENVINO_IR == openvino_layouts("2025.3.0-19807-44526285f24-releases/2025/3")
    assert openvino_layouts("2026.4.1-22982-e213a147257-releases/2026/4") == middle
    assert openvino_layouts("2027.0.0") == new


@pytest.mark.parametrize(
    ("version", "name", "packed"),
    [
        ("2025.2.0", "u2", "1b"),  # 00 01 10 11
        ("2026.4.1", "u2", "e4"),  # 11 10 01 00
        ("2026.4.1", "u3", "1b1b0f"),  # 00 01 10 11, 00 01 10 11, 0000 1111
        ("2026.5.0", "u3", "88c6fa"),  # 111 110 101 100 011 010 001 000, read from the right
    ],
)
def test_the_layouts_are_those_of_openvinos_sources(version: str, name: str, packed: str) -> None:
    """Ascending values, whose bits are written down by hand."""
    values = np.arange(1 << ELEMENT_TYPES[name].bits, dtype=np.uint8)

    assert pack(Tensor(element_type=name, array=values), openvino_layouts(version)).hex() == packed


def test_texts_are_packed_as_the_ir_stores_them() -> None:
    """The count, 0, the ends, then the UTF-8 bytes."""
    packed = pack(Tensor(element_type="string", array=np.array(["a", "", "\u00df"])), OPENVINO_IR)

    assert packed == b"\3\0\0\0" + b"\0\0\0\0" + b"\1\0\0\0" + b"\1\0\0\0" + b"\3\0\0\0" + b"a\xc3\x9f"
