"""Specs that declare a graph in place of an operation: names, goldens, declarations, and the nodes side by side."""

import json
from pathlib import Path

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import Golden, golden_of, neighbour_check_of
from opconform.model.graph import declared
from opconform.specs.attribution import untested
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.suite.case import GRAPH
from tests.conftest import Run

HEAD = "op: Graph-1\ngroups:\n  - id: a\n    title: t\n    requirements: [values.chain]\n"
RESIDUAL = """\
    inputs:
      x: {shape: [1, 2, 2], fill: ramp}
      factor: {values: [[2], [3]]}
    nodes:
      product: {op: Multiply-1, a: x, b: factor}
      sum: {op: Add-1, a: product, b: x}
      joined: {op: Concat-1, inputs: [x, sum, [[[0, 0.5]]]], axis: 1}
    outputs: [joined, product]
"""
#: x is [[1, 2], [3, 4]], and the product with the factors [[2, 4], [9, 12]].
JOINED, PRODUCT = [[[1, 2], [3, 4], [3, 6], [12, 16], [0, 0.5]]], [[[2, 4], [9, 12]]]


def drafts(folder: Path, body: str, requirement: str = "values.chain") -> list[Draft]:
    """The cases of a group of graphs."""
    (folder / "spec.yaml").write_text(HEAD.replace("values.chain", requirement) + body)
    [spec] = load_specs([folder / "spec.yaml"])
    return [*expand(spec.groups[0])]


def golden(folder: Path, body: str) -> Golden:
    """The golden of the only case of a group."""
    [draft] = drafts(folder, body)
    return golden_of(draft, 0)


def test_a_graph_is_evaluated_node_by_node(tmp_path: Path) -> None:
    """Inputs, constants and results are named, and a constant may have any fill and type."""
    whole = golden(tmp_path, RESIDUAL)

    assert whole.draft.id.startswith(f"{GRAPH}/a/")
    assert whole.draft.binding == {"x": "parameter", "factor": "parameter", "inputs_2_of_joined": "constant"}
    assert [node.inputs for node in whole.graph.nodes] == [
        ("x", "factor"),
        ("product_0", "x"),
        ("x", "sum_0", "inputs_2_of_joined"),
    ]
    assert [output.array.tolist() for output in whole.outputs[0]] == [JOINED, PRODUCT]


def test_a_setting_of_a_node_is_a_setting_of_the_model(tmp_path: Path) -> None:
    """It has i64 by default, is a constant unless the spec says otherwise, and its values are written out."""
    body = """\
    matrix: {binding: [constant, parameter]}
    inputs: {x: {shape: [2, 3]}, order: [1, 0]}
    binding: ${{ binding }}
    nodes:
      turned: {op: Transpose-1, arg: x, input_order: order}
      back: {op: Transpose-1, arg: turned, input_order: order}
    outputs: [back]
"""
    constant, parameter = drafts(tmp_path, body)

    assert (constant.binding["order"], parameter.binding["order"]) == ("constant", "parameter")
    assert constant.tensors["order"].element_type == "i64"
    assert golden_of(constant, 0).outputs[0][0].array.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_the_dimensions_of_intermediate_results_are_declared_as_far_as_they_are_known(tmp_path: Path) -> None:
    """A second feed changes the inputs that it names, and keeps the element types of the first one."""
    body = """\
    inputs: {x: {shape: [2, 3], element_type: i32}}
    dynamic: {x: ["?", 3]}
    feed: {inputs: {x: {shape: [4, 3]}}}
    nodes:
      sum: {op: Add-1, a: x, b: {values: [1, 2, 3], element_type: i32}}
      shape: {op: ShapeOf-3, data: sum, output_type: i64}
    outputs: [shape, sum]
"""
    whole = golden(tmp_path, body)
    types = declared(whole.draft, whole.graph)

    assert types["x"].dimensions == (None, 3)
    assert types["sum_0"].dimensions == (None, None)
    assert [feed[0].array.tolist() for feed in whole.outputs] == [[2, 3], [4, 3]]
    assert whole.outputs[1][1].element_type == "i32"


def test_an_invalid_graph_violates_a_requirement_at_one_node(tmp_path: Path) -> None:
    """The twin overrides the inputs and the keys of nodes that it names."""
    body = """\
    inputs: {x: {shape: [2, 3]}}
    nodes:
      abs: {op: Abs-1, data: x}
      turned: {op: Transpose-1, arg: abs, input_order: [0, 0]}
    outputs: [turned]
    expect: {reject: nodes.valid}
    twin: {nodes: {turned: {input_order: [1, 0]}}}
"""
    invalid, twin = drafts(tmp_path, body, "nodes.valid")

    assert (invalid.rejected_for, invalid.twin, twin.rejected_for) == ("nodes.valid", twin.id, None)
    assert invalid.graph is not None
    assert [node.name for node in invalid.graph.nodes if node.under_test] == ["turned"]


def test_the_nodes_are_checked_side_by_side_with_their_golden_inputs(tmp_path: Path) -> None:
    """No node takes the result of another, nor a tensor that another takes."""
    whole = golden(tmp_path, RESIDUAL)
    alone = neighbour_check_of(whole)

    assert alone is not None
    names = [name for node in alone.graph.nodes for name in node.inputs]
    assert len({*names}) == len(names) == 7
    assert not {*names} & {name for node in alone.graph.nodes for name in node.outputs}
    assert alone.inputs[0]["sum__a"].array.tolist() == PRODUCT
    assert alone.draft.binding["joined__inputs_2"] == "constant"
    assert [output.array.tolist() for output in alone.outputs[0]] == [PRODUCT, [[[3, 6], [12, 16]]], JOINED]


def test_a_computed_setting_is_a_constant_beside_the_other_nodes(tmp_path: Path) -> None:
    """Backends take few settings at run time; a failure of that kind would not be one of the node."""
    body = """\
    inputs: {x: {shape: [2, 3]}}
    nodes:
      shape: {op: ShapeOf-3, data: x, output_type: i64}
      flat: {op: Reshape-1, data: x, shape: [-1], special_zero: false}
      back: {op: Reshape-1, data: flat, shape: shape, special_zero: false}
    outputs: [back]
"""
    alone = neighbour_check_of(golden(tmp_path, body))

    assert alone is not None
    assert (alone.draft.binding["back__shape"], alone.draft.binding["back__data"]) == ("constant", "parameter")


def test_a_graph_of_one_node_has_nothing_beside_it(tmp_path: Path) -> None:
    """Its case is that of the node."""
    body = "    inputs: {x: {shape: [2]}}\n    nodes: {abs: {op: Abs-1, data: x}}\n    outputs: [abs]\n"

    assert neighbour_check_of(golden(tmp_path, body)) is None


def test_a_graph_is_executed_and_judged(opconform: Run, tmp_path: Path) -> None:
    """The second implementation executes node by node."""
    (tmp_path / "spec.yaml").write_text(HEAD + RESIDUAL)
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    opconform("run", "suite", "numpy", "--out", "out", cwd=tmp_path)
    lines = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    [result] = [line for line in lines if "verdict" in line]

    assert result["verdict"] == "pass"


def test_each_requirement_on_graphs_has_a_shipped_case() -> None:
    """Without one, the certification of a backend would be incomplete."""
    assert [*untested(load_specs([cases_of(GRAPH)]))] == []
