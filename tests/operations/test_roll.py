"""Roll-7: each clause of its page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.roll import ROLL
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple)
DATA = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]


def setting(given_value: int | list[int]) -> Operand:
    """A scalar or a list as an operand."""
    values = given_value if isinstance(given_value, list) else [given_value]
    shape = (len(values),) if isinstance(given_value, list) else ()
    return Operand(element_type="i64", shape=shape, integers=tuple(values))


def arguments(array: object, shift: Operand, axes: Operand) -> Arguments:
    """The arguments for some data."""
    data = Tensor(element_type="i32", array=np.array(array, np.int32))
    return Arguments(
        inputs={"data": Operand(element_type="i32", shape=data.shape, tensor=data), "shift": shift, "axes": axes}
    )


@pytest.mark.parametrize(
    ("shift", "axes", "output"),
    [
        (setting(1), setting(0), [[10, 11, 12], [1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        (setting([-1, 2]), setting([0, 1]), [[5, 6, 4], [8, 9, 7], [11, 12, 10], [2, 3, 1]]),
        (setting([1, 2, 1]), setting([0, 1, 0]), [[8, 9, 7], [11, 12, 10], [2, 3, 1], [5, 6, 4]]),
        (setting([1]), setting([0, 1]), [[12, 10, 11], [3, 1, 2], [6, 4, 5], [9, 7, 8]]),
    ],
)
def test_the_page_s_examples(shift: Operand, axes: Operand, output: object) -> None:
    """And one shift in a list, for two axes."""
    [rolled] = ROLL.evaluate(arguments(DATA, shift, axes))
    assert rolled.array.tolist() == output


@given(data=st.data(), shape=SHAPES)
def test_every_element_moves_by_the_sum_of_the_shifts_of_its_axis(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Modulo the size of the dimension, for shifts of any size."""
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=4))
    shifts = data.draw(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=len(axes), max_size=len(axes)))
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    [output] = ROLL.evaluate(arguments(whole, setting(shifts), setting(axes)))
    sums = [sum(s for s, a in zip(shifts, axes, strict=True) if a % len(shape) == axis) for axis in range(len(shape))]
    for place in np.ndindex(*shape):
        target = tuple((at + by) % size for at, by, size in zip(place, sums, shape, strict=True))
        assert output.array[target] == whole[place]
