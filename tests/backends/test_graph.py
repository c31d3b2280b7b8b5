"""The walk over a case's graph."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from opconform.suite.case import Attribute, Case, Graph, Node
from opconform_runners.backends.backend import Unsupported, undeclared_operation
from opconform_runners.backends.graph import outputs_of, padded

HALVES = Node(name="Halves", op="Halves-1", inputs=("data", "axis"), outputs=("Halves_0", "Halves_1"), under_test=True)
JOINED = Node(
    name="Join", op="Join-1", inputs=("Halves_1", "Halves_0"), outputs=("Join_0",), attributes={"between": "-"}
)


def case_of(*nodes: Node, outputs: tuple[str, ...], context: str = "bare") -> Case:
    """A case with a graph."""
    return Case(
        id=f"{nodes[0].op}/case/0123456789",
        op=nodes[0].op,
        title="a case",
        profile="core",
        requirements=(),
        context=context,
        feeds=1,
        inputs=(),
        graph=Graph(nodes=nodes, outputs=outputs),
    )


BARE = case_of(HALVES, outputs=HALVES.outputs)
CONCAT = case_of(HALVES, JOINED, outputs=("Join_0",), context="concat")


def halves(inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
    """A text in two, in the place of a tensor."""
    data, axis = padded(inputs, 2)
    assert axis is None
    return [data[: len(data) // 2], data[len(data) // 2 :]]


def join(inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    """Texts joined by an attribute."""
    return [str(attributes["between"]).join(inputs)]


def test_each_node_is_given_the_outputs_of_those_before() -> None:
    """By their names, and with its own attributes."""
    assert outputs_of(CONCAT, {"data": "abcd"}, {"Halves-1": halves, "Join-1": join}) == ["cd-ab"]


def test_outputs_of_a_graph_are_those_that_it_names() -> None:
    """An unused output of a node is not an output of the model."""
    case = case_of(HALVES, JOINED, outputs=("Halves_1", "Join_0"), context="shared")

    assert outputs_of(case, {"data": "abcd"}, {"Halves-1": halves, "Join-1": join}) == ["cd", "cd-ab"]


def test_a_bare_node_gives_as_many_outputs_as_it_has() -> None:
    """A framework that makes more or fewer than the graph names is judged by its own number."""
    assert outputs_of(BARE, {"data": ""}, {"Halves-1": lambda *_: ["a", "b", "c"]}) == ["a", "b", "c"]
    assert outputs_of(BARE, {"data": ""}, {"Halves-1": lambda *_: ["a"]}) == ["a"]


def test_a_node_that_a_backend_has_no_function_for_is_unsupported() -> None:
    """The reason names the operation."""
    with pytest.raises(Unsupported, match="the graph has a Join-1 node, which this backend does not implement"):
        outputs_of(CONCAT, {"data": "abcd"}, {"Halves-1": halves})


@pytest.mark.parametrize(
    ("operations", "dialects", "bare", "concat"),
    [
        ((), ("onnx",), None, None),
        (("Halves-1",), ("onnx",), None, None),
        (("Join-1",), ("onnx",), "Halves-1", "Halves-1"),
        (("Halves-1", "Join-1"), (), None, None),
        (("Halves-1",), (), None, "Join-1"),
        ((), (), "Halves-1", "Halves-1"),
    ],
)
def test_a_backend_without_a_dialect_must_list_every_operation_of_a_graph(
    operations: tuple[str, ...], dialects: tuple[str, ...], bare: str | None, concat: str | None
) -> None:
    """One that reads a dialect takes what the dialect can express, or lists what can be tested on it."""
    assert undeclared_operation(BARE, operations, dialects) == bare
    assert undeclared_operation(CONCAT, operations, dialects) == concat
