"""Cases without a model in a dialect: counted per reason in `suite.json`, on the terminal and in JSON, and checked."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.suite.file_names import HEADER
from opconform.suite.manifest import header_text
from opconform.suite.reader import Suite, open_suite
from opconform.suite.storage.extract import write_extract
from opconform.suite.verification import problems_of
from tests.conftest import Run

SPEC = """\
op: VariadicSplit-1
groups:
  - id: expressible
    title: every dialect has it
    requirements: [lengths.remainder]
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [4, 2]
  - id: axis-at-run-time
    title: only one dialect has it
    requirements: [lengths.remainder]
    matrix: {size: [1, 2]}
    data: {shape: ["${{ 4 + size }}", 2]}
    axis: 0
    split_lengths: [4, "${{ size }}"]
    binding: {axis: parameter}
  - id: wrong-sum
    title: no slice has this violation
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [4, 3]
    expect: {reject: lengths.sum}
    twin: {split_lengths: [4, 2]}
"""
DIALECTS = [word for name in ("openvino", "onnx", "stablehlo") for word in ("--dialect", name)]
NO_AXIS = "ONNX's axis is an attribute, and cannot be supplied at run time"
FIXED = "setting inputs are constants in this dialect, and axis is supplied at run time"
NO_FAULT = "StableHLO's operations cannot have the violation, or its verifier rejects it"
LEFT_OUT = {"onnx": {NO_AXIS: 2}, "stablehlo": {FIXED: 2, NO_FAULT: 1}}


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec above in a file."""
    path = tmp_path_factory.mktemp("left-out") / "spec.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def suite(opconform: Run, spec: Path) -> Suite:
    """The suite of the spec above."""
    opconform("generate", spec, "--out", spec.parent / "suite", *DIALECTS)
    return open_suite(spec.parent / "suite")


def test_suite_json_counts_the_cases_without_a_model_per_dialect_and_reason(suite: Suite) -> None:
    """As often as the manifest gives the reason; a dialect with every model is absent."""
    counted = Counter((name, why) for entry in suite.entries for name, why in entry.left_out.items())

    assert suite.header.left_out == LEFT_OUT
    assert counted == {(name, why): count for name, whys in LEFT_OUT.items() for why, count in whys.items()}


def test_generate_prints_the_counts(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """Each reason on a line, the most frequent one first."""
    _, *lines = opconform("generate", spec, "--out", tmp_path / "suite", *DIALECTS).stdout.splitlines()

    assert lines == [
        "onnx: no model for 2 of 5 cases:",
        f"  2 cases: {NO_AXIS}",
        "stablehlo: no model for 3 of 5 cases:",
        f"  2 cases: {FIXED}",
        f"  1 case: {NO_FAULT}",
    ]


def test_generate_prints_the_most_frequent_reasons(opconform: Run, tmp_path: Path) -> None:
    """Eight for each dialect, and how many cases have others."""
    types = ["f32", "i4", "u1", "u2", "u3", "u4", "u6", "nf4", "f4e2m1", "f8e4m3", "f8e5m2"]
    group = SPEC.partition("  - id: axis-at-run-time")[0]
    spec = group.replace("shape: [6, 2]", "shape: [6, 2], element_type: '${{ each }}'")
    (tmp_path / "spec.yaml").write_text(f"{spec}    matrix: {{each: [{', '.join(types)}]}}\n")
    _, *lines = opconform(
        "generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite", *DIALECTS[:4]
    ).stdout.splitlines()

    assert lines == [
        "onnx: no model for 10 of 11 cases:",
        *(f"  1 case: ONNX's Split does not take {type_}" for type_ in sorted(types[1:])[:8]),
        "  2 cases: 2 other reasons, which --json and suite.json list",
    ]


def test_generate_counts_in_json(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """Also if a suite has every model."""
    made = opconform("generate", spec, "--out", tmp_path / "suite", *DIALECTS, "--json")
    plain = opconform("generate", spec, "--out", tmp_path / "plain", "--json")

    assert json.loads(made.stdout)["left_out"] == LEFT_OUT
    assert json.loads(plain.stdout)["left_out"] == {}


def test_an_extract_counts_its_own_cases(suite: Suite, tmp_path: Path) -> None:
    """Not those of the suite that it is taken from."""
    chosen = [(suite, entry) for entry in suite.entries if "/wrong-sum/" in entry.id and entry.expect != "accept"]
    write_extract(chosen, suite.header, tmp_path / "part")

    assert open_suite(tmp_path / "part").header.left_out == {"stablehlo": {NO_FAULT: 1}}


def test_verify_finds_wrong_counts(opconform: Run, spec: Path, tmp_path: Path) -> None:
    """Even if the checksum of `suite.json` is renewed."""
    opconform("generate", spec, "--out", tmp_path / "suite", *DIALECTS)
    header = replace(open_suite(tmp_path / "suite").header, left_out={"onnx": {NO_AXIS: 1}})
    (tmp_path / "suite" / HEADER).write_text(header_text(header))

    assert [*problems_of(tmp_path / "suite")] == [
        f"{tmp_path / 'suite'}/suite.json: the counts of cases without a model are not those of manifest.jsonl."
    ]
