"""Several backends, side by side."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import MINIATURES, Run


@pytest.fixture
def false(tmp_path: Path) -> Path:
    """An interpreter that ends with 1."""
    python = tmp_path / "python"
    python.symlink_to("/bin/false")
    return python


def test_a_missing_backend_that_is_named_stops_the_command(
    opconform: Run, small_spec: Path, tmp_path: Path, false: Path
) -> None:
    """The sentence says why it cannot be started."""
    words = ("--out", tmp_path / "out", "--backend", "onnxruntime", "--python", f"onnxruntime={false}")
    done = opconform("certify", small_spec, *words, code=3)

    assert done.stderr == "error: The harness onnxruntime cannot be started: it ended with code 1.\n"


def test_what_is_mapped_is_marked(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """A requirement that the harness fulfils says nothing about the backend."""
    backend = f"{MINIATURES}:MapsTheRemainder"
    opconform("certify", "numpy", small_spec, "--backend", backend, "--out", tmp_path)

    page = (tmp_path / "matrix.md").read_text()
    assert "| VariadicSplit-1 | lengths.remainder |  | ✓ | ~ |" in page
    assert "| VariadicSplit-1 | lengths.single-remainder |  | ✓ | ✓ |" in page


def test_an_operation_has_a_cell_per_backend(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """Its cases by verdict, before the requirements, which are folded."""
    backend = f"{MINIATURES}:LosesNegativeZero"
    opconform("certify", "numpy", small_spec, "--backend", backend, "--out", tmp_path, code=1)
    page = (tmp_path / "matrix.md").read_text()

    assert (
        "| operation | numpy | numpy (2) |\n|---|---|---|\n| VariadicSplit-1 | ✅ 6 pass | ❌ 2 pass, 4 fail |\n"
        in page
    )
    assert page.index("| VariadicSplit-1 | ✅") < page.index("<details>") < page.index("| VariadicSplit-1 | data.bits")


def test_an_interrupted_matrix_continues_after_its_complete_runs(
    opconform: Run, small_spec: Path, tmp_path: Path
) -> None:
    """Ctrl-C ends the second backend before the table is written; a repeated command runs both again."""

    def certify() -> dict[str, int]:
        opconform("certify", small_spec, "numpy", "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path, code=None)
        return {path.parent.name: path.stat().st_mtime_ns for path in sorted(tmp_path.glob("*/outcomes.jsonl"))}

    first = certify()
    again = certify()
    (tmp_path / "matrix.json").unlink()
    [interrupted] = {*again} - {"numpy"}
    (tmp_path / interrupted / "results.jsonl").unlink()
    continued = certify()

    assert [name for name in first if first[name] != again[name]] == [*first]
    assert [name for name in again if again[name] != continued[name]] == [interrupted]
    assert (tmp_path / "matrix.json").exists()


def test_two_harnesses_of_one_name_have_a_column_each(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """A harness is named as it calls itself."""
    harness = f"{sys.executable} -m opconform_runners.harness.server numpy"
    words = ["--backend", "numpy", "--harness", harness, "--harness", f"{harness} ", "--out", tmp_path]
    opconform("certify", small_spec, *words)

    document = json.loads((tmp_path / "matrix.json").read_text())
    assert [backend["name"] for backend in document["backends"]] == ["numpy", "numpy (2)", "numpy (3)"]


def test_a_backend_that_reads_no_dialect_of_the_suite_is_not_run(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """The others are, and the command does not claim that all are conformant."""
    (tmp_path / "misreturned.py").write_text(
        "from dataclasses import replace\nfrom opconform_runners.backends.numpy.backend import Numpy\n\n\n"
        "class Reader(Numpy):\n    def describe(self):\n"
        "        return replace(super().describe(), name='reader', dialects=('onnx',))\n"
    )
    run = ("run", small_suite, "--out", "out", "misreturned.py:Reader")
    done = opconform(*run, "numpy", cwd=tmp_path, code=1)

    reason = f"{small_suite} has models for openvino, but reader reads onnx. Generate it with --dialect onnx."
    assert " 1 numpy" in done.stdout
    assert f" - reader: not run: {reason}\n" in done.stdout
    assert opconform(*run, cwd=tmp_path, code=2).stderr == f"error: {reason}\n"
