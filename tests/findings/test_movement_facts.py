"""What is said only of operations that move data."""

from unittest import mock

import numpy as np
import pytest

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.operation import Computation, Movement, Operation
from opconform.operations.places import Places
from opconform.suite.case import Accept, Case, Graph, Input, Node, Output
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.facts import facts_of


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    arrays = [arguments.tensor(name).array for name in arguments.inputs]
    return (Tensor(element_type="u4", array=np.asarray(arrays[0] + arrays[-1])),)


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    return (TensorType(element_type="u4", shape=arguments.operand("one").shape),)


def _moved(_: Arguments, places: Places) -> list[Array]:
    return [places["one"][::-1]]


@pytest.mark.parametrize(
    ("operation", "moves"),
    [
        (Computation(name="Own-1", inputs=(Port("one"), Port("two")), types=_types, calculate=_computed), False),
        (
            Computation(
                name="Own-1",
                inputs=(Port("one", setting=True), Port("two", setting=True)),
                types=_types,
                calculate=_computed,
            ),
            False,
        ),
        (Movement(name="Own-1", inputs=(Port("one"), Port("two")), moved=_moved), True),
    ],
    ids=["computes", "without data", "moves"],
)
def test_only_of_an_operation_that_moves_data_it_is_said_that_elements_move(operation: Operation, moves: bool) -> None:
    """Not of one that computes its outputs, which may have no data at all."""
    inputs = tuple(
        Input(name=port.name, role=port.role, element_type="u4", shape=(3,), binding="parameter")
        for port in operation.inputs
    )
    node = Node(name="own", op="Own-1", inputs=("one", "two"), outputs=("out",), under_test=True)
    case = Case(
        id="Own-1/group/0123456789",
        op="Own-1",
        title="",
        profile="core",
        requirements=(),
        context="bare",
        feeds=1,
        inputs=inputs,
        graph=Graph(nodes=(node,), outputs=("out",)),
        expect=Accept(accept=(Output(name="out", element_type="u4", shape=(3,)),)),
    )
    feed: dict[str, Array] = {"one": np.array([1, 2, 3], np.uint8), "two": np.array([4, 5, 6], np.uint8)}
    with mock.patch.dict(OPERATIONS._shipped, {"Own-1": operation}):  # type: ignore[attr-defined]
        facts = {fact.sentence for fact in facts_of(case, [feed], [{"out": feed["one"]}])}

    assert "data is u4" in facts
    assert ("sub-byte elements move across byte boundaries" in facts) is moves
