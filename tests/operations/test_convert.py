"""Convert-1: each clause of its page, and each interpretation, against numpy; and ConvertLike-1 against Convert-1."""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, NoGolden, Operand, Unknown
from opconform.operations.arithmetic.convert import CONVERT, CONVERT_LIKE, TYPES
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.rounding import numbers_of
from opconform.tensors.tensor import Tensor, patterns

FLOATS = ("bf16", "f16", "f32", "f64", "f8e5m2")
Compute = Callable[[Arguments], tuple[Tensor, ...]]
INTEGERS = tuple(name for name in TYPES if ELEMENT_TYPES[name].is_integer)


def arguments(element_type: str, bits: list[int], to: str) -> Arguments:
    """The arguments for a list of bit patterns."""
    storage = ELEMENT_TYPES[element_type].storage
    array = np.array(bits, np.uint64).astype(f"u{storage.itemsize}").view(storage)
    data = Tensor(element_type=element_type, array=array)
    operand = Operand(element_type=element_type, shape=data.shape, tensor=data)
    return Arguments(inputs={"data": operand}, attributes={"destination_type": to})


def converted(element_type: str, bits: list[int], to: str) -> Tensor:
    """The output."""
    [output] = CONVERT.evaluate(arguments(element_type, bits, to))
    assert output.element_type == to
    return output


@pytest.mark.parametrize("source", INTEGERS)
@given(data=st.data(), to=st.sampled_from(INTEGERS))
def test_integers_keep_their_low_bits(source: str, data: st.DataObject, to: str) -> None:
    """So that a negative one is congruent modulo the range of an unsigned type."""
    kind, target = ELEMENT_TYPES[source], ELEMENT_TYPES[to]
    bits = data.draw(st.integers(0, (1 << kind.bits) - 1))
    [before] = numbers_of(converted(source, [bits], source))
    [after] = numbers_of(converted(source, [bits], to))
    assert target.minimum <= after <= target.maximum
    assert (int(after) - int(before)) % (1 << target.bits) == 0


@pytest.mark.parametrize("source", FLOATS)
@given(data=st.data(), to=st.sampled_from(("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i4", "u3")))
def test_numbers_lose_their_fraction_and_are_clamped(source: str, data: st.DataObject, to: str) -> None:
    """NaNs are 0."""
    bits = data.draw(st.integers(0, (1 << ELEMENT_TYPES[source].bits) - 1))
    [number], target = numbers_of(converted(source, [bits], source)), ELEMENT_TYPES[to]
    [output] = numbers_of(converted(source, [bits], to))
    if math.isnan(number):
        assert output == 0
    else:
        assert output == math.trunc(min(max(number, target.minimum), target.maximum))


@pytest.mark.parametrize("to", ["f16", "f32", "f8e5m2", "f8e4m3"])
@given(bits=st.integers(0, (1 << 64) - 1))
def test_numbers_become_the_nearest_of_numpy_s(to: str, bits: int) -> None:
    """Which rounds numbers of f64 to these types once; beyond them are infinities, or NaNs in a type without."""
    number = np.array([bits], np.uint64).view(np.float64)
    with np.errstate(all="ignore"):
        expected = number.astype(ELEMENT_TYPES[to].native)
    actual = converted("f64", [bits], to).array.view(expected.dtype)
    if np.isnan(expected[0]):
        assert np.isnan(actual[0])
    else:
        assert actual.tobytes() == expected.tobytes()


def test_the_nearest_number_is_found_in_one_step() -> None:
    """Rounded to f32 first, the number would be half-way."""
    [bits] = np.array([257.0000000001]).view(np.uint64).tolist()
    assert converted("f64", [bits], "bf16").array.view(ml_dtypes.bfloat16).tolist() == [258.0]


@pytest.mark.parametrize("element_type", TYPES)
def test_the_same_type_keeps_every_bit(element_type: str) -> None:
    """Also the payload of a NaN."""
    bits = [0, 1, (1 << min(ELEMENT_TYPES[element_type].bits, 1)) - 1]
    known = arguments(element_type, bits, element_type)
    assert converted(element_type, bits, element_type).array.tobytes() == known.tensor("data").array.tobytes()


@pytest.mark.parametrize(
    ("reading", "source", "number", "to", "others"),
    [
        ("integers.wrap", "i32", 300, "u8", {255}),
        ("fractions.dropped", "f32", 1.5, "i32", {2}),
        ("fractions.dropped", "f32", -0.5, "i32", {-1}),
        ("fractions.dropped", "f32", -0.5, "u8", {255}),
        ("fractions.dropped", "f32", 255.5, "u8", {0}),
        ("floats.clamped", "f32", 300.0, "u8", {44, 0}),
        ("floats.clamped", "f32", 300.75, "u8", {44, 45, 0}),
        ("floats.clamped", "f32", 3e9, "i32", {-1294967296, -2147483648, 0, -1}),
        ("floats.nan", "f32", math.nan, "i32", {-2147483648, -1, 2147483647}),
        ("floats.nearest", "f64", 2051.0, "f16", {2050.0}),
        ("floats.nearest", "f64", 2049.0000000001, "f16", {2048.0}),
        ("floats.nearest", "f32", 257.0, "bf16", {258.0}),
        ("floats.nearest", "f32", -257.0, "bf16", {-258.0}),
        ("floats.nearest", "f64", 1e-8, "f16", {2.0**-24}),
        ("floats.overflow", "f32", 1e6, "f16", {65504.0}),
        ("floats.overflow", "f64", 65510.0, "f16", {math.inf}),
        ("booleans.nonzero", "f32", 0.5, "boolean", {False}),
        ("booleans.nonzero", "i32", 256, "boolean", {False}),
    ],
)
def test_other_readings_give_other_elements(
    reading: str, source: str, number: float, to: str, others: set[float]
) -> None:
    """Of what they concern alone."""
    kind = ELEMENT_TYPES[source].storage
    [bits] = np.array([number], kind).view(f"u{kind.itemsize}").tolist()

    found = [x for compute in CONVERT.readings[reading].computes if (x := other(compute, source, bits, to)) is not None]

    assert {*found} == others
    assert not any(other(compute, source, 0, to) for compute in CONVERT.readings[reading].computes)


def other(compute: Compute, source: str, bits: int, to: str) -> float | None:
    """The number by another reading; None if it is ours."""
    try:
        [output] = compute(arguments(source, [bits], to))
    except Unknown:
        return None
    return numbers_of(output)[0]


@pytest.mark.parametrize("to", ["f4e2m1", "nf4"])
def test_a_nan_has_no_result_in_a_type_of_numbers_alone(to: str) -> None:
    """Its page does not mention NaNs, and each library has another number instead."""
    with pytest.raises(NoGolden, match="undefined"):
        converted("f32", [0x3F800000, 0x7FC00000], to)

    assert numbers_of(converted("f32", [0x3F800000, 0], to)) == [1, 0]
    assert np.array_equal(converted(to, [15, 8], to).array, [15, 8])


def test_a_number_near_zero_has_no_result_in_a_type_without_zero() -> None:
    """The least number of f8e8m0 is 2 to the power of -127, and a NaN stands for a 0."""
    least, below = np.array([2.0**-127, 2.0**-129]).view(np.uint64).tolist()

    with pytest.raises(NoGolden, match="undefined"):
        converted("f64", [below], "f8e8m0")
    assert numbers_of(converted("f64", [least], "f8e8m0")) == [2.0**-127]
    assert math.isnan(numbers_of(converted("f64", [0], "f8e8m0"))[0])


@pytest.mark.parametrize(("to", "quiet"), [("f16", 0x7E00), ("bf16", 0x7FC0), ("f32", 0x7FC00000)])
def test_a_nan_becomes_the_quiet_one_without_a_payload(to: str, quiet: int) -> None:
    """Also a signalling NaN, whose first bits fit."""
    nan = converted("f64", [0x7FF0040000000000], to)

    assert patterns(nan.array).tolist() == [quiet]


@pytest.mark.parametrize("source", ["i8", "u32", "f16", "f32", "boolean"])
@given(data=st.data(), to=st.sampled_from(("i8", "u16", "i64", "f16", "f32", "boolean")))
def test_a_conversion_like_a_tensor_is_one_to_its_type(source: str, data: st.DataObject, to: str) -> None:
    """But for negative integers and unsigned types, for which its page has no result."""
    bits = [data.draw(st.integers(0, (1 << min(ELEMENT_TYPES[source].bits, 32)) - 1))]
    given_arguments = arguments(source, bits, to)
    like = Operand(element_type=to, shape=(3,), tensor=None)
    operands = {"data": given_arguments.operand("data"), "like": like}
    like_arguments = CONVERT_LIKE.arguments(operands, {})
    [number] = numbers_of(converted(source, bits, source))
    if ELEMENT_TYPES[source].is_integer and ELEMENT_TYPES[to].kind == "unsigned" and number < 0:
        with pytest.raises(NoGolden):
            CONVERT_LIKE.evaluate(like_arguments)
        return
    [output] = CONVERT_LIKE.evaluate(like_arguments)
    assert patterns(output.array).tolist() == patterns(converted(source, bits, to).array).tolist()
