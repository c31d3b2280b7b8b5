"""Reports on outputs that are rounded wrongly: the allowed numbers and the error stand wherever a failure does."""

import re
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import Accept, Case, Graph, Output
from opconform_runners.findings.causes.feeds import FeedArrays
from opconform_runners.reports.terminal.excerpt import pairs_of
from tests.conftest import IMPORTS_TESTS, Run
from tests.rounded import rounded_suite

SENTENCE = (
    "output_0[0, 0]: expected 0.14331302046775818 (0x3e12c0a6), allowed are 0.14331282675266266 to 0.1433132141828537, "
    "got 0.14332827925682068 (0x3e12c4a6); error: 1,024 units in the last place, 78.77 times its bound"
)


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Cases that are compared in each way."""
    return rounded_suite(opconform, tmp_path_factory, worker_id)


def test_every_report_has_the_allowed_numbers_and_the_error(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """The terminal, `show`, the page, and the files for other programs."""
    out, backend = tmp_path / "out", tmp_path / "backend.py"
    backend.write_text(f"{IMPORTS_TESTS}from tests.rounded import Near\n")
    run = ("run", suite, f"{backend}:Near", "--select", "SoftMax-8", "--out", out)
    said = {"terminal": opconform(*run).stdout}
    [case] = re.findall(r"SoftMax-8/bounds/[0-9a-f]{10}", (out / "results.jsonl").read_text())[:1]
    said["show"] = opconform("show", case, out, "--suite", suite).stdout
    formats = {"html": "report.html", "junit": "junit.xml", "sarif": "report.sarif", "markdown": "report.md"}
    options = [word for name, file in formats.items() for word in (f"--{name}", tmp_path / file)]
    opconform("report", out, "--suite", suite, *options)
    said |= {name: (tmp_path / file).read_text() for name, file in formats.items() if name != "html"}

    lacking = [name for name, text in said.items() if "78.77 times its bound" not in " ".join(text.split())]
    assert lacking == []
    assert f"fail (rounding): {SENTENCE}; elements outside their bounds: 3 of 3" in said["show"]
    assert "    output_0: f32[1, 3] (within bounds)\n" in said["show"]


def test_a_passing_case_has_its_largest_error(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """As a part of its bound; an exact output has none."""
    opconform("run", suite, "numpy", "--out", tmp_path)
    shown = [opconform("show", f"{group}/*", tmp_path, "--suite", suite).stdout for group in ("SoftMax-8", "Concat-1")]

    assert [re.findall(r"^  numpy [\d.]+: (.*)$", text, re.MULTILINE) for text in shown] == [["pass"], ["pass"]]


def test_only_elements_outside_their_bounds_are_marked() -> None:
    """One that differs from the golden number within its bounds is right; the marks have the bounds and the error."""
    golden, actual = np.array([1.0, 1.0, np.nan], np.float32), np.array([1.25, 2.0, -np.nan], np.float32)
    bounds = np.array([0.5, 0.5, np.nan], np.float32), np.array([1.5, 1.5, np.nan], np.float32)
    output = Output(name="output_0", element_type="f32", shape=(3,), comparison="bounds")
    case = Case(
        id="Exp-1/it/0123456789",
        op="Exp-1",
        title="",
        profile="core",
        requirements=(),
        context="bare",
        feeds=1,
        inputs=(),
        graph=Graph(nodes=(), outputs=()),
        expect=Accept(accept=(output,)),
    )
    feed = FeedArrays(
        number=0, inputs={}, golden={"output_0": golden}, actual={"output_0": actual}, bounds={"output_0": bounds}
    )
    [(expected, returned)] = pairs_of(case, feed, None)

    assert expected is not None
    assert returned is not None
    assert expected.marked == ((0, 1, "0x3f800000, allowed 0.5 to 1.5"),)
    assert returned.marked == ((0, 1, "0x40000000, error 2 times its bound"),)
    assert expected.mark == returned.mark == "is outside its bounds"
