"""Packing: the bytes of the installed OpenVINO."""

import numpy as np
import openvino
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.bit_layouts import LOW_FIRST, OPENVINO_IR, Layouts, pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.openvino.layouts import openvino_layouts

TYPES = [element_type for element_type in ELEMENT_TYPES if element_type != "string"]


#: The version of OpenVINO that is installed beside the tests.
INSTALLED = openvino_layouts(str(openvino.__version__))


SHAPES = st.lists(st.integers(0, 9), max_size=3).map(tuple)


@given(name=st.sampled_from(TYPES), shape=SHAPES)
def test_packing_takes_the_bytes_that_openvino_reserves(name: str, shape: tuple[int, ...]) -> None:
    """The tail of the last group included."""
    tensor = fill(TensorDraft(element_type=name, shape=shape, fill="bits"), 0, name, shape)
    reserved = openvino.Tensor(getattr(openvino.Type, name), openvino.Shape(shape)).byte_size

    assert len(pack(tensor, INSTALLED)) == reserved


@pytest.mark.parametrize("name", ["u1", "u2", "u3", "u4", "u6", "i4"])
def test_narrow_types_are_packed_as_openvino_packs_them(name: str) -> None:
    """OpenVINO's own conversion from bytes gives the same bits (those that pad the last group aside)."""
    row = ELEMENT_TYPES[name]
    values = (np.arange(24) * 7 % (1 << row.bits)).astype(np.uint8)
    given_type = "i8" if name == "i4" else "u8"
    signed = np.where(values > 7, values.astype(np.int16) - 16, values).astype(np.int8) if name == "i4" else values
    parameter = openvino.opset1.parameter([24], getattr(openvino.Type, given_type))
    model = openvino.Model([openvino.opset1.convert(parameter, name)], [parameter])
    out = openvino.Tensor(getattr(openvino.Type, name), openvino.Shape([24]))
    assert model.evaluate([out], [openvino.Tensor(signed)])

    assert out.data.view(np.uint8).tobytes() == pack(Tensor(element_type=name, array=values), INSTALLED)


NARROW = sorted(LOW_FIRST)


#: A version of each layout.
VERSIONS = ("2025.2.0", "2026.4.1", "2026.5.0")


@given(name=st.sampled_from(TYPES), shape=SHAPES, version=st.sampled_from(VERSIONS))
def test_unpacking_is_the_inverse_of_packing(name: str, shape: tuple[int, ...], version: str) -> None:
    """What is packed comes back, whatever the type, the shape and the layout."""
    tensor = fill(TensorDraft(element_type=name, shape=shape, fill="bits"), 0, name, shape)
    back = unpack(pack(tensor, openvino_layouts(version)), name, shape, openvino_layouts(version))

    assert back.array.tobytes() == tensor.array.tobytes()
    assert back.shape == shape


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
