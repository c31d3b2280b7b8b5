"""What several tests of reports need: the runs of some backends, and subjects of the HTML page."""

from dataclasses import replace
from pathlib import Path

import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.findings.report import Report
from opconform_runners.reports.backend_matrix import Column
from opconform_runners.reports.html.subject import Subject
from opconform_runners.reports.report_file import read_report, write_report
from tests.conftest import MINIATURES, Run, interrupted


def subject(found: Report, *, name: str = "some", suite: Suite | None = None) -> Subject:
    """A run on the page that kept no outputs."""
    column = Column(name=name, report=found)
    return Subject(column=column, suite=suite, place="my suite", script="", kept=KeptOutputs(Path("nowhere")))


@pytest.fixture(scope="session")
def suite(small_suite: Path) -> Suite:
    """The small suite."""
    return open_suite(small_suite)


REJECTED = "VariadicSplit-1/rejected/edf4e822b0"
ACCEPTED = [f"VariadicSplit-1/accepted/{name}" for name in ("055b3aac7f", "9c3891e153", "ddf616bfdd", "f7298254ae")]


@pytest.fixture(scope="session")
def runs(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of some backends by name, of one with a baseline (`known`) and of a killed one (`killed`)."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "known.txt").write_text(
        f"{REJECTED}  accepted-invalid  # not checked\n"
        f"{ACCEPTED[0]}  value  # zeros https://example.org/2\n"
        "Split-1/*  value  # another suite\n"
    )
    for name in ("Perfect", "LosesNegativeZero", "QuietsNans", "RefusesEverything", "Raises", "IsHostile"):
        out = folder / name
        opconform("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", out, code=None)
    known = ("--baseline", "known.txt", "--out", "known")
    opconform("run", small_suite, "--backend", f"{MINIATURES}:LosesNegativeZero", *known, cwd=folder, code=1)
    interrupted(folder / "Perfect", folder / "killed")
    interrupted(folder / "Perfect", folder / "gave-up", 5)
    perfect = read_report(folder / "Perfect")
    left = tuple(result for result in perfect.results if result.id != REJECTED)
    write_report(folder / "gave-up", replace(perfect, results=left, missing=(REJECTED,), gave_up="The harness died."))
    return folder


def written(opconform: Run, run: Path, option: str, code: int = 0) -> str:
    """A run in a format, by way of a file, since line ends count."""
    file = run.parent / f"{run.name}.{option}"
    opconform("report", run, f"--{option}", file, code=code)
    return file.read_bytes().decode()
