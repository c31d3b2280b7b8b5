"""Packing: bytes as OpenVINO holds them."""

import numpy as np
import openvino
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.drafts import TensorDraft
from opconform.element_types import ELEMENT_TYPES
from opconform.filling import fill
from opconform.packing import pack, unpack
from opconform.tensors import Tensor

TYPES = [each for each in ELEMENT_TYPES if each != "string"]


@given(name=st.sampled_from(TYPES), shape=st.lists(st.integers(0, 9), max_size=3).map(tuple))
def test_unpacking_is_the_inverse_of_packing(name: str, shape: tuple[int, ...]) -> None:
    """What is packed comes back, whatever the type and the shape, and takes the bytes that OpenVINO reserves."""
    tensor = fill(TensorDraft(element_type=name, shape=shape, fill="bits"), 0, name, shape)
    content = pack(tensor)
    back = unpack(content, name, shape)

    assert back.array.tobytes() == tensor.array.tobytes()
    assert back.shape == shape
    assert len(content) == openvino.Tensor(getattr(openvino.Type, name), openvino.Shape(shape)).byte_size


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

    assert out.data.view(np.uint8).tobytes() == pack(Tensor(element_type=name, array=values))


def test_texts_are_packed_as_the_ir_stores_them() -> None:
    """The count, 0, the ends, then the UTF-8 bytes."""
    packed = pack(Tensor(element_type="string", array=np.array(["a", "", "\u00df"])))

    assert packed == b"\3\0\0\0" + b"\0\0\0\0" + b"\1\0\0\0" + b"\1\0\0\0" + b"\3\0\0\0" + b"a\xc3\x9f"
