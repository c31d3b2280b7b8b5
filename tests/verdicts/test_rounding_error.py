"""Rounded outputs, compared with their bounds."""

import math

import numpy as np
import pytest

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.verdicts.comparison import mismatch_of
from opconform_runners.verdicts.rounding_error import errors_of, largest_error, units_in_last_place

F32 = ELEMENT_TYPES["f32"]
GOLDEN = np.array([1.0, 0.0, np.nan, np.inf], np.float32)
BOUNDS = (np.array([0.5, -0.25, np.nan, np.inf], np.float32), np.array([2.0, 0.25, np.nan, np.inf], np.float32))


@pytest.mark.parametrize(
    ("actual", "errors"),
    [
        ([1.0, 0.0, np.nan, np.inf], [0, 0, 0, 0]),
        ([2.0, -0.25, -np.nan, np.inf], [1, 1, 0, 0]),
        ([0.75, -0.0, np.nan, np.inf], [0.5, 0, 0, 0]),
        ([3.0, 0.5, 0.0, 3e38], [2, 2, math.inf, math.inf]),
        ([np.nan, np.inf, np.nan, -np.inf], [math.inf, math.inf, 0, math.inf]),
    ],
)
def test_errors_are_parts_of_their_bounds(actual: list[float], errors: list[float]) -> None:
    """Above and below; a NaN is right where the golden value is one, and infinities are exact."""
    assert errors_of(GOLDEN, np.array(actual, np.float32), BOUNDS, F32).tolist() == errors


def test_elements_with_equal_bounds_are_compared_by_their_bits() -> None:
    """A zero has the sign of the golden one there."""
    zero = np.array([0.0, -0.0], np.float32)

    assert errors_of(zero, -zero, (zero, zero), F32).tolist() == [math.inf, math.inf]
    assert errors_of(zero, zero, (zero, zero), F32).tolist() == [0, 0]


def test_a_bound_may_be_infinite() -> None:
    """Where the exact result is near the largest number."""
    golden, lower = np.array([3e38], np.float32), np.array([2e38], np.float32)
    bounds = (lower, np.array([np.inf], np.float32))

    assert largest_error([golden], [np.array([np.inf], np.float32)], [bounds], ["f32"]) == 1
    assert mismatch_of([golden], [np.array([-np.inf], np.float32)], ["f32"], bounds=[bounds]) is not None


REDUCED = (np.array([0.25, -0.5, np.nan, np.inf], np.float32), np.array([4.0, 0.5, np.nan, np.inf], np.float32))


@pytest.mark.parametrize(
    ("actual", "reason"), [(2.5, "rounding"), (4.0, "rounding"), (4.5, "value"), (0.2, "value"), (np.nan, "value")]
)
def test_a_result_inside_the_reduced_bounds_is_less_accurate(actual: float, reason: str) -> None:
    """Further away it is wrong, however wide the bounds are."""
    returned = GOLDEN.copy()
    returned[0] = actual
    found = mismatch_of([GOLDEN], [returned], ["f32"], bounds=[BOUNDS], reduced=[REDUCED])

    assert found is not None
    assert (found.reason, found.at, found.allowed) == (reason, (0,), ("0.5", "2.0"))


def test_the_first_wrong_element_is_named_before_less_accurate_ones() -> None:
    """It decides the reason."""
    returned = np.array([2.5, 7.0, np.nan, np.inf], np.float32)
    found = mismatch_of([GOLDEN], [returned], ["f32"], bounds=[BOUNDS], reduced=[REDUCED])

    assert found is not None
    assert (found.reason, found.at, found.differing) == ("value", (1,), 2)


def test_an_exact_result_has_reduced_bounds_of_its_own() -> None:
    """Without them, every other result is wrong."""
    one = np.array([1.0], np.float32)
    wide = (one - np.float32(0.25), one + np.float32(0.25))
    reasons = [
        mismatch_of([one], [one + np.float32(0.125)], ["f32"], bounds=[(one, one)], reduced=[x]) for x in (wide, None)
    ]

    assert [x and x.reason for x in reasons] == ["rounding", "value"]


def test_the_sentence_names_the_limits_and_the_units() -> None:
    """Of the first element outside its bounds, and the multiple of its bound; the error is the largest one."""
    returned = np.array([3.0, 0.75, np.nan, np.inf], np.float32)
    found = mismatch_of([GOLDEN], [returned], ["f32"], bounds=[BOUNDS])

    assert found is not None
    assert found.sentence == (
        "output_0[0]: expected 1.0 (0x3f800000), allowed are 0.5 to 2.0, got 3.0 (0x40400000); "
        "error: 1.678e+07 units in the last place, 2 times its bound; elements outside their bounds: 2 of 4"
    )
    assert found.error == 3


def test_units_of_denormal_numbers_are_those_of_the_least_normal_one() -> None:
    """One unit is the least denormal number."""
    assert units_in_last_place(0.0, float(np.float32(1e-45)), F32) == 1
    assert units_in_last_place(1.0, 1.0 + 2**-23, F32) == 1
    assert units_in_last_place(1.0, math.nan, F32) == math.inf


def test_the_limits_of_f64_have_all_their_digits() -> None:
    """So that they differ from each other and from the golden number."""
    one, unit = np.array([1.0]), 2.0**-52
    found = mismatch_of([one], [one + 2 * unit], ["f64"], bounds=[(one - unit, one + unit)])

    assert found is not None
    assert ", allowed are 0.9999999999999998 to 1.0000000000000002, got 1.0000000000000004 " in found.sentence


def test_another_sign_of_a_zero_has_no_error() -> None:
    """In units in the last place, of which the sentence says nothing."""
    zero = np.array([0.0], np.float32)
    found = mismatch_of([zero], [-zero], ["f32"], bounds=[(zero, zero)])

    assert found is not None
    assert found.sentence == (
        "output_0[0]: expected 0.0 (0x00000000), got -0.0 (0x80000000); elements outside their bounds: 1 of 1"
    )
