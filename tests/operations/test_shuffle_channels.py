"""ShuffleChannels-1: each clause of its page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.shuffle_channels import SHUFFLE_CHANNELS
from opconform.tensors.tensor import Tensor


def arguments(shape: tuple[int, ...], axis: int, group: int, element_type: str = "i32") -> Arguments:
    """The arguments for data that counts from 0."""
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    data = Tensor(element_type=element_type, array=array)
    operand = Operand(element_type=element_type, shape=shape, tensor=data)
    return Arguments(inputs={"data": operand}, attributes={"axis": axis, "group": group})


@given(
    before=st.lists(st.integers(1, 3), max_size=2),
    after=st.lists(st.integers(0, 3), max_size=2),
    size=st.integers(1, 4),
    group=st.integers(1, 4),
)
def test_each_channel_comes_from_its_place_in_its_group(
    before: list[int], after: list[int], size: int, group: int
) -> None:
    """The output counts the groups fastest, and data the places."""
    shape = (*before, size * group, *after)
    given_arguments = arguments(shape, len(before) - len(shape), group)
    [output] = SHUFFLE_CHANNELS.evaluate(given_arguments)
    data = given_arguments.tensor("data").array

    assert [x.shape for x in SHUFFLE_CHANNELS.infer(given_arguments)] == [output.shape] == [shape]
    for place in range(size):
        for number in range(group):
            taken = output.array.take(place * group + number, len(before))
            assert taken.tolist() == data.take(number * size + place, len(before)).tolist()


@pytest.mark.parametrize(
    ("given_arguments", "violated"),
    [
        (arguments((6, 4), 2, 2), "axis.range"),
        (arguments((6, 4), 0, 0), "group.range"),
        (arguments((6, 4), 0, 7), "group.range"),
        (arguments((6, 4), 0, 4), "group.divides"),
        (arguments((6, 4), 0, 2, "string"), "data.element-type"),
    ],
)
def test_groups_divide_the_channels(given_arguments: Arguments, violated: str) -> None:
    """And there are not more groups than channels."""
    assert SHUFFLE_CHANNELS.judged(given_arguments)[1] == (violated,)
