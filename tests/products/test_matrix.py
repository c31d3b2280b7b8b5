"""The products that the test environment holds, side by side: what each of them breaks, and no more."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.backends.known_findings import differences, sampled_report, violations
from tests.conftest import Run
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
