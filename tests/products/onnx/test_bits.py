"""The backends that read ONNX: every bit of their element types comes through."""

from pathlib import Path

import pytest

from tests.conftest import Run, whole


@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference"])
def test_every_bit_of_a_declared_type_comes_through(opconform: Run, tmp_path: Path, name: str) -> None:
    """In both contexts in which data reaches a backend, NaN payloads included."""
    (tmp_path / "spec.yaml").write_text(
        whole("""\
op: VariadicSplit-1
groups:
  - id: types
    title: every bit
    requirements: [data.bits, data.nan-payload]
    matrix: {context: [bare, folded], element_type: [string, bf16, boolean, f16, f64, i64, u64]}
    data: {shape: [3, 40], element_type: "${{ element_type }}", fill: special}
    axis: 1
    split_lengths: [7, -1]
    context: ${{ context }}
""")
    )
    done = opconform("certify", tmp_path / "spec.yaml", "--backend", name, "--out", tmp_path / "out")

    assert "CONFORMANT, 14 of 14 cases supported: 14 pass" in done.stdout
