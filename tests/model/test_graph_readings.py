"""What a graph gives if one of its nodes is read otherwise, or if it keeps more digits between its nodes."""

from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.model.golden import Golden, golden_of, neighbour_check_of
from opconform.model.graph_readings import graph_readings
from opconform.model.readings import other_readings
from opconform.operations import OPERATIONS
from opconform.specs.loader import load_specs
from opconform.specs.requirements import requirements_of
from opconform.tensors.tensor import Tensor

HEAD = "op: Graph-1\ngroups:\n  - id: a\n    title: t\n    requirements: [values.chain]\n"
CLAMPED = """\
    inputs: {x: {values: [200, 1]}}
    nodes:
      narrow: {op: Convert-1, data: x, destination_type: i8}
      sum: {op: Add-1, a: narrow, b: {element_type: i8, values: 1}}
    outputs: [sum]
"""
TWO_SUMS = """\
    inputs: {x: {element_type: i8, values: [100, 1]}}
    nodes:
      first: {op: Add-1, a: x, b: {element_type: i8, values: 100}}
      second: {op: Add-1, a: first, b: {element_type: i8, values: 100}}
    outputs: [second]
"""
#: 65504 is the largest f16, and two of it are an infinity.
OVERFLOWS = """\
    inputs: {x: {element_type: f16, values: [65504, 1]}}
    nodes:
      sum: {op: Add-1, a: x, b: x}
      result: {op: Convert-1, data: sum, destination_type: f32}
    outputs: [result]
"""


def golden(folder: Path, body: str) -> Golden:
    """The golden of the only case of a group of graphs."""
    (folder / "spec.yaml").write_text(HEAD + body)
    [spec] = load_specs([folder / "spec.yaml"])
    [draft] = expand(spec.groups[0])
    return golden_of(draft, 0)


def read(output: Tensor) -> dict[str, list[list[float]]]:
    """The elements of an output by each way of reading an interpretation."""
    found: dict[str, list[list[float]]] = {}
    for name, tensor in output.otherwise:
        found.setdefault(name, []).append(tensor.array.tolist())
    return found


def of_first(graph: Golden) -> dict[str, list[list[float]]]:
    """The elements of the first output by each way of reading an interpretation."""
    return read(graph.outputs[0][0])


def by_any(graph: Golden) -> list[list[float]]:
    """The elements of the first output by all readings."""
    return [elements for ways in of_first(graph).values() for elements in ways]


def test_an_output_has_the_elements_that_follow_from_another_reading_of_a_node(tmp_path: Path) -> None:
    """200 becomes 127, or by another reading -56; the sum of 127 and 1 wraps, or by another reading stays."""
    found = of_first(golden(tmp_path, CLAMPED))

    assert [-55, 2] in found["Convert-1:floats.clamped@narrow"]
    assert found["Add-1:values.wrap@sum"] == [[127, 2]]


def test_nodes_of_one_operation_are_read_otherwise_together_and_alone(tmp_path: Path) -> None:
    """Three times 100 wraps once, or is clamped to 127 at the first sum, and then at the second one, or not."""
    whole = golden(tmp_path, TWO_SUMS)

    assert whole.outputs[0][0].array.tolist() == [44, -55]
    assert of_first(whole) == {
        "Add-1:values.wrap@first": [[-29, -55]],
        "Add-1:values.wrap@second": [[44, 127]],
        "Add-1:values.wrap@first+second": [[127, 127]],
    }


def test_results_between_operations_may_keep_more_digits(tmp_path: Path) -> None:
    """The sum is an infinity in f16, and 131008 in a backend that computes in f32."""
    assert of_first(golden(tmp_path, OVERFLOWS))["values.between"] == [[131008, 2]]


def test_a_conversion_that_loses_digits_may_not_be_left_out(tmp_path: Path) -> None:
    """Its page says what it gives: f16 has no 2049."""
    body = """\
    inputs: {x: {values: [2049, 1]}}
    nodes:
      narrow: {op: Convert-1, data: x, destination_type: f16}
      back: {op: Convert-1, data: narrow, destination_type: f32}
    outputs: [back]
"""
    assert [2049, 1] not in by_any(golden(tmp_path, body))


def test_a_known_mistake_is_no_reading(tmp_path: Path) -> None:
    """The page of FloorMod says which sign the result has."""
    body = """\
    inputs: {x: {values: [-7, 7]}}
    nodes:
      rest: {op: FloorMod-1, a: x, b: {values: 3}}
      double: {op: Add-1, a: rest, b: rest}
    outputs: [double]
"""
    assert [-2, 2] not in by_any(golden(tmp_path, body))


def test_nodes_side_by_side_have_their_own_readings(tmp_path: Path) -> None:
    """Each output has those of its node, so that a node that deviates alone is judged by its page."""
    beside = neighbour_check_of(golden(tmp_path, CLAMPED))

    assert beside is not None
    narrow, total = map(read, beside.outputs[0])
    assert [-56, 1] in narrow["Convert-1:floats.clamped@narrow"]
    assert total == {"Add-1:values.wrap@sum": [[127, 2]]}


def test_a_reading_that_another_node_then_rejects_excuses_the_rejection(tmp_path: Path) -> None:
    """By another reading, no element lies before the first one, so that there is nothing to reshape."""
    body = """\
    inputs: {x: {shape: [4]}}
    nodes:
      cut: {op: StridedSlice-1, data: x, begin: [2], end: [2], stride: [1], begin_mask: [0], end_mask: [0]}
      empty: {op: Reshape-1, data: cut, shape: [0, 3], special_zero: false}
    outputs: [empty]
"""
    assert other_readings(golden(tmp_path, body)).reject == ("StridedSlice-1:bounds.equal@cut",)


def test_a_reading_of_many_nodes_does_not_name_them(tmp_path: Path) -> None:
    """Five sums are too many for a sentence."""
    sums = "".join(f"      s{n}: {{op: Add-1, a: {f's{n - 1}' if n else 'x'}, b: x}}\n" for n in range(5))
    body = f"    inputs: {{x: {{element_type: i8, values: [120]}}}}\n    nodes:\n{sums}    outputs: [s4]\n"

    graph = golden(tmp_path, body)

    assert "Add-1:values.wrap@*" in [x.name for x in graph_readings(graph.graph, graph.tensors)]


@pytest.mark.parametrize("op", [name for name, operation in OPERATIONS.items() if operation.readings])
def test_a_reading_of_a_normative_requirement_is_a_mistake(op: str) -> None:
    """Only a reading of an interpretation excuses a graph."""
    levels = requirements_of(op).by_id
    mistakes = {name for name, reading in OPERATIONS[op].readings.items() if reading.misreads}

    assert mistakes == {name for name in OPERATIONS[op].readings if levels[name].level == "normative"}
