"""Graphs under test on the real products, each of which has tables of its own for nodes."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.generation.test_graphs import HEAD, RESIDUAL

OTHERS = ("openvino-reference", "onnxruntime", "torch", "jax", "tensorflow", "iree", "tvm")

#: Two nodes that fail between two others.
REPEATED = """\
op: Graph-1
groups:
  - id: sum-that-repeats-a-convolution
    title: a sum that repeats the result of a convolution, between other operations
    requirements: [values.chain]
    inputs:
      x: {shape: [1, 2, 4, 4], fill: small}
      b: {shape: [3, 1, 1, 1], fill: small}
    dynamic: all
    nodes:
      negative: {op: Negative-1, data: x}
      convolution:
        op: Convolution-1
        data: negative
        filters: {shape: [2, 2, 1, 1], fill: exact}
        strides: [1, 1]
        pads_begin: [0, 0]
        pads_end: [0, 0]
        dilations: [1, 1]
      sum: {op: Add-1, a: convolution, b: b}
      turned: {op: Transpose-1, arg: sum, input_order: [3, 2, 1, 0]}
    outputs: [turned]
"""


@pytest.mark.parametrize("backend", ["openvino", *(pytest.param(name, marks=pytest.mark.ci_only) for name in OTHERS)])
def test_products_execute_graphs(opconform: Run, tmp_path: Path, backend: str) -> None:
    """A residual sum, and a concatenation of it with its input and a constant of fractions."""
    (tmp_path / "spec.yaml").write_text(HEAD + RESIDUAL)
    dialects = [option for name in ("openvino", "onnx", "stablehlo") for option in ("--dialect", name)]
    opconform("generate", "spec.yaml", *dialects, "--out", "suite", cwd=tmp_path)
    opconform("run", "suite", backend, "--out", "out", cwd=tmp_path)
    lines = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    [result] = [line for line in lines if "verdict" in line]

    assert result["verdict"] == "pass", result


def test_an_issue_has_the_smallest_subgraph_that_fails(opconform: Run, tmp_path: Path) -> None:
    """Two of four nodes: a sum that repeats the result of a convolution with open dimensions."""
    (tmp_path / "spec.yaml").write_text(REPEATED)
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    case = json.loads((tmp_path / "suite" / "manifest.jsonl").read_text())["id"]
    command = ("repro", case, "openvino", "--suite", "suite")
    done = opconform(*command, "--as", "issue", "--out", "issue.md", cwd=tmp_path)
    issue = (tmp_path / "issue.md").read_text()

    assert "the graph was cut to Add-1 behind Convolution-1 (2 of 4 nodes); --whole keeps all of it" in done.stderr
    assert f"(Add-1 behind Convolution-1, 2 of the 4 nodes of {case})" in issue.splitlines()[0].replace("  ", " ")
    assert f"\n# The case {case} of opconform.\n" in issue
    assert "transpose" not in issue.lower()
    assert "\nexit code: 1\n" in issue
    assert "of the 4 nodes" not in opconform(*command, "--whole", cwd=tmp_path).stdout
