"""Comparisons of outputs with goldens, bit for bit."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, patterns
from opconform_runners.verdicts import comparison
from opconform_runners.verdicts.comparison import is_invented, mismatch_of, mismatches_of

names = st.sampled_from(list(ELEMENT_TYPES))


@given(name=names, shape=st.lists(st.integers(0, 4), max_size=3).map(tuple))
def test_a_tensor_equals_itself(name: str, shape: tuple[int, ...]) -> None:
    """No NaN, no padding and no zero-size dimension makes a tensor differ from a copy of itself."""
    array = fill(TensorDraft(element_type=name, shape=shape, fill="special"), 0, name).array

    assert mismatch_of([array], [array.copy()], [name]) is None


@given(name=names, data=st.data())
def test_one_changed_bit_is_found(name: str, data: st.DataObject) -> None:
    """A single bit of a single element is found, with its place and both patterns."""
    array = fill(TensorDraft(element_type=name, shape=(3, 4), fill="bits"), 0, name).array
    changed = array.copy()
    at = (data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3)))
    row = ELEMENT_TYPES[name]
    if row.kind == "string":
        changed = changed.astype("<U99")
        changed[at] = str(changed[at]) + "x"
    elif row.kind == "boolean":
        changed[at] = not changed[at]
    else:
        patterns(changed)[at] ^= patterns(changed).dtype.type(1 << data.draw(st.integers(0, row.bits - 1)))
    found = mismatch_of([array], [changed], [name])

    assert found is not None
    assert (found.at, found.differing, found.elements) == (at, 1, 12)
    assert found.sentence.endswith("; differing elements: 1 of 12")
    assert found.expected != found.actual


def test_a_nan_and_a_number_are_a_difference_of_value() -> None:
    """The payload is the reason only if both are NaN."""
    nan = np.array([np.nan, np.nan], np.float32)
    other = np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32)
    found = mismatch_of([nan], [other], ["f32"])

    assert found is not None
    assert (found.reason, found.at, found.actual) == ("value", (1,), "0x3f800000")


def test_all_parts_of_a_large_output_are_compared() -> None:
    """The first number that differs is reported, though NaNs differ before it, and all differences are counted."""
    expected = np.array([1, np.nan, 2, 3, 4, 5], np.float32)
    actual = np.array([0x3F800000, 0x7FC00001, 0x40000000, 0x40400000, 0, 0], np.uint32).view(np.float32)
    with mock.patch.object(comparison, "_AT_ONCE", 2), mock.patch.object(comparison, "_SMALL", 0):
        found = mismatch_of([expected], [actual], ["f32"])
        payload = mismatch_of([expected[:4]], [actual[:4]], ["f32"])

    assert found is not None
    assert payload is not None
    assert (found.reason, found.at, found.differing) == ("value", (4,), 3)
    assert (payload.reason, payload.at, payload.differing) == ("nan-payload", (1,), 1)


def test_each_output_is_compared_by_its_own_element_type() -> None:
    """Values in f32 and indices in i64, as of a TopK, where an index differs."""
    values, indices = np.array([1.5], np.float32), np.array([2], np.int64)
    found = mismatch_of([values, indices], [values, indices + 1], ["f32", "i64"], stated=["f32", "i64"])

    assert found is not None
    assert (found.reason, found.output, found.expected) == ("value", "output_1", "0x0000000000000002")
    assert found.sentence.startswith("output_1[0]: expected 2 (0x0000000000000002), got 3 ")


def test_elements_of_the_inputs_are_not_invented_however_often_they_occur() -> None:
    """An operation can repeat elements of its inputs; only other elements were read elsewhere."""
    inputs: list[Array] = [np.arange(3, dtype=np.float32), np.array([7, 8], np.int64)]

    assert not is_invented(np.array([2, 0, 0, 1, 1], np.float32), inputs)
    assert not is_invented(np.zeros((0, 9), np.float32), inputs)
    assert is_invented(np.array([2, 7], np.float32), inputs)
    assert is_invented(np.array([-0.0], np.float32), inputs)
    assert is_invented(np.array([0], np.int8), inputs)


def test_a_string_that_is_not_utf8_can_be_logged() -> None:
    """OpenVINO 2024.6 returns NULs at the end of a string, which stand for surrogates as every byte that is not UTF-8."""
    found = mismatch_of([np.array(["OMZ"])], [np.array(["OMZ\udc00\udcff"])], ["string"])

    assert found is not None
    assert found.actual == r"OMZ\udc00\udcff"
    assert found.sentence.encode().startswith(rb"output_0[0]: expected 'OMZ', got 'OMZ\udc00\udcff'")


def test_each_output_that_differs_is_known_and_a_wrong_form_comes_first() -> None:
    """A graph is judged by all of its outputs: the shape of one does not hide the elements of another."""
    wide, one = np.zeros((2, 2), np.float32), np.zeros(2, np.float32)
    expected, actual, types = [one, one, wide], [one + 1, one, one], ["f32"] * 3

    found = mismatches_of(expected, actual, types)

    assert [(x.output, x.reason) for x in found] == [("output_0", "value"), ("output_2", "shape")]
    assert mismatch_of(expected, actual, types) == found[1]
