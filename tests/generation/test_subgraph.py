"""Parts of graphs as cases of their own."""

import numpy as np
import pytest

from opconform.generation.subgraph import GoldenGraph, golden_graph, is_connected, subgraph_draft, subgraph_text
from opconform.model.golden import golden_of
from opconform.suite.case import Node
from opconform.suite.manifest import expected_name
from opconform.suite.reader import open_suite
from tests.conftest import Run

#: A residual block with two feeds and open dimensions; a shape that the graph computes is a setting of its last node.
SPEC = """\
op: Graph-1
groups:
  - id: residual
    title: a residual block
    requirements: [values.residual]
    inputs:
      x: {shape: [2, 3], fill: exact}
      target: {shape: [3, 2]}
    dynamic: {x: ["?", "?"]}
    feed: {inputs: {x: {shape: [3, 2]}}}
    nodes:
      negative: {op: Negative-1, data: x}
      product: {op: Multiply-1, a: negative, b: [[2.5]]}
      sum: {op: Add-1, a: negative, b: product}
      shape: {op: ShapeOf-3, data: target}
      turned: {op: Reshape-1, data: sum, shape: shape, special_zero: false}
    outputs: [turned, product]
"""


@pytest.fixture(scope="module")
def graph(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> GoldenGraph:
    """The graph of a suite."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "a.yaml").write_text(SPEC)
    opconform("generate", folder / "a.yaml", "--out", folder / "suite", "--jobs", "1")
    suite = open_suite(folder / "suite")
    found = golden_graph(suite, suite.entries[0])
    assert found is not None
    return found


def some(graph: GoldenGraph, *names: str) -> list[Node]:
    """Nodes of a graph by name."""
    return [node for node in graph.nodes if node.name in names]


def test_what_other_nodes_compute_is_an_input(graph: GoldenGraph) -> None:
    """Its dimensions are as open as they were, and what other nodes take is an output."""
    draft = subgraph_draft(graph, some(graph, "sum", "product"))

    assert draft.graph is not None
    assert [*draft.tensors] == ["negative_0", "b_of_product"]
    assert draft.binding == {"negative_0": "parameter", "b_of_product": "constant"}
    assert draft.dynamic == {"negative_0": ("?", "?")}
    assert draft.graph.outputs == ("product_0", "sum_0")
    assert draft.title == f"Add-1 behind Multiply-1, 2 of the 5 nodes of {graph.case.id}"


def test_a_part_has_the_goldens_that_it_has_in_the_graph(graph: GoldenGraph) -> None:
    """In each feed, and if a node is left out between two others."""
    draft = subgraph_draft(graph, some(graph, "negative", "sum", "turned"))
    golden = golden_of(draft, seed=0)
    whole = [graph.suite.arrays(graph.suite.entries[0], expected_name(feed))["output_0"] for feed in (0, 1)]

    assert [*draft.tensors] == ["x", "product_0", "shape_0"]
    assert draft.binding["shape_0"] == "constant"
    assert [np.array_equal(feed["turned_0"].array, x) for feed, x in zip(golden.tensors, whole, strict=True)] == [
        True,
        True,
    ]


def node(op: str, *inputs: str) -> Node:
    """A node with one output, whose name is the beginning of its operation."""
    name = op.partition("-")[0].lower()
    return Node(name=name, op=op, inputs=inputs, outputs=(f"{name}_0",))


def test_nodes_in_words() -> None:
    """The last ones first: behind or beside others."""
    exp, abs_, add = node("Exp-1", "x"), node("Abs-1", "x"), node("Add-1", "exp_0", "abs_0")

    assert subgraph_text([exp]) == "Exp-1"
    assert subgraph_text([exp, abs_]) == "Exp-1 beside Abs-1"
    assert subgraph_text([exp, abs_, add]) == "Add-1 behind Exp-1 and Abs-1"
    assert subgraph_text([*[exp] * 12, add]) == "Add-1 and 12 nodes before it"


def test_connected_nodes_share_a_tensor() -> None:
    """A result or an input."""
    exp, abs_, relu = node("Exp-1", "x"), node("Abs-1", "x"), node("ReLU-1", "exp_0")

    assert is_connected([exp, abs_])
    assert is_connected([exp, relu])
    assert not is_connected([abs_, relu])
