"""Unsqueeze-1: each clause of its page, and numpy's own new axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.shape.unsqueeze import UNSQUEEZE
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


def arguments(shape: tuple[int, ...], axes: int | list[int]) -> Arguments:
    """The arguments for data that counts from 0."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype="u4").reshape(shape))
    values, size = ((axes,), ()) if isinstance(axes, int) else (tuple(axes), (len(axes),))
    inputs = {
        "data": Operand(element_type="i32", shape=shape, tensor=data),
        "axes": Operand(element_type="i64", shape=size, integers=values),
    }
    return Arguments(inputs=inputs)


@given(shape=SHAPES, axes=st.lists(st.integers(-7, 6), max_size=3))
def test_the_output_is_what_numpy_s_new_axes_give(shape: tuple[int, ...], axes: list[int]) -> None:
    """Each index is one of the output, once, or the arguments are rejected."""
    rank = len(shape) + len(axes)
    places = {axis % rank for axis in axes} if all(-rank <= axis < rank for axis in axes) else set()
    known = arguments(shape, axes)
    if len(places) < len(axes):
        with pytest.raises(Rejection):
            UNSQUEEZE.infer(known)
        return
    [output] = UNSQUEEZE.evaluate(known)
    index = tuple(np.newaxis if place in places else slice(None) for place in range(rank))
    expected = known.tensor("data").array[index]
    assert [x.shape for x in UNSQUEEZE.infer(known)] == [output.shape] == [expected.shape]
    assert output.array.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("shape", "axes", "output"),
    [((2, 3), [0, 3], (1, 2, 3, 1)), ((), [0], (1,)), ((2, 3), -1, (2, 3, 1)), ((2, 3), [], (2, 3))],
)
def test_the_page_s_examples(shape: tuple[int, ...], axes: int | list[int], output: tuple[int, ...]) -> None:
    """And a scalar, and an empty list."""
    assert [x.shape for x in UNSQUEEZE.infer(arguments(shape, axes))] == [output]


@pytest.mark.parametrize(
    ("axes", "violated"),
    [
        ([3], "axes.range"),
        (-4, "axes.range"),
        ([0, 4], "axes.range"),
        ([1, 1], "axes.unique"),
        ([3, -1], "axes.unique"),
    ],
)
def test_wrong_indices_violate_one_requirement(axes: int | list[int], violated: str) -> None:
    """The range is that of the output's rank."""
    with pytest.raises(Rejection) as raised:
        UNSQUEEZE.infer(arguments((2, 3), axes))
    assert raised.value.requirements == (violated,)
