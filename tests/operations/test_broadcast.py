"""Broadcast-3 and Broadcast-1: each clause of their pages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.broadcast import BROADCAST, BROADCAST_1
from opconform.operations.operation import Operation
from opconform.tensors.tensor import Array, Tensor

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


def setting(values: tuple[int, ...]) -> Operand:
    """A list as an operand."""
    return Operand(element_type="i64", shape=(len(values),), integers=values)


def arguments(
    shape: tuple[int, ...], target: tuple[int, ...], mode: str, axes: tuple[int, ...] | None = None
) -> Arguments:
    """The arguments for data that counts from 0."""
    data = Tensor(element_type="i32", array=np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape))
    inputs = {"data": Operand(element_type="i32", shape=shape, tensor=data), "target_shape": setting(target)}
    if axes is not None:
        inputs["axes_mapping"] = setting(axes)
    return Arguments(inputs=inputs, attributes={"mode": mode})


def output_of(operation: Operation, known: Arguments) -> Array:
    """The only output, of the shape that is inferred."""
    [output] = operation.evaluate(known)
    assert [type_.shape for type_ in operation.infer(known)] == [output.shape]
    return output.array


@pytest.mark.parametrize("operation", [BROADCAST, BROADCAST_1])
@given(shape=SHAPES, target=SHAPES)
def test_the_mode_numpy_is_numpy_s_function(
    operation: Operation, shape: tuple[int, ...], target: tuple[int, ...]
) -> None:
    """It rejects what the function does."""
    known = arguments(shape, target, "numpy")
    try:
        expected = np.broadcast_to(known.tensor("data").array, target)
    except ValueError:
        assert operation.judged(known)[1] == ("numpy.rank" if len(shape) > len(target) else "numpy.dimensions",)
        return
    np.testing.assert_array_equal(output_of(operation, known), expected)


@given(shape=SHAPES, target=SHAPES)
def test_the_mode_bidirectional_is_a_product_with_ones(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """As the page writes it, and rejected where numpy has no such product."""
    known = arguments(shape, target, "bidirectional")
    try:
        expected = known.tensor("data").array * np.ones(target, np.int32)
    except ValueError:
        assert BROADCAST.judged(known)[1] == ("bidirectional.dimensions",)
        return
    np.testing.assert_array_equal(output_of(BROADCAST, known), expected)


@pytest.mark.parametrize("operation", [BROADCAST, BROADCAST_1])
@given(data=st.data(), target=st.lists(st.integers(0, 3), max_size=4).map(tuple))
def test_the_mode_explicit_repeats_along_the_other_axes(
    operation: Operation, data: st.DataObject, target: tuple[int, ...]
) -> None:
    """An element comes from the indices at the axes, or from 0 in a dimension of 1."""
    axes = tuple(axis for axis in range(len(target)) if data.draw(st.booleans()))
    shape = tuple(1 if data.draw(st.booleans()) else target[axis] for axis in axes)
    known = arguments(shape, target, "explicit", axes)
    output, source = output_of(operation, known), known.tensor("data").array
    assert output.shape == target
    for place in np.ndindex(*target):
        assert output[place] == source[tuple(place[axis] % size for axis, size in zip(axes, shape, strict=True))]


def test_the_older_version_has_no_mode_bidirectional() -> None:
    """The newer one has."""
    known = arguments((3,), (1,), "bidirectional")
    assert BROADCAST_1.judged(known)[1] == ("mode.values",)
    assert BROADCAST.judged(known)[1] == ()
