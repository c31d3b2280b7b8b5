"""Transpose-1: each clause of its page, and the formula that binds its elements."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.transpose import TRANSPOSE
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=5).map(tuple)


def arguments(shape: tuple[int, ...], order: list[int]) -> Arguments:
    """The arguments for a tensor that counts from 0."""
    arg = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype="u4").reshape(shape))
    inputs = {
        "arg": Operand(element_type="i32", shape=shape, tensor=arg),
        "input_order": Operand(element_type="i64", shape=(len(order),), integers=tuple(order)),
    }
    return Arguments(inputs=inputs)


@given(data=st.data(), shape=SHAPES)
def test_every_element_is_where_the_formula_says(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """output[i(order[0]), …] = input[i(0), …], for every order of every shape."""
    order = data.draw(st.permutations(range(len(shape))))
    given_arguments = arguments(shape, order)

    [output] = TRANSPOSE.evaluate(given_arguments)
    arg = given_arguments.tensor("arg").array

    assert [x.shape for x in TRANSPOSE.infer(given_arguments)] == [output.shape]
    assert output.array.size == arg.size
    for index in product(*map(range, shape)):
        assert output.array[tuple(index[position] for position in order)] == arg[index]


@given(shape=SHAPES)
def test_an_empty_order_inverts_the_dimensions(shape: tuple[int, ...]) -> None:
    """As the order n-1, …, 0 does; a scalar has no other."""
    [output] = TRANSPOSE.evaluate(arguments(shape, []))
    [expected] = TRANSPOSE.evaluate(arguments(shape, list(range(len(shape)))[::-1]))

    assert output.shape == expected.shape == shape[::-1]
    assert output.array.tolist() == expected.array.tolist()
