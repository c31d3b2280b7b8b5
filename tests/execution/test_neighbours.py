"""Hostile behaviour of a harness at one case: the other cases have their verdicts, and the run ends.

A harness is a process, and what these do (ending, printing late, removing files) is done by processes only. All the
hostile things are tried by `python -m benchmarks.robustness hostile_harnesses`.
"""

from pathlib import Path

import pytest
from benchmarks.robustness.hostile_harness import HOSTILE
from benchmarks.robustness.hostile_harnesses import harness_of, suite_in

from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import run_suite
from opconform_runners.harness.command import harness_command


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Ten cases, of which one is for hostile things."""
    return open_suite(suite_in(tmp_path_factory.mktemp("hostile")))


NAMES = (
    "writes a pipe",
    "writes a link to zeros",
    "writes a link to the expected outputs",
    "writes a folder with files",
    "says `seconds` of 1e999",
    "says a line too many",
    "says answers ahead",
    "says the next answer first",
    "says an error for the next request",
    "removes its scratch folder",
    "removes its scratch folder afterwards",
    "removes the files of the others",
    "removes the results",
    "moves its scratch folder",
    "answers and ends",
    "answers and ends with 3",
    "kills its supervisor",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_case_costs_no_other_case(suite: Suite, tmp_path: Path, name: str) -> None:
    """The case has one of the verdicts that are allowed for it, and all others pass."""
    command = harness_command(harness_of(name, suite.store.root, tmp_path / "out"))
    run = run_suite(suite, command, tmp_path / "out", RunOptions(timeout=30.0 if "first" not in name else 3.0))

    verdicts = {each.id.split("/")[1]: each.verdict for each in run.results if each.verdict != "pass"}
    assert len(run.results) == len(suite.entries)
    assert set(verdicts) <= {"here"}
    assert verdicts.get("here", "pass") in HOSTILE[name].verdicts
