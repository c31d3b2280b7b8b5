"""Exact results, rounded once, with the bounds of right results."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import Exact, bounded_tensor, exact_of, has_few_bits, rounded, within
from opconform.tensors.rounding import nearest
from opconform.tensors.tensor import Array, Tensor

names = st.sampled_from(["bf16", "f16", "f32", "f64"])


def numbers(tensor: Tensor, array: Array) -> list[float]:
    """The elements of an array of a tensor's type."""
    return [float(x) for x in array.view(tensor.type.arithmetic).astype(np.float64).reshape(-1)]


@st.composite
def exact_numbers(draw: st.DrawFn, name: str) -> Fraction:
    """A number with more digits than the type has, from far below its least number to its largest one."""
    layout = ELEMENT_TYPES[name].layout
    exponent = draw(st.integers(int(layout.minexp) - int(layout.nmant) - 3, int(layout.maxexp) - 1))
    digits = draw(st.integers(1, 2**70))
    sign = draw(st.sampled_from([-1, 1]))
    return sign * Fraction(digits, 2 ** (digits.bit_length() - 1)) * Fraction(2) ** exponent


@given(name=names, data=st.data())
def test_results_are_rounded_to_the_nearest_number(name: str, data: st.DataObject) -> None:
    """To the even one of two, also among denormal numbers, and to infinity beyond the largest one."""
    exact = data.draw(exact_numbers(name))
    tensor = bounded_tensor(name, (), [within(Exact(exact.numerator, exact.denominator), Exact(0), Exact(0))])
    expected = nearest(ELEMENT_TYPES[name], exact)  # type: ignore[arg-type]
    largest = float(ELEMENT_TYPES[name].layout.max)

    assert numbers(tensor, tensor.array) == [math.copysign(math.inf, expected) if abs(expected) > largest else expected]


@given(name=names, data=st.data())
def test_bounds_are_the_last_numbers_within_the_allowed_error(name: str, data: st.DataObject) -> None:
    """The next numbers outside are wrong; the golden value is always inside."""
    exact, allowed = data.draw(exact_numbers(name)), abs(data.draw(exact_numbers(name)))
    result = within(Exact(exact.numerator, exact.denominator), Exact(allowed.numerator, allowed.denominator), Exact(0))
    tensor = bounded_tensor(name, (), [result])
    lower, upper = tensor.bounds or (tensor.array, tensor.array)
    [least], [golden], [most] = (numbers(tensor, x) for x in (lower, tensor.array, upper))

    assert least <= golden <= most
    for bound, limit, is_upper in ((least, exact - allowed, False), (most, exact + allowed, True)):
        if math.isfinite(bound) and bound != golden:
            away = math.inf if is_upper else -math.inf
            after = float(np.nextafter(*(np.array(x, tensor.type.arithmetic) for x in (bound, away))))
            assert (Fraction(bound) <= limit) if is_upper else (Fraction(bound) >= limit)
            assert not math.isfinite(after) or ((Fraction(after) > limit) if is_upper else (Fraction(after) < limit))


@given(name=names, data=st.data())
def test_many_numbers_of_f64_are_rounded_as_one_is(name: str, data: st.DataObject) -> None:
    """`rounded` and MPFR agree, on denormal numbers and ties as well."""
    floats = data.draw(st.lists(st.floats(), min_size=1, max_size=8))
    array = rounded(ELEMENT_TYPES[name], np.array(floats, np.float64))
    results = [within(Exact(x), Exact(0), Exact(0)) if math.isfinite(x) and x else x for x in floats]
    expected = bounded_tensor(name, (len(floats),), results)

    assert np.array_equal(array.view(expected.array.dtype), expected.array) or any(map(math.isnan, floats))


def test_nan_infinities_and_zeros_are_exact() -> None:
    """They have no bounds of their own; a tensor of exact results alone has none at all."""
    tensor = bounded_tensor(
        "f32", (4,), [math.nan, -math.inf, -0.0, within(Exact(1, 3), Exact(1, 1000), Exact(1, 100))]
    )
    alone = bounded_tensor("f32", (3,), [math.nan, -math.inf, -0.0])

    assert tensor.bounds is not None
    assert all(np.array_equal(x[:3].view(np.uint32), tensor.array[:3].view(np.uint32)) for x in tensor.bounds)
    assert (alone.bounds, alone.reduced, alone.is_computed) == (None, None, True)


def test_reduced_bounds_contain_the_bounds() -> None:
    """Also where the error of reduced arithmetic is the smaller one; a result far from overflow has finite ones."""
    results = [within(Exact(1), Exact(1, 4), Exact(1, 8)), within(Exact(1), Exact(0), Exact(10) ** 40)]
    tensor = bounded_tensor("f32", (2,), results)
    assert tensor.reduced is not None
    least, most = (numbers(tensor, x) for x in tensor.reduced)
    largest = float(np.finfo(np.float32).max)

    assert (least, most) == ([0.75, -largest], [1.25, largest])


@pytest.mark.parametrize(("number", "expected"), [(0, True), (255, True), (257, False), (Exact(255, 512), True)])
def test_operands_of_few_bits_keep_their_value(number: int, expected: bool) -> None:
    """In bf16, which has eight significant ones."""
    assert has_few_bits(Exact(number)) is expected
    assert has_few_bits(-Exact(number)) is expected


@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "f64"])
def test_elements_are_exact(name: str) -> None:
    """Of every type, the least denormal number included."""
    kind = ELEMENT_TYPES[name]
    bits = np.array([0, 1, 3], f"u{kind.bits // 8}").view(kind.storage)
    least = Fraction(2) ** (int(kind.layout.minexp) - int(kind.layout.nmant))

    assert exact_of(Tensor(element_type=name, array=bits)) == [0, Exact(least), Exact(3 * least)]
