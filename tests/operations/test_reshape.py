"""Reshape-1: each clause of its page, and numpy's own reshape."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.shape.reshape import RESHAPE
from opconform.tensors.tensor import Tensor

SIZES = st.lists(st.integers(0, 4), max_size=4)


def arguments(data: tuple[int, ...], shape: list[int], special_zero: bool = True) -> Arguments:
    """The arguments for ramp data of a shape."""
    tensor = Tensor(element_type="i32", array=np.arange(prod(data), dtype="u4").reshape(data))
    inputs = {
        "data": Operand(element_type="i32", shape=data, tensor=tensor),
        "shape": Operand(element_type="i64", shape=(len(shape),), integers=tuple(shape)),
    }
    return Arguments(inputs=inputs, attributes={"special_zero": special_zero})


@given(data=SIZES, shape=st.lists(st.integers(-2, 6), max_size=4), special_zero=st.booleans())
def test_what_numpy_reshapes_is_reshaped(data: list[int], shape: list[int], special_zero: bool) -> None:
    """Zeros apart, numpy takes the same shapes and gives the same elements."""
    sizes = [data[n] if special_zero and not size and n < len(data) else size for n, size in enumerate(shape)]
    beyond = special_zero and 0 in shape[len(data) :]
    array = np.arange(prod(data)).reshape(data)
    try:
        expected = None if beyond or min(shape, default=0) < -1 else array.reshape(sizes)
    except ValueError:
        expected = None

    if expected is None:
        with pytest.raises(Rejection):
            RESHAPE.infer(arguments(tuple(data), shape, special_zero))
    else:
        [output] = RESHAPE.evaluate(arguments(tuple(data), shape, special_zero))
        assert output.array.tolist() == expected.tolist()
        assert [x.shape for x in RESHAPE.infer(arguments(tuple(data), shape, special_zero))] == [expected.shape]


@given(data=SIZES.filter(lambda sizes: 0 not in sizes), where=st.integers(0, 3))
def test_a_copied_and_a_calculated_size_restore_any_shape(data: list[int], where: int) -> None:
    """Zeros everywhere and -1 in one place give the dimensions of data."""
    shape = [-1 if n == where else 0 for n in range(len(data))]

    assert [x.shape for x in RESHAPE.infer(arguments(tuple(data), shape))] == [tuple(data)]
