"""Transpose-1: each clause of its page, and the formula that binds its elements."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.transpose import TRANSPOSE
from opconform.tensors.tensor import Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=5).map(tuple)


def arguments(shape: tuple[int, ...] | None, order: Operand | list[int] | None) -> Arguments:
    """The arguments for a tensor that counts from 0; an order is a list of i64, or an operand."""
    inputs = {}
    if shape is not None:
        arg = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype="u4").reshape(shape))
        inputs["arg"] = Operand(element_type="i32", shape=shape, tensor=arg)
    if isinstance(order, list):
        inputs["input_order"] = Operand(element_type="i64", shape=(len(order),), integers=tuple(order))
    elif order is not None:
        inputs["input_order"] = order
    return Arguments(inputs=inputs)


@pytest.mark.parametrize(
    ("shape", "order", "violated"),
    [
        (None, [1, 0], {"arg.required"}),
        ((3, 2), None, {"order.required"}),
        (None, None, {"arg.required", "order.required"}),
        ((3,), Operand(element_type="i64", shape=(), integers=(0,)), {"order.rank"}),
        ((3, 2), Operand(element_type="i8", shape=(1, 2), integers=(1, 0)), {"order.rank"}),
        ((3, 2), Operand(element_type="f32", shape=(2,)), {"order.element-type"}),
        ((3, 2), Operand(element_type="boolean", shape=()), {"order.rank", "order.element-type"}),
        ((3, 2), [0], {"order.length"}),
        ((3, 2), [0, 1, 2], {"order.length"}),
        ((), [0], {"order.length"}),
        ((3, 2), [0, 2], {"order.range"}),
        ((3, 2), [0, 1 << 32], {"order.range"}),
        ((3, 2), [1, -2], {"order.negative"}),
        ((3, 2), [-3, 2], {"order.negative", "order.range"}),
        ((3, 2), [1, 1], {"order.unique"}),
        ((3, 2), [2, 2], {"order.range", "order.unique"}),
    ],
)
def test_every_violated_requirement_is_named(
    shape: tuple[int, ...] | None, order: Operand | list[int] | None, violated: set[str]
) -> None:
    """And no other."""
    with pytest.raises(Rejection) as raised:
        TRANSPOSE.infer(arguments(shape, order))

    assert set(raised.value.requirements) == violated


@given(data=st.data(), shape=SHAPES)
def test_every_element_is_where_the_formula_says(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """output[i(order[0]), …] = input[i(0), …], for every order of every shape."""
    order = data.draw(st.permutations(range(len(shape))))
    given_arguments = arguments(shape, order)

    [output] = TRANSPOSE.evaluate(given_arguments)
    arg = given_arguments.tensor("arg").array

    assert [each.shape for each in TRANSPOSE.infer(given_arguments)] == [output.shape]
    assert output.array.size == arg.size
    for index in product(*map(range, shape)):
        assert output.array[tuple(index[each] for each in order)] == arg[index]


@given(shape=SHAPES)
def test_an_empty_order_inverts_the_dimensions(shape: tuple[int, ...]) -> None:
    """As the order n-1, …, 0 does; a scalar has no other."""
    [output] = TRANSPOSE.evaluate(arguments(shape, []))
    [expected] = TRANSPOSE.evaluate(arguments(shape, list(range(len(shape)))[::-1]))

    assert output.shape == expected.shape == shape[::-1]
    assert output.array.tolist() == expected.array.tolist()
