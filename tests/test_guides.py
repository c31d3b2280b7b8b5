"""The guides, each taken step by step as it stands."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.result_files import cases_in
from tests.sampling import WHOLE

CALL = "import sys; from opconform_runners.cli.main import main; sys.argv[0] = 'opconform'; main()"
#: The most lines that a reader writes: for a backend, and for an operation with its requirements and cases.
MOST_LINES = {"new-backend.md": 90, "new-operation.md": 160}

#: Cases that a backend gets wrong if it takes inputs by name, or trusts the types that it gets.
CONCAT_SPEC = """\
op: Concat-1
groups:
  - id: contexts
    title: the node gets each tensor once or twice
    requirements: [outputs.order]
    matrix: {context: [bare, repeated]}
    inputs: [{shape: [2, 3], element_type: f32}, {shape: [1, 3], element_type: f32}]
    axis: 0
    context: ${{ context }}
  - id: promoted
    title: inputs of two types are rejected
    inputs: [{shape: [2], element_type: f32}, {shape: [2], element_type: i32}]
    axis: 0
    expect: {reject: inputs.element-type}
    twin: {inputs: [{shape: [2], element_type: f32}, {shape: [2], element_type: f32}]}
"""


def files(page: str) -> list[tuple[str, str]]:
    """The files that a page has the reader write or extend, with their paths, in order."""
    return re.findall(r"`([^`\n]+)`:\n\n```\w+\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def commands(page: str) -> list[str]:
    """The commands that a page has the reader run."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def run(command: str, folder: Path, code: int | None) -> str:
    """Run one of them in a folder, with the packages in it, or those of this checkout, instead of the installed ones."""
    program, *words = command.split()
    assert program == "opconform"
    roots = os.pathsep.join(str(root / name) for root in (folder, ROOT) for name in ("generator", "runners"))
    done = subprocess.run(
        [sys.executable, "-c", CALL, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": roots},
        capture_output=True,
        text=True,
        check=False,
    )
    assert code in (None, done.returncode), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", MOST_LINES)
def test_a_guide_takes_little_code(page: str) -> None:
    """A reader writes no more lines than are stated here."""
    lines = [line for _, code in files(page) for line in code.splitlines() if line.strip()]

    assert 0 < len(lines) < MOST_LINES[page]


def shown(page: str) -> list[str]:
    """The lines of output that a page shows, with single spaces."""
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    return [" ".join(line.split()) for block in blocks for line in block.splitlines()]


@pytest.mark.ci_only
def test_an_operation_is_added_as_the_guide_says(tmp_path: Path) -> None:
    """In a copy of the checkout, with the verdicts that the page shows."""
    for item in ("generator", "runners", "cases", "templates", "tests", "docs"):
        shutil.copytree(ROOT / item, tmp_path / item, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for name, code in files("new-operation.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.read_text()}\n\n{code}" if path.exists() else code)
    listing, numpy, adequacy, openvino, atan, house = commands("new-operation.md")

    made = [line for line in run(listing, tmp_path, 0).splitlines() if "/wrong/" not in line]
    assert f"they make {len(made)} cases" in (ROOT / "docs" / "new-operation.md").read_text()
    assert "CONFORMANT, 197 of 197 cases supported" in run(atan, tmp_path, 0)
    lacking = run(house, tmp_path, 1)
    assert f"here {len(lacking.splitlines())} " in (ROOT / "docs" / "new-operation.md").read_text()
    said = f"{run(numpy, tmp_path, 0)}{run(adequacy, tmp_path, 0)}{run(openvino, tmp_path, 1)}{lacking}"
    said = " ".join(said.split())
    for line in shown("new-operation.md"):
        assert line in said


@pytest.mark.ci_only
def test_a_backend_is_added_as_the_guide_says(tmp_path: Path) -> None:
    """The harness keeps to the protocol; the runtime behind it does not keep to the specification."""
    for name, code in files("new-backend.md"):
        (tmp_path / name).write_text(code)
    checking, certification, running, *_ = commands("new-backend.md")
    some = "" if WHOLE else " Split-1 VariadicSplit-1"  # the whole core takes minutes

    assert "✗" not in run(checking, tmp_path, 0)
    assert "NOT CONFORMANT" in run(f"{certification}{some}", tmp_path, 1)
    assert "rejected-valid, 1 case" in run(running, tmp_path, 1)


def test_the_guides_backend_without_a_dialect_executes_the_operands_of_the_node(opconform: Run, tmp_path: Path) -> None:
    """Also where the node gets each tensor twice; it accepts what numpy promotes."""
    [code] = [code for name, code in files("new-backend.md") if name == "my_concat.py"]
    (tmp_path / "my_concat.py").write_text(code)
    (tmp_path / "spec.yaml").write_text(CONCAT_SPEC)
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    opconform("run", "suite", "-b", "my_concat.py:MyConcat", "--out", "out", cwd=tmp_path, code=1)
    cases = cases_in(tmp_path / "out")

    assert sorted((case["id"].split("/")[1], case["verdict"], case.get("reason", "")) for case in cases) == [
        ("contexts", "pass", ""),
        ("contexts", "pass", ""),
        ("promoted", "fail", "accepted-invalid"),
        ("promoted", "pass", ""),
    ]


@pytest.mark.ci_only
@pytest.mark.campaign
def test_certificates_are_made_and_checked_as_the_guide_says(tmp_path: Path) -> None:
    """Of a run of one's own, and of one elsewhere on a blind suite."""
    said = [run(command, tmp_path, 0) for command in commands("certificates.md")]
    with zipfile.ZipFile(tmp_path / "blind.zip") as archive:
        blind = json.loads(archive.read("suite.json"))

    assert len(said) == 8
    assert said[2].startswith("CONFORMANT (PASSED), ")
    assert said[7].startswith("CONFORMANT (PASSED), ")
    assert "judged from outputs recorded elsewhere" in said[7]
    assert all("; every verdict and conclusion, derived again from the log" in x for x in (said[2], said[7]))
    assert said[7].rstrip().endswith("; every verdict, judged again from the outputs.")
    assert blind["blind"] is True
