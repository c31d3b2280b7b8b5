"""Squeeze-1 and Squeeze-15: each clause of its page, and numpy's own squeeze."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.shape.squeeze import SQUEEZE, SQUEEZE_15
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.sampled_from([0, 1, 1, 2]), max_size=4).map(tuple)


def arguments(shape: tuple[int, ...], axes: int | list[int] | None) -> Arguments:
    """The arguments for data that counts from 0."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype="u4").reshape(shape))
    inputs = {"data": Operand(element_type="i32", shape=shape, tensor=data)}
    if axes is not None:
        values, size = ((axes,), ()) if isinstance(axes, int) else (tuple(axes), (len(axes),))
        inputs["axes"] = Operand(element_type="i64", shape=size, integers=values)
    return Arguments(inputs=inputs)


@given(shape=SHAPES, axes=st.none() | st.lists(st.integers(-5, 4), max_size=3))
def test_the_output_is_what_numpy_squeezes(shape: tuple[int, ...], axes: list[int] | None) -> None:
    """For each dimension of 1 once; an index out of range is rejected."""
    known, rank = arguments(shape, axes), len(shape)
    if any(not -rank <= axis < rank for axis in axes or []):
        with pytest.raises(Rejection) as raised:
            SQUEEZE.infer(known)
        assert raised.value.requirements == ("axes.range",)
        return
    ones = tuple({axis % rank for axis in axes or [] if shape[axis] == 1}) if axes else None
    expected = np.squeeze(known.tensor("data").array, ones)
    [output] = SQUEEZE.evaluate(known)
    assert [x.shape for x in SQUEEZE.infer(known)] == [output.shape] == [expected.shape]
    assert output.array.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("shape", "axes", "output"),
    [
        ((1, 3, 1, 2), [0, 2], (3, 2)),
        ((1,), [0], ()),
        ((1, 3, 1, 2), None, (3, 2)),
        ((1, 3, 1, 2), [], (3, 2)),
        ((1, 3, 1, 2), -2, (1, 3, 2)),
        ((1, 3, 1, 2), [1, 0, -4], (3, 1, 2)),
    ],
)
def test_the_page_s_examples(shape: tuple[int, ...], axes: int | list[int] | None, output: tuple[int, ...]) -> None:
    """And omitted, empty, scalar, repeated and ignored indices."""
    for operation in (SQUEEZE, SQUEEZE_15):
        assert [x.shape for x in operation.infer(arguments(shape, axes))] == [output]


def test_the_other_reading_of_an_empty_list_removes_nothing() -> None:
    """By an index that is ignored; without a dimension other than 1 there is none."""
    [rewrite] = SQUEEZE.readings["axes.empty"].rewrites
    assert [x.shape for x in SQUEEZE.infer(rewrite(arguments((1, 3), [])))] == [(1, 3)]
    for same in (arguments((1, 1), []), arguments((1, 3), None), arguments((1, 3), [0])):
        assert rewrite(same) == same
