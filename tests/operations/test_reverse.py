"""Reverse-1: each clause of its page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.reverse import REVERSE
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def arguments(shape: tuple[int, ...], axis: list[int] | list[bool], mode: str | None = "index") -> Arguments:
    """The arguments for data that counts from 0; a list of booleans is a boolean axis."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape))
    kind = "boolean" if all(isinstance(axis_, bool) for axis_ in axis) and (axis or mode == "mask") else "i64"
    operand = Operand(element_type=kind, shape=(len(axis),), integers=tuple(map(int, axis)))
    inputs = {"data": Operand(element_type="i32", shape=shape, tensor=data), "axis": operand}
    return Arguments(inputs=inputs, attributes={} if mode is None else {"mode": mode})


@given(data=st.data(), shape=SHAPES)
def test_every_element_comes_from_the_opposite_place(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Along each axis of a mask, and of the same set of indices."""
    mask = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    indices = data.draw(st.permutations([axis for axis, value in enumerate(mask) if value]))
    by_mask, by_index = arguments(shape, mask, "mask"), arguments(shape, indices)
    [output], [other] = REVERSE.evaluate(by_mask), REVERSE.evaluate(by_index)
    whole = by_mask.tensor("data").array
    assert output.array.tolist() == other.array.tolist()
    for place in np.ndindex(*shape):
        source = tuple(s - 1 - p if reversed_ else p for p, s, reversed_ in zip(place, shape, mask, strict=True))
        assert output.array[place] == whole[source]


def test_an_index_that_occurs_twice_reverses_once() -> None:
    """The indices are a set."""
    [output] = REVERSE.evaluate(arguments((3, 2), [0, 0]))
    assert output.array.tolist() == [[4, 5], [2, 3], [0, 1]]
