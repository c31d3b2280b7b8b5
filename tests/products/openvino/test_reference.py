"""OpenVINO's own evaluation: what it cannot evaluate is unsupported, and not a failure."""

from pathlib import Path

from tests.conftest import Run
from tests.result_files import cases_in

SPEC = """\
op: Add-1
groups:
  - id: types
    title: a type that is evaluated, and one that is not
    requirements: [values.exact]
    matrix: {element_type: [f32, f64]}
    a: {shape: [3], element_type: "${{ element_type }}", fill: exact}
    b: {shape: [3], element_type: "${{ element_type }}", fill: exact}
  - id: behind
    title: behind an operation that is evaluated for no type
    requirements: [values.exact]
    a: {shape: [2, 3, 4, 5], fill: exact}
    b: {shape: [3, 1, 5], fill: exact}
    context: convolved
  - id: booleans
    title: a type that the page does not allow
    requirements: [a.element-type]
    a: {shape: [3], element_type: boolean, fill: bits}
    b: {shape: [3], element_type: boolean, fill: bits}
    expect: {reject: a.element-type, also: [b.element-type]}
    twin: {a: {element_type: f32, fill: exact}, b: {element_type: f32, fill: exact}}
"""

CONVERSION = """\
op: ConvertLike-1
groups:
  - id: one
    title: a conversion
    requirements: [values.exact]
    data: {shape: [3], element_type: i32, fill: exact}
    like: {shape: [2], element_type: f32, fill: exact}
"""


def test_what_is_not_evaluated_is_unsupported(opconform: Run, tmp_path: Path) -> None:
    """An element type, and another operation of the model; a wrong type is rejected."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("certify", tmp_path / "spec.yaml", "--backend", "openvino-reference", "--out", tmp_path, code=None)
    cases = cases_in(tmp_path)
    of_group = {case["id"].split("/")[1]: case["sentence"] for case in cases if case["verdict"] == "unsupported"}

    assert of_group == {
        "types": "Not Implemented: OpenVINO does not evaluate Add-1 of this element type",
        "behind": "Not Implemented: OpenVINO does not evaluate Convolution-1",
    }
    assert [case["verdict"] for case in cases if case["expect"] != "accept"] == ["pass"]


def test_a_conversion_to_a_type_of_another_tensor_is_not_evaluated(opconform: Run, tmp_path: Path) -> None:
    """OpenVINO evaluates Convert-1 alone."""
    (tmp_path / "spec.yaml").write_text(CONVERSION)
    opconform("certify", tmp_path / "spec.yaml", "--backend", "openvino-reference", "--out", tmp_path, code=None)

    assert [(case["verdict"], case["sentence"]) for case in cases_in(tmp_path)] == [
        ("unsupported", "Not Implemented: OpenVINO does not evaluate ConvertLike-1")
    ]
