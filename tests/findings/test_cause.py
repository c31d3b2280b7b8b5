"""The likely cause of wrong outputs, for faults that are known and for others."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from opconform_runners.findings.causes.cause import causes_of, overrun

WIDE = np.array([1, 1 << 32, (1 << 32) + 7, -(1 << 63), (1 << 63) - 1], np.int64)
DOUBLES = np.array([0.1, 1 + 2**-52, 5e-324, -1.7e308], np.float64)
FLOATS = np.array([1.5, -0.0, 1e-40, -1e-40], np.float32)
RAMP = np.arange(1, 13, dtype=np.int32)
LIMIT = np.finfo(np.float32).max
QUIET, SIGNALLING = (np.array([0x7FC00001 & mask, 0x3F800000], np.uint32).view(np.float32) for mask in (-1, 0x7FBFFFFF))


@pytest.mark.parametrize(
    ("expected", "actual", "element_type", "cause"),
    [
        (WIDE, WIDE.astype(np.int32).astype(np.int64), "i64", "Truncated to 32 bits and read as i32"),
        (WIDE, WIDE.astype(np.uint32).astype(np.int64), "i64", "Truncated to 32 bits and read as u32"),
        (WIDE, np.clip(WIDE, -(1 << 31), (1 << 31) - 1), "i64", "Clamped to the range of i32"),
        (
            np.array([3, 1 << 31], np.uint32),
            np.array([3, (1 << 31) - 1], np.uint32),
            "u32",
            "Clamped to the range of i32",
        ),
        (
            WIDE[:3] + (1 << 60),
            (WIDE[:3] + (1 << 60)).astype(np.float64).astype(np.int64),
            "i64",
            "Converted through f64",
        ),
        (DOUBLES[:3], DOUBLES[:3].astype(np.float32).astype(np.float64), "f64", "Converted through f32"),
        (
            DOUBLES,
            np.clip(DOUBLES, -float(LIMIT), float(LIMIT)).astype(np.float32).astype(np.float64),
            "f64",
            "Converted through f32: what is out of its range was clamped",
        ),
        (
            np.array([0.1], np.float32),
            np.array([0.1], ml_dtypes.bfloat16).astype(np.float32),
            "f32",
            "Converted through bf16",
        ),
        (FLOATS, np.array([1.5, 0, 1e-40, -1e-40], np.float32), "f32", "Negative zero became positive zero"),
        (FLOATS, np.array([1.5, -0.0, 0, -0.0], np.float32), "f32", "Denormals were flushed to zero"),
        (FLOATS, np.array([1.5, 0, 0, 0], np.float32), "f32", "Negative zero and denormals became zero"),
        (SIGNALLING, QUIET, "f32", "Signalling NaNs became quiet"),
        (
            np.concatenate([FLOATS, SIGNALLING[:1]]),
            np.concatenate([FLOATS[:2], [0, -0.0], QUIET[:1]]).astype(np.float32),
            "f32",
            "Denormals were flushed to zero; Signalling NaNs became quiet",
        ),
        (
            np.array([1e-40, -LIMIT], np.float32),
            np.array([0, -3.3895314e38], np.float32),
            "f32",
            "Denormals were flushed to zero; Numbers beyond the range of bf16 became its limits",
        ),
        (RAMP, RAMP % 7, "i32", ""),
        (RAMP, RAMP * (RAMP % 7 > 0), "i32", "Some elements are zero, and the others are right"),
        (np.array(["a", "b"]), np.array(["a", ""]), "string", "Some elements are empty, and the others are right"),
        (RAMP, np.zeros_like(RAMP), "i32", "All elements are zero"),
        (np.array(["a", "b"]), np.array(["", ""]), "string", "All elements are empty"),
        (RAMP, np.roll(RAMP, 1) % 12, "i32", "Shifted: the output begins 1 element too early"),
        (RAMP, np.roll(RAMP, -2) * 2 - RAMP - 2, "i32", "Shifted: the output begins 2 elements too late"),
        (np.array([7, 3, 7, 3]), np.array([7, 3, 3, 3]), "i64", ""),  # more elements are right than look shifted
        (RAMP, RAMP[::-1], "i32", "The elements are in reverse order"),
        (RAMP.reshape(3, 4), RAMP.reshape(4, 3).T, "i32", "The right elements in another order"),
        (RAMP, np.full_like(RAMP, 5), "i32", "All elements are the same"),
        (np.full_like(RAMP, 4), np.full_like(RAMP, 5), "i32", ""),
        (RAMP, RAMP ^ 5, "i32", ""),
        (RAMP, RAMP[:6], "i32", ""),
    ],
)
def test_a_cause_explains_every_element(expected: Any, actual: Any, element_type: str, cause: str) -> None:
    """A fault that explains some elements only is not named."""
    assert causes_of(expected, actual, element_type, {})[:1] == ([cause] if cause else [])


def test_an_output_may_be_another_part_of_the_data() -> None:
    """Elements of an input or of another output are recognized where they begin with its first one."""
    assert causes_of(RAMP[6:], RAMP[:6], "i32", {"data": RAMP}) == [
        "Another part of the data: the output has the first elements of data"
    ]


def test_a_single_element_can_have_several_causes() -> None:
    """All are named, so that a failure with more elements can be recognized as the same fault."""
    tiny = np.array([1e-200])

    assert causes_of(tiny, np.zeros(1), "f64", {})[:2] == [
        "Converted through f32",
        "Converted through f32: what is out of its range was clamped",
    ]


@pytest.mark.parametrize(
    ("given", "outputs", "past"),
    [
        ((6, 2), [(7, 2), (0, 2)], "index 6"),
        ((6, 2), [(4, 2), (5, 2)], "indices 6 to 8"),
        ((6, 2), [(4, 2), (2, 2)], ""),
        ((6, 2), [(4, 3), (5, 2)], ""),
        ((6, 2), [(9,)], ""),
        ((6, 2), [], ""),
    ],
)
def test_what_is_read_past_the_end_follows_from_the_shapes(given: Any, outputs: Any, past: str) -> None:
    """Only along a dimension that alone differs."""
    sentence = f"Read past the end: the input has 6 elements along axis 0, and the outputs contain {past}"

    assert overrun(given, outputs) == (sentence if past else "")
