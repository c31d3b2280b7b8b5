"""Reshape-1: each clause of its page, and numpy's own reshape."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.reshape import RESHAPE
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor

SIZES = st.lists(st.integers(0, 4), max_size=4)


def arguments(
    data: tuple[int, ...] | None = (2, 6),
    shape: list[int] | Operand | None = None,
    special_zero: Attribute | None = True,
) -> Arguments:
    """The arguments for ramp data of a shape; the input shape is a list of i64 or an operand."""
    inputs = {}
    if data is not None:
        tensor = Tensor(element_type="i32", array=np.arange(prod(data), dtype="u4").reshape(data))
        inputs["data"] = Operand(element_type="i32", shape=data, tensor=tensor)
    if isinstance(shape, list):
        shape = Operand(element_type="i64", shape=(len(shape),), integers=tuple(shape))
    if shape is not None:
        inputs["shape"] = shape
    return Arguments(inputs=inputs, attributes={} if special_zero is None else {"special_zero": special_zero})


@pytest.mark.parametrize(
    ("given_arguments", "violated"),
    [
        (arguments(None, [2]), {"data.required"}),
        (arguments((2, 6)), {"shape.required"}),
        (arguments((6,), Operand(element_type="i64", shape=(), integers=(6,))), {"shape.rank"}),
        (arguments((6,), Operand(element_type="f32", shape=(1,))), {"shape.element-type"}),
        (arguments((6,), Operand(element_type="f32", shape=(1, 1))), {"shape.rank", "shape.element-type"}),
        (arguments((2, 6), [12], None), {"special_zero.required"}),
        (arguments((2, 6), [12], "yes"), {"special_zero.type"}),
        (arguments((2, 6), [12], 2), {"special_zero.type"}),
        (arguments((2, 6), [12], 1), {"special_zero.spelling"}),
        (arguments((2, 6), [0, 7], "True"), {"special_zero.spelling"}),
        (arguments((2, 6), [-2, -6]), {"shape.negative"}),
        (arguments((2, 6), [-1, -2, -1]), {"shape.negative", "shape.single-inferred"}),
        (arguments((2, 6), [0, 7]), {"shape.volume"}),
        (arguments((2, 6), [0, 6], False), {"shape.volume"}),
        (arguments((2, 6), [0, -1], False), {"shape.inferred-divides"}),
        (arguments((2, 6), [5, -1]), {"shape.inferred-divides"}),
        (arguments((2, 6), [12, 1, 0]), {"shape.zero-after-last"}),
        (arguments((2, 6), [12, 1, 0, 0]), {"shape.zero-after-last", "shape.zero-index"}),
        (arguments((2, 6), [12, 1, 1, 0]), {"shape.zero-index"}),
        (arguments((0, 6), [0, -1]), {"shape.inferred-undetermined"}),
        (arguments((4,), [(1 << 62) + 1, 4], False), {"shape.volume"}),
    ],
)
def test_every_violated_requirement_is_named(given_arguments: Arguments, violated: set[str]) -> None:
    """And no other."""
    with pytest.raises(Rejection) as raised:
        RESHAPE.infer(given_arguments)

    assert set(raised.value.requirements) == violated


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
        assert [each.shape for each in RESHAPE.infer(arguments(tuple(data), shape, special_zero))] == [expected.shape]


@given(data=SIZES.filter(lambda sizes: 0 not in sizes), where=st.integers(0, 3))
def test_a_copied_and_a_calculated_size_restore_any_shape(data: list[int], where: int) -> None:
    """Zeros everywhere and -1 in one place give the dimensions of data."""
    shape = [-1 if n == where else 0 for n in range(len(data))]

    assert [each.shape for each in RESHAPE.infer(arguments(tuple(data), shape))] == [tuple(data)]
