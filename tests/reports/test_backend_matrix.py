"""The backends that the project's own test environment holds, side by side: what each of them breaks, and no more."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.backends.known_findings import differences, sampled_report, violations
from tests.conftest import MINIATURES, Run, whole
from tests.sampling import SAMPLE, WHOLE

BACKENDS = ("numpy", "onnx-reference", "onnxruntime", "openvino-onnx", "openvino-reference")


@pytest.fixture(scope="module")
def matrix(opconform: Run, core_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a matrix of a sample of the core on all of them; how it is written takes few cases."""
    out = tmp_path_factory.mktemp("matrix")
    words = [word for name in BACKENDS for word in ("--backend", name)]
    opconform("run", core_suite, "--select", SAMPLE if WHOLE else "*/*/*00", "--out", out, *words, code=1)
    return out


@pytest.mark.ci_only
@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path, name: str) -> None:
    """No other normative requirement, with no error of the harness."""
    report = sampled_report(opconform, core_suite, name, tmp_path)

    assert differences(report, name) == {}
    assert report["summary"]["error"] == 0
    assert report["conformant"] is not any(violations(report))


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


@pytest.mark.ci_only
def test_the_matrix_is_the_same_in_every_form(matrix: Path) -> None:
    """What the page shows is what the JSON says."""
    document = json.loads((matrix / "matrix.json").read_text())
    page = (matrix / "matrix.md").read_text()

    html = (matrix / "report.html").read_text()

    assert [backend["name"] for backend in document["backends"]] == [*BACKENDS]
    assert re.findall(r"<h1>([a-z-]+) ", html) == [*BACKENDS]
    for row in document["requirements"]:
        marks = [mark(row["backends"][name]) for name in BACKENDS]
        level = "" if row["level"] == "normative" else "interpretation"
        assert f"| {row['op']} | {row['id']} | {level} | {' | '.join(marks)} |\n" in page


def mark(cell: dict[str, Any]) -> str:
    """How a cell is written."""
    sign = {"kept": "✓", "broken": "✗", "mapped": "~", "open": "·", "error": "!"}[cell["status"]]
    return sign + (f" {cell['fail']}" if cell["fail"] else "")


@pytest.fixture
def false(tmp_path: Path) -> Path:
    """An interpreter that ends with 1."""
    python = tmp_path / "python"
    python.symlink_to("/bin/false")
    return python


@pytest.mark.ci_only
def test_a_missing_backend_that_only_all_names_is_listed(
    opconform: Run, small_spec: Path, tmp_path: Path, false: Path
) -> None:
    """With `all`, the matrix gives the reason for a missing column."""
    shown = opconform(
        *("certify", small_spec, "all", "--out", tmp_path / "out", "--python", f"onnxruntime={false}"), code=None
    )

    assert " - onnxruntime: not run: The harness onnxruntime cannot be started: it ended with code 1." in shown.stdout


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
