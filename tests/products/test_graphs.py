"""Graphs under test on the real products, each of which has tables of its own for nodes."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.generation.test_graphs import HEAD, RESIDUAL

OTHERS = ("openvino-reference", "onnxruntime", "torch", "jax", "tensorflow", "iree", "tvm")


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
