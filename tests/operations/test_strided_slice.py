"""StridedSlice-1: each clause of its page, and Python's own indexing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.slices.strided_slice import STRIDED_SLICE
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor

BOUND = st.one_of(st.integers(-8, 8), st.sampled_from([-(1 << 63), -(1 << 31), 1 << 31, (1 << 63) - 1, (1 << 64) - 1]))
INDICES = {"begin": [0, 0], "end": [2, 2], "stride": [1, 1]}


def arguments(shape: tuple[int, ...] = (6, 4), **given: object) -> Arguments:
    """The arguments for ramp data of a shape; an index is a list of i64 or None, a mask a tuple."""
    attributes: dict[str, Attribute] = {}
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype="u4").reshape(shape))
    inputs = {"data": Operand(element_type="i32", shape=shape, tensor=data)}
    for name, item in {**INDICES, **given}.items():
        if isinstance(item, list):
            inputs[name] = Operand(element_type="i64", shape=(len(item),), integers=tuple(item))
        elif isinstance(item, tuple):
            attributes[name] = item
    return STRIDED_SLICE.arguments(inputs, attributes)


def output(given_arguments: Arguments) -> list[object]:
    """The elements of the only output, whose shape inference agrees."""
    [tensor] = STRIDED_SLICE.evaluate(given_arguments)
    assert [x.shape for x in STRIDED_SLICE.infer(given_arguments)] == [tensor.shape]
    elements: list[object] = tensor.array.tolist()
    return elements


@pytest.mark.parametrize(
    "accepted",
    [
        arguments((4,), ellipsis_mask=(0, 1), new_axis_mask=(0, 1)),
        arguments(ellipsis_mask=(1, 0, 1)),
        arguments(begin=[6, 0], shrink_axis_mask=(1,), begin_mask=(1,)),
    ],
)
def test_what_a_mask_makes_irrelevant_violates_nothing(accepted: Arguments) -> None:
    """A mask beyond the indices, and a begin that is masked."""
    assert len(STRIDED_SLICE.infer(accepted)) == 1


@given(size=st.integers(0, 7), begin=BOUND, end=BOUND, stride=BOUND.filter(bool))
def test_a_slice_has_the_elements_that_python_selects(size: int, begin: int, end: int, stride: int) -> None:
    """But a backward slice that begins before the first element begins with it."""
    first = 0 if stride < 0 and begin < -size else begin
    expected = list(range(size))[first:end:stride]

    assert output(arguments((size,), begin=[begin], end=[end], stride=[stride])) == expected


@pytest.mark.parametrize(
    ("stride", "masks", "expected"),
    [
        (1, {}, slice(2, 3, 1)),
        (1, {"begin_mask": (1,)}, slice(None, 3, 1)),
        (2, {"end_mask": (1,)}, slice(2, None, 2)),
        (-1, {"begin_mask": (1,)}, slice(None, 3, -1)),
        (-1, {"end_mask": (1,)}, slice(2, None, -1)),
        (-2, {"begin_mask": (1,), "end_mask": (1,)}, slice(None, None, -2)),
    ],
)
def test_masked_bounds_are_those_that_python_omits(
    stride: int, masks: dict[str, tuple[int, ...]], expected: slice
) -> None:
    """A mask is as good as no bound, forwards and backwards."""
    given_arguments = arguments((7,), begin=[2], end=[3], stride=[stride], **masks)

    assert output(given_arguments) == list(range(7))[expected]


WHOLE = np.arange(120).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ({}, WHOLE[1:2, 1:2, 1:2]),
        ({"new_axis_mask": (0, 1)}, WHOLE[1:2, None, 1:2]),
        ({"shrink_axis_mask": (1, 0, 1)}, WHOLE[1, 1:2, 1]),
        ({"ellipsis_mask": (1,)}, WHOLE[..., 1:2, 1:2]),
        ({"ellipsis_mask": (0, 1), "shrink_axis_mask": (0, 0, 1)}, WHOLE[1:2, ..., 1]),
        ({"ellipsis_mask": (0, 1), "new_axis_mask": (1, 1, 0)}, WHOLE[None, ..., 1:2]),
        ({"new_axis_mask": (1, 1, 1), "shrink_axis_mask": (0, 1)}, WHOLE[None, None, None]),
        ({"shrink_axis_mask": (0, 0, 0, 1), "new_axis_mask": (0, 0, 0, 1)}, WHOLE[1:2, 1:2, 1:2]),
    ],
)
def test_masks_change_dimensions_as_entries_of_an_index(
    masks: dict[str, tuple[int, ...]], expected: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> None:
    """An ellipsis precedes a new dimension, and a new dimension a removed one."""
    given_arguments = arguments((2, 3, 4, 5), begin=[1, 1, 1], end=[2, 2, 2], stride=[1, 1, 1], **masks)

    assert output(given_arguments) == expected.tolist()


def test_strides_default_to_one() -> None:
    """And the values of a step without a slice are ignored."""
    assert output(arguments((4,), begin=[1], end=[3], stride=None)) == [1, 2]
    assert output(arguments((4,), begin=[3, 9], end=[9, 9], stride=[1, 0], new_axis_mask=(0, 1))) == [[3]]
