"""Runs of some backends, for tests of baselines and comparisons."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import MINIATURES, Run
from tests.result_files import report_in

REJECTED = "VariadicSplit-1/rejected/edf4e822b0"
ACCEPTED = [f"VariadicSplit-1/accepted/{name}" for name in ("055b3aac7f", "9c3891e153", "ddf616bfdd", "f7298254ae")]


@pytest.fixture(scope="session")
def runs(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of some backends, each by its name."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("Perfect", "AcceptsEverything", "LosesNegativeZero", "Raises"):
        out = folder / name
        opconform("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", out, code=None)
    return folder


def report(opconform: Run, suite: Path, out: Path, name: str, *arguments: object, code: int = 1) -> Any:
    """The report of a miniature."""
    opconform("run", suite, "--backend", f"{MINIATURES}:{name}", "--out", out, *arguments, code=code)
    return report_in(out)
