"""Slice-8: each clause of its page, and Python's own slices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.slices.slice import SLICE
from opconform.tensors.tensor import Tensor

BOUND = st.one_of(st.integers(-8, 8), st.sampled_from([-(1 << 63), -(1 << 31), 1 << 31, (1 << 63) - 1, (1 << 64) - 1]))


def arguments(shape: tuple[int, ...], **indices: list[int]) -> Arguments:
    """The arguments for ramp data of a shape."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape), dtype="u4").reshape(shape))
    settings = {
        name: Operand(element_type="i64", shape=(len(index),), integers=tuple(index)) for name, index in indices.items()
    }
    return Arguments(inputs={"data": Operand(element_type="i32", shape=shape, tensor=data), **settings})


@given(size=st.integers(0, 7), start=BOUND, stop=BOUND, step=BOUND.filter(bool))
def test_a_slice_has_the_elements_that_python_selects(size: int, start: int, stop: int, step: int) -> None:
    """For bounds inside, outside and far beyond the dimension, in either direction."""
    given_arguments = arguments((size, 2), start=[start], stop=[stop], step=[step], axes=[-2])
    expected = [[2 * index, 2 * index + 1] for index in list(range(size))[start:stop:step]]

    [output] = SLICE.evaluate(given_arguments)

    assert output.array.tolist() == expected
    assert [x.shape for x in SLICE.infer(given_arguments)] == [(len(expected), 2)]


def test_each_axis_has_its_own_slice_and_the_others_are_whole() -> None:
    """Without axes, the slices are those of the first dimensions."""
    whole = np.arange(24).reshape(2, 3, 4)
    cases = {
        (2, 0): whole[::-1, :, 1:4:2],
        (0, -1): whole[1:2, :, ::-1],
        None: whole[1:2, ::-1],
    }
    for axes, expected in cases.items():
        chosen = {} if axes is None else {"axes": list(axes)}
        [output] = SLICE.evaluate(arguments((2, 3, 4), start=[1, -1], stop=[4, -9], step=[2, -1], **chosen))
        assert output.array.tolist() == expected.tolist(), axes
