"""Packing: the bytes of the installed OpenVINO."""

import numpy as np
import openvino
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.bit_layouts import openvino_layouts, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

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
