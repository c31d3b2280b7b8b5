"""Incidents: a process that ends late, or an error that does not recur, is not held against the next case."""

import json
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import open_suite
from tests.conftest import MINIATURES, Run


def ran(opconform: Run, suite: Path, out: Path, name: str, code: int, *words: object) -> tuple[str, Any]:
    """What a run of a miniature prints, and its report."""
    done = opconform("run", suite, "--backend", f"{MINIATURES}:{name}", "--out", out, *words, code=code)
    return " ".join(done.stdout.split()), json.loads((out / "report.json").read_text())


#: What happens to the process at its second case, and the reason that it would be for a case.
DEATHS = {
    "EndsLater": ("crash", "the backend process was terminated by SIGSEGV"),
    "StopsLater": ("timeout", "no answer within 3 seconds"),
    "ExitsLater": ("crash", "the backend process ended with code 3"),
    "KillsItsSupervisorLater": ("crash", "the backend process was terminated by SIGKILL"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_a_process_that_ends_late_fails_no_case(opconform: Run, small_suite: Path, tmp_path: Path, name: str) -> None:
    """It makes the run not conformant, and names the cases of the process, the last first."""
    limit = 3 if name == "StopsLater" else 60
    printed, report = ran(opconform, small_suite, tmp_path, name, 1, "--timeout", limit)
    ids = [each.id for each in open_suite(small_suite).entries]
    kind, sentence = DEATHS[name]

    assert report["summary"] == {"pass": 6, "fail": 0, "unsupported": 0, "inconclusive": 0, "error": 0}
    assert report["conformant"] is False
    assert report["incidents"][0] == {"kind": kind, "sentence": sentence, "cases": [ids[1], ids[0]], "earlier": 0}
    assert not any(each["broken"] for op in report["requirements"].values() for each in op.values())
    assert "NOT CONFORMANT, 6 of 6 cases supported: " in printed
    assert f"{sentence}; this did not recur with {ids[1]} alone." in printed
    assert f"the last first: {ids[1]}, {ids[0]}" in printed
