"""Scripts that show a case on ONNX Runtime."""

import sys
from pathlib import Path

import pytest

from opconform.suite.reader import open_suite
from opconform_runners.tools.repro.script import script_of
from tests.conftest import Run
from tests.products.scripts import executed


@pytest.mark.parametrize(("given", "returned"), [("bf16", "f32"), ("f32", "bf16")])
def test_a_script_compares_outputs_in_their_own_type(opconform: Run, tmp_path: Path, given: str, returned: str) -> None:
    """Which a conversion does not have in common with its input; numpy lacks bf16."""
    (tmp_path / "spec.yaml").write_text(
        "op: Convert-1\ngroups:\n  - {id: of, title: t, requirements: [values.exact], "
        f"data: {{shape: [3], element_type: {given}}}, destination_type: {returned}}}\n"
    )
    opconform("generate", "spec.yaml", "--dialect", "onnx", "--out", "suite", cwd=tmp_path)
    suite = open_suite(tmp_path / "suite")
    [entry] = suite.entries
    (tmp_path / "script.py").write_text(script_of(suite, entry, "onnxruntime", (), None))
    done = executed(tmp_path / "script.py", sys.executable)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "right"), done.stdout + done.stderr
