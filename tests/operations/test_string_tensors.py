"""StringTensorPack-15 and StringTensorUnpack-15: each clause of their pages, against Python's own bytes and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection, Unknown
from opconform.operations.arithmetic.string_tensors import STRING_TENSOR_PACK, STRING_TENSOR_UNPACK
from opconform.tensors.tensor import Tensor
from opconform.tensors.texts import bytes_of, text_of

STRINGS = st.lists(st.binary(max_size=5) | st.text(max_size=3).map(str.encode), max_size=6)


def pack_arguments(begins: object, ends: object, symbols: bytes, ends_type: str = "i64") -> Arguments:
    """The arguments of StringTensorPack-15."""
    settings = {
        name: Operand(element_type=kind, shape=np.shape(numbers), integers=tuple(np.ravel(numbers).tolist()))
        for name, kind, numbers in (("begins", "i64", np.array(begins, int)), ("ends", ends_type, np.array(ends, int)))
    }
    tensor = Tensor(element_type="u8", array=np.frombuffer(symbols, np.uint8))
    return Arguments(inputs={**settings, "symbols": Operand(element_type="u8", shape=tensor.shape, tensor=tensor)})


def packed(begins: object, ends: object, symbols: bytes) -> object:
    """The output of StringTensorPack-15 as nested lists of bytes."""
    [output] = STRING_TENSOR_PACK.evaluate(pack_arguments(begins, ends, symbols))
    contents = np.array([bytes_of(str(text)) for text in output.array.reshape(-1)], object)
    return contents.reshape(output.shape).tolist()


def unpack_arguments(strings: list[bytes], shape: tuple[int, ...]) -> Arguments:
    """The arguments of StringTensorUnpack-15."""
    array = np.array([text_of(string) for string in strings], np.str_).reshape(shape)
    tensor = Tensor(element_type="string", array=array)
    return Arguments(inputs={"data": Operand(element_type="string", shape=shape, tensor=tensor)})


def test_the_examples_of_the_page() -> None:
    """With empty strings, skipped symbols and a matrix."""
    assert packed([0, 5], [5, 13], b"IntelOpenVINO") == [b"Intel", b"OpenVINO"]
    assert packed([0, 3, 3, 8, 9], [3, 3, 8, 9, 13], b"OMZGenAI 2024") == [b"OMZ", b"", b"GenAI", b" ", b"2024"]
    assert packed([0, 8], [1, 9], b"123456789") == [b"1", b"9"]
    matrix = [[b"Intel", b"OpenVINO"], [b"OMZ", b"GenAI"]]
    assert packed([[0, 5], [13, 16]], [[5, 13], [16, 21]], b"IntelOpenVINOOMZGenAI") == matrix


@given(strings=STRINGS)
def test_unpacked_strings_are_packed_again(strings: list[bytes]) -> None:
    """The begins and ends count bytes; the types of the outputs are those that were inferred."""
    known = unpack_arguments(strings, (len(strings),))
    begins, ends, symbols = STRING_TENSOR_UNPACK.evaluate(known)
    assert symbols.array.tobytes() == b"".join(strings)
    assert begins.integers() == [len(b"".join(strings[:place])) for place in range(len(strings))]
    assert [end - begin for begin, end in zip(begins.integers(), ends.integers(), strict=True)] == [*map(len, strings)]
    assert packed(begins.integers(), ends.integers(), symbols.array.tobytes()) == strings
    types = [(x.element_type, x.shape) for x in STRING_TENSOR_UNPACK.infer(known)]
    assert types == [(x.element_type, x.shape) for x in (begins, ends, symbols)]


@given(symbols=st.binary(max_size=4), begin=st.integers(-1, 5), end=st.integers(-1, 5))
def test_a_range_is_rejected_unless_its_symbols_exist(symbols: bytes, begin: int, end: int) -> None:
    """Every violated requirement is named."""
    expected = {
        "begins.negative": begin < 0,
        "ends.negative": end < 0,
        "ends.range": end > len(symbols),
        "ends.order": 0 <= end < begin,
    }
    violated = tuple(name for name, is_violated in expected.items() if is_violated)
    if violated:
        with pytest.raises(Rejection) as raised:
            packed([begin], [end], symbols)
        assert raised.value.requirements == violated
    else:
        assert packed([begin], [end], symbols) == [symbols[begin:end]]


def test_begins_and_ends_have_one_type_and_shape() -> None:
    """The shape is that of the output."""
    assert STRING_TENSOR_PACK.judged(pack_arguments([0], [1], b"a", "i32"))[1] == ("ends.same-type",)
    assert STRING_TENSOR_PACK.judged(pack_arguments([0], [[1]], b"a"))[1] == ("ends.shape",)
    assert packed(1, 2, b"ab") == b"b"


def test_the_shape_of_the_symbols_is_unknown_without_the_strings() -> None:
    """Data without elements has no symbols."""
    unknown = Arguments(inputs={"data": Operand(element_type="string", shape=(2,))})
    with pytest.raises(Unknown):
        STRING_TENSOR_UNPACK.infer(unknown)
    assert [x.shape for x in STRING_TENSOR_UNPACK.infer(unpack_arguments([], (2, 0)))] == [(2, 0), (2, 0), (0,)]


@pytest.mark.parametrize(
    ("begins", "ends", "other"),
    [([0, 2], [2, 4], []), ([0, 1], [2, 4], ["outputs.any-order"]), ([0, 3], [1, 4], ["symbols.bytes"])],
)
def test_other_readings_reject_parts_and_overlaps(begins: list[int], ends: list[int], other: list[str]) -> None:
    """Of characters, and of strings."""
    known = pack_arguments(begins, ends, "abß".encode())
    assert [name for name, reading in STRING_TENSOR_PACK.readings.items() if reading.rejects(known)] == other
