"""Split-1 by its specification page: one test per requirement, and the sizes of its outputs."""

from collections.abc import Mapping

import numpy as np
import pytest

from opconform.explanation.origins import origins_of
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.split import SPLIT
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor

AXIS = Operand(element_type="i64", shape=(), integers=(1,))


def arguments(
    shape: tuple[int, ...] = (2, 6), axis: Operand = AXIS, attributes: Mapping[str, Attribute] | None = None
) -> Arguments:
    """Arguments of Split-1; three outputs unless other attributes are given."""
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    data = Operand(element_type="f32", shape=shape, tensor=Tensor(element_type="f32", array=array))
    return Arguments(
        inputs={"data": data, "axis": axis}, attributes={"num_splits": 3} if attributes is None else attributes
    )


def at(axis: int, element_type: str = "i64") -> Operand:
    """An axis."""
    return Operand(element_type=element_type, shape=(), integers=(axis,))


@pytest.mark.parametrize("axis", [at(1), at(-1), at(1, element_type="u8")])
def test_the_outputs_have_equal_sizes_in_the_order_of_the_data(axis: Operand) -> None:
    """A negative axis counts from the end, and any integer type names it."""
    given = arguments(axis=axis)

    assert [(x.element_type, x.shape) for x in SPLIT.infer(given)] == [("f32", (2, 2))] * 3
    assert [x.array.tolist() for x in SPLIT.evaluate(given)] == [
        [[0, 1], [6, 7]],
        [[2, 3], [8, 9]],
        [[4, 5], [10, 11]],
    ]


def test_an_empty_dimension_beside_the_axis_stays() -> None:
    """The outputs are empty."""
    assert [x.shape for x in SPLIT.infer(arguments(shape=(0, 6)))] == [(0, 2)] * 3


def test_each_output_has_the_elements_that_follow_along_the_axis() -> None:
    """By their numbers in data, in row-major order."""
    origins = origins_of(SPLIT, arguments())

    assert [output.tolist() for output in origins.outputs] == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]


@pytest.mark.parametrize(("attributes", "requested"), [({"num_splits": 5}, 5), ({"num_splits": "5"}, None), ({}, None)])
def test_the_requested_outputs_do_not_depend_on_the_data(
    attributes: dict[str, Attribute], requested: int | None
) -> None:
    """They are as many as `num_splits` asks for, even if the data cannot be split so."""
    assert SPLIT.requested_outputs(arguments(attributes=attributes)) == requested
