"""Scripts that show a case without opconform: each finding's script shows it, and a mended backend ends it with 0."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run, missing

#: The page of findings of each backend that there are scripts for, and the packages that its scripts need.
PAGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "openvino": ("openvino-2026.4.md", ("openvino",)),
    "openvino-onnx": ("openvino-onnx-2026.4.md", ("openvino", "onnx")),
    "onnxruntime": ("onnxruntime-1.31.md", ("onnxruntime", "onnx")),
    "torch": ("torch-2.13.0.md", ("torch",)),
}
CASE = re.compile(r"`(\w+-1/[a-z0-9-]+/[0-9a-f]{10})`")
#: What fails only where the backend has one core, as its page says.
ON_ONE_CORE = frozenset({"Split-1/axis-beside-the-range/8ad6c9c8f3"})
#: What a maintainer is ready to read.
MOST_LINES = 90


def cases_of(page: str) -> list[str]:
    """The cases in the table of a page of findings."""
    rows = [
        line for line in (ROOT / "docs" / "findings" / page).read_text().splitlines() if re.match(r"\| \d+ \|", line)
    ]
    return [case for row in rows for case in CASE.findall(row)]


STRANGER = r"""
op: Split-1
groups:
  - id: stranger
    title: "a\nexit(7)\r\"\"\"\u2028exit(7)"
    data: {shape: [4, 2]}
    axis: 0
    num_splits: "\"\"\"\nexit(7)\\"
    expect: {reject: num_splits.type}
    twin: {num_splits: 2}
"""

FINDINGS = [(backend, case) for backend, (page, _) in PAGES.items() for case in cases_of(page)]


def interpreter(backend: str) -> str:
    """The interpreter that has a backend's packages."""
    if all(find_spec(each) for each in PAGES[backend][1]):
        return sys.executable
    return os.environ.get(f"OPCONFORM_PYTHON_{backend.upper()}") or missing(f"{backend} is not installed")


def executed(script: Path, python: str) -> "subprocess.CompletedProcess[str]":
    """A script, executed where opconform cannot help it."""
    return subprocess.run([python, str(script)], cwd=script.parent, capture_output=True, text=True, check=False)


@contextlib.contextmanager
def cores(number: int) -> Iterator[None]:
    """Leaves what is started meanwhile so many cores, where there are as many."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_of_them)[:number])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the findings alone."""
    out = tmp_path_factory.mktemp("findings") / "suite"
    selected = [word for case in sorted({case for _, case in FINDINGS}) for word in ("--select", case)]
    dialects = [word for each in ("openvino", "onnx", "onnx13") for word in ("--dialect", each)]
    opconform("generate", *selected, *dialects, "--out", out)
    return out


def test_every_page_has_findings() -> None:
    """The pages' tables are read as they are written."""
    assert {backend for backend, _ in FINDINGS} == set(PAGES)
    assert len(cases_of(PAGES["openvino"][0])) >= 28


@pytest.mark.parametrize(("backend", "case"), FINDINGS)
def test_the_script_of_a_finding_shows_it(opconform: Run, suite: Path, tmp_path: Path, backend: str, case: str) -> None:
    """It ends with 1, or with the process where that is the failure; it is short, and imports nothing of ours."""
    python, script = interpreter(backend), tmp_path / "script.py"
    where = [] if python == sys.executable else ["--python", python]
    with cores(1 if case in ON_ONE_CORE else 2):
        written = opconform("repro", case, "--backend", backend, "--suite", suite, "--out", script, *where)
        done = executed(script, python)
    text = script.read_text()

    assert "warning" not in written.stderr
    assert f"\n# The case {case} of opconform.\n" in text
    assert not re.search(r"^(import|from) opconform", text, re.MULTILINE)
    assert len(text.splitlines()) < MOST_LINES
    if "# Where the bug is, it ends this process" in text:
        assert done.returncode < 0, done.stdout + done.stderr
    else:
        assert done.returncode == 1, done.stdout + done.stderr
        assert "WRONG" in done.stdout or "got: " in done.stdout


def ids(suite: Path, *, accepted: bool) -> list[str]:
    """The ids of the cases of a suite that are accepted, or of those that are not."""
    entries = [json.loads(line) for line in (suite / "manifest.jsonl").read_text().splitlines()]
    return [each["id"] for each in entries if (each["expect"] == "accept") is accepted]


@pytest.mark.parametrize(
    ("accepted", "said"), [(True, "outputs, got: 3\nright\n"), (False, "refused, as it must be: ")]
)
def test_the_script_of_a_case_that_passes_ends_with_0(
    opconform: Run, small_suite: Path, tmp_path: Path, accepted: bool, said: str
) -> None:
    """So it tells when the bug is mended; that there is none is said when it is written."""
    python, case = interpreter("openvino"), ids(small_suite, accepted=accepted)[0]
    script = tmp_path / "script.py"
    written = opconform("repro", case, "--backend", "openvino", "--suite", small_suite, "--out", script)
    done = executed(script, python)

    assert f"does not fail {case} here: pass\n" in written.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout


def test_what_a_spec_says_cannot_become_code(opconform: Run, tmp_path: Path) -> None:
    """Titles and attributes of a stranger's spec stand in comments and literals, whatever they hold."""
    python, script = interpreter("openvino"), tmp_path / "script.py"
    (tmp_path / "spec.yaml").write_text(STRANGER)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    [case] = ids(tmp_path / "suite", accepted=False)
    opconform("repro", case, "--backend", "openvino", "--suite", tmp_path / "suite", "--out", script)
    done = executed(script, python)

    assert "exit(7)" in script.read_text()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("refused, as it must be: ")


def test_what_cannot_be_shown_is_told(opconform: Run, small_suite: Path) -> None:
    """A backend without scripts, a case that is not there, and several that match."""
    command = ("repro", "--suite", small_suite, "--backend")
    accepted = [each for each in ids(small_suite, accepted=True) if "/accepted/" in each]

    assert opconform(*command, "numpy", "x", code=2).stderr == (
        "error: There is no script for 'numpy'. Allowed are: openvino, openvino-onnx, onnxruntime, torch.\n"
    )
    assert opconform(*command, "openvino", "Split-1/no/1", code=2).stderr == (
        f"error: No case of {small_suite} matches 'Split-1/no/1'. `opconform list` lists them.\n"
    )
    assert opconform(*command, "openvino", "VariadicSplit-1/accepted/*", code=2).stderr == (
        f"error: 4 cases match 'VariadicSplit-1/accepted/*': {', '.join(accepted)}. Name one.\n"
    )
