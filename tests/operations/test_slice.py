"""Slice-8: each clause of its page, and Python's own slices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.slice import SLICE
from opconform.tensors.tensor import Tensor

BOUND = st.one_of(st.integers(-8, 8), st.sampled_from([-(1 << 63), -(1 << 31), 1 << 31, (1 << 63) - 1, (1 << 64) - 1]))


def arguments(shape: tuple[int, ...] | None = (6, 4), **indices: object) -> Arguments:
    """The arguments for ramp data of a shape; an index is a list of i64, a tuple of a type and a list, or an operand."""
    inputs = {}
    if shape is not None:
        data = Tensor(element_type="i32", array=np.arange(np.prod(shape), dtype="u4").reshape(shape))
        inputs["data"] = Operand(element_type="i32", shape=shape, tensor=data)
    for name, each in {"start": [0], "stop": [2], "step": [1], **indices}.items():
        if isinstance(each, list):
            inputs[name] = Operand(element_type="i64", shape=(len(each),), integers=tuple(each))
        elif isinstance(each, Operand):
            inputs[name] = each
    return Arguments(inputs=inputs)


@pytest.mark.parametrize(
    ("given_arguments", "violated"),
    [
        (arguments(None), {"data.required"}),
        (arguments(()), {"data.rank"}),
        (arguments(start=None), {"start.required"}),
        (arguments(stop=None, step=None), {"stop.required", "step.required"}),
        (arguments(start=Operand(element_type="i64", shape=(), integers=(0,))), {"start.rank"}),
        (arguments(axes=Operand(element_type="i8", shape=(1, 1), integers=(0,))), {"axes.rank"}),
        (arguments(stop=Operand(element_type="f32", shape=(1,))), {"stop.element-type"}),
        (arguments(step=[0]), {"step.zero"}),
        (arguments((0, 4), step=[0]), {"step.zero"}),
        (arguments(step=[1, 1]), {"indices.count"}),
        (arguments(axes=[0, 1]), {"indices.count"}),
        (arguments(axes=[2]), {"axes.range"}),
        (arguments(axes=[-3], step=[0]), {"axes.range", "step.zero"}),
        (arguments((4,), start=[0, 0], stop=[1, 1], step=[1, 1]), {"axes.range"}),
        (arguments(start=[0, 0], stop=[1, 1], step=[1, 1], axes=[1, -1]), {"axes.unique"}),
    ],
)
def test_every_violated_requirement_is_named(given_arguments: Arguments, violated: set[str]) -> None:
    """And no other."""
    with pytest.raises(Rejection) as raised:
        SLICE.infer(given_arguments)

    assert set(raised.value.requirements) == violated


@given(size=st.integers(0, 7), start=BOUND, stop=BOUND, step=BOUND.filter(bool))
def test_a_slice_has_the_elements_that_python_selects(size: int, start: int, stop: int, step: int) -> None:
    """For bounds inside, outside and far beyond the dimension, in either direction."""
    given_arguments = arguments((size, 2), start=[start], stop=[stop], step=[step], axes=[-2])
    expected = [[2 * each, 2 * each + 1] for each in list(range(size))[start:stop:step]]

    [output] = SLICE.evaluate(given_arguments)

    assert output.array.tolist() == expected
    assert [each.shape for each in SLICE.infer(given_arguments)] == [(len(expected), 2)]


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
