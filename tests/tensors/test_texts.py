"""Strings as texts: every byte survives, in a form that numpy and UTF-32 can hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.tensors.bit_layouts import OPENVINO_IR, pack
from opconform.tensors.literals import checked, encoded
from opconform.tensors.tensor import Tensor
from opconform.tensors.texts import bytes_of, text_of


@given(content=st.binary() | st.text().map(str.encode) | st.sampled_from([b"\0", b"a\0\0", b"\xed\xb0\x80"]))
def test_every_byte_survives_an_array(content: bytes) -> None:
    """Also where a longer string beside it pads the array."""
    texts = np.array([text_of(content), "x" * 300], dtype=np.str_)
    assert bytes_of(str(texts[0])) == content


@given(text=st.text())
def test_a_character_is_stored_as_itself(text: str) -> None:
    """Unless it is a NUL at the end."""
    assert text_of(text.encode()).rstrip("\udc00") == text.rstrip("\0")


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"a\0b", "a\0b"), (b"ab\0\0", "ab\udc00\udc00"), (b"\xc3", "\udcc3"), ("ß".encode(), "ß"), (b"", "")],
)
def test_bytes_that_npy_cannot_store_are_marked(content: bytes, text: str) -> None:
    """By code points of U+DC00 plus the byte."""
    assert text_of(content) == text
    assert bytes_of(text) == content


def test_half_of_a_pair_that_is_not_a_byte_has_no_bytes() -> None:
    """A harness may return it."""
    with pytest.raises(UnicodeEncodeError):
        bytes_of("\ud800")


def test_a_nul_at_the_end_of_a_literal_is_in_the_model() -> None:
    """The IR has its bytes."""
    array = encoded("string", [checked("string", "a\0")])
    assert pack(Tensor(element_type="string", array=array), OPENVINO_IR) == b"\1\0\0\0\0\0\0\0\2\0\0\0a\0"
