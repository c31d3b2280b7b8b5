"""Tile-1: each clause of its page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.tile import TILE
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def arguments(shape: tuple[int, ...], repeats: list[int]) -> Arguments:
    """The arguments for data that counts from 0."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape))
    inputs = {
        "data": Operand(element_type="i32", shape=shape, tensor=data),
        "repeats": Operand(element_type="i64", shape=(len(repeats),), integers=tuple(repeats)),
    }
    return Arguments(inputs=inputs)


@given(shape=SHAPES, repeats=st.lists(st.integers(0, 3), max_size=5))
def test_every_element_comes_from_its_place_modulo_the_size(shape: tuple[int, ...], repeats: list[int]) -> None:
    """With ones in front of the shorter list."""
    given_arguments = arguments(shape, repeats)
    [output] = TILE.evaluate(given_arguments)
    rank = max(len(shape), len(repeats))
    sizes = [1] * (rank - len(shape)) + list(shape)
    counts = [1] * (rank - len(repeats)) + repeats
    assert [x.shape for x in TILE.infer(given_arguments)] == [output.shape]
    assert list(output.shape) == [size * count for size, count in zip(sizes, counts, strict=True)]
    data = given_arguments.tensor("data").array.reshape(sizes)
    for place in np.ndindex(*output.shape):
        assert output.array[place] == data[tuple(x % size for x, size in zip(place, sizes, strict=True))]


def test_an_empty_output_takes_no_memory() -> None:
    """Although the first dimension alone would be repeated two thousand million times."""
    [output] = TILE.evaluate(arguments((2, 2), [1 << 31, 0]))

    assert output.shape == (1 << 32, 0)
