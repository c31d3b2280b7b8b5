"""Packing: bytes as an IR holds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.bit_layouts import LOW_FIRST, OPENVINO_IR, Layouts, pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

TYPES = [element_type for element_type in ELEMENT_TYPES if element_type != "string"]
NARROW = sorted(LOW_FIRST)

SHAPES = st.lists(st.integers(0, 9), max_size=3).map(tuple)


@given(name=st.sampled_from(TYPES), shape=SHAPES, layouts=st.sampled_from([LOW_FIRST, OPENVINO_IR]))
def test_unpacking_is_the_inverse_of_packing(name: str, shape: tuple[int, ...], layouts: Layouts) -> None:
    """What is packed comes back, whatever the type, the shape and the layout."""
    tensor = fill(TensorDraft(element_type=name, shape=shape, fill="bits"), 0, name, shape)
    back = unpack(pack(tensor, layouts), name, shape, layouts)

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


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("u2", "e4"),  # 11 10 01 00
        ("u3", "1b1b0f"),  # 00 01 10 11, 00 01 10 11, 0000 1111
    ],
)
def test_constants_of_an_ir_have_its_layout(name: str, packed: str) -> None:
    """Ascending values, whose bits are written down by hand."""
    values = np.arange(1 << ELEMENT_TYPES[name].bits, dtype=np.uint8)

    assert pack(Tensor(element_type=name, array=values), OPENVINO_IR).hex() == packed


def test_texts_are_packed_as_the_ir_stores_them() -> None:
    """The count, 0, the ends, then the UTF-8 bytes."""
    packed = pack(Tensor(element_type="string", array=np.array(["a", "", "\u00df"])), OPENVINO_IR)

    assert packed == b"\3\0\0\0" + b"\0\0\0\0" + b"\1\0\0\0" + b"\1\0\0\0" + b"\3\0\0\0" + b"a\xc3\x9f"
