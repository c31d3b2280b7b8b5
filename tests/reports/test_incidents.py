"""Incidents in every format: a process that crashed or hung counts, and an error that did not recur is said."""

import json
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from opconform_runners.harness.outcome import Incident
from opconform_runners.reports.diff import changes_between
from opconform_runners.reports.report_file import read_report, write_report
from opconform_runners.reports.terminal.conclusion import conclusion
from opconform_runners.reports.terminal.incidents import incident_sentence
from opconform_runners.verdicts.results import read_written, write_results
from tests.conftest import Run

FIRST, SECOND = "VariadicSplit-1/accepted/055b3aac7f", "VariadicSplit-1/accepted/9c3891e153"
DEATH = Incident(kind="crash", sentence="the backend process ended with code 3", cases=(SECOND, FIRST))
ERROR = Incident(kind="error", sentence="KeyError: 'lost' <b>", cases=(SECOND, FIRST))
CLAUSE = "1 crash or hang did not recur with the case alone"
SENTENCES = {
    DEATH: f"the backend process ended with code 3; this did not recur with {SECOND} alone. Cases of that process, "
    f"the last first: {SECOND}, {FIRST}",
    ERROR: f"{SECOND} ended in an error, and not when it was executed again alone: KeyError: 'lost' <b>",
}


@pytest.fixture(scope="module")
def perfect(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a backend that passes every case."""
    out = tmp_path_factory.mktemp("incidents") / "out"
    opconform("run", small_suite, "--backend", "numpy", "--out", out)
    return out


def run_with(perfect: Path, out: Path, incident: Incident) -> Path:
    """The same run with an incident at one of its cases."""
    shutil.copytree(perfect, out)
    (out / "report.html").unlink(missing_ok=True)
    report = read_report(out)
    results = [replace(result, incidents=(incident,)) if result.id == SECOND else result for result in report.results]
    write_results(out, read_written(out / "results.jsonl").header, results)
    write_report(out, replace(report, results=tuple(results)))
    return out


def test_a_process_that_died_makes_the_run_not_conformant(opconform: Run, perfect: Path, tmp_path: Path) -> None:
    """Everywhere that a verdict is reported, although every case passed."""
    out = run_with(perfect, tmp_path / "out", DEATH)
    printed = opconform("report", out, "-v")
    opconform("report", out, "--junit", out / "j.xml", "--markdown", out / "m.md", "--html", out / "p.html")
    root = ET.parse(out / "j.xml").getroot()
    [case] = [letter for letter in root.iter("testcase") if letter.get("classname") == "opconform.incidents"]
    page, markdown = (out / "p.html").read_text(), (out / "m.md").read_text()

    assert conclusion(read_report(out))[0] == f"NOT CONFORMANT, 6 of 6 cases supported: {CLAUSE}."
    assert SENTENCES[DEATH] in " ".join(printed.stdout.split())
    assert json.loads((out / "report.json").read_text())["incidents"][0]["kind"] == "crash"
    assert (root.get("failures"), case.get("name")) == ("1", SECOND)
    assert (case[0].tag, case[0].get("type"), case[0].get("message")) == ("failure", "crash", SENTENCES[DEATH])
    assert SENTENCES[DEATH] in page
    assert f'<p class="lead">{CLAUSE}</p>' in page
    assert "### Incidents" in markdown
    assert "NOT CONFORMANT" in markdown


def test_an_error_that_did_not_recur_is_said_and_not_counted(opconform: Run, perfect: Path, tmp_path: Path) -> None:
    """The run stays conformant."""
    out = run_with(perfect, tmp_path / "out", ERROR)
    printed = opconform("report", out, "--junit", out / "j.xml", "--html", out / "p.html", "--github")
    root = ET.parse(out / "j.xml").getroot()
    note = "1 case ended in an error and not when executed again alone; the verdict is that of the second execution."

    assert read_report(out).conformant is True
    assert conclusion(read_report(out))[1] == note
    assert f"::warning title=opconform%3A incident::{SENTENCES[ERROR]}" in printed.stdout
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    assert "&lt;b&gt;" in (out / "p.html").read_text()


def test_no_baseline_expects_a_process_that_dies(
    opconform: Run, perfect: Path, small_suite: Path, tmp_path: Path
) -> None:
    """An empty baseline expects nothing."""
    report = read_report(run_with(perfect, tmp_path / "out", DEATH))
    (tmp_path / "none.txt").write_text("")
    opconform("run", small_suite, "-b", "numpy", "--out", tmp_path / "right", "--baseline", tmp_path / "none.txt")
    compared = read_report(tmp_path / "right").baseline

    assert read_report(tmp_path / "right").is_as_expected
    assert not replace(report, baseline=compared).is_as_expected


def test_a_process_that_died_is_worse_than_one_that_did_not(perfect: Path, tmp_path: Path) -> None:
    """Not the other way round, and not a second time."""
    right, died = read_report(perfect), read_report(run_with(perfect, tmp_path / "out", DEATH))

    assert changes_between(right, died)["is_worse"]
    assert not changes_between(died, right)["is_worse"]
    assert not changes_between(died, died)["is_worse"]


def test_a_result_is_shown_with_its_incidents(opconform: Run, perfect: Path, small_suite: Path, tmp_path: Path) -> None:
    """After its verdict."""
    out = run_with(perfect, tmp_path / "out", DEATH)
    shown = opconform("show", SECOND, out, "--suite", small_suite).stdout

    assert f"incident: {SENTENCES[DEATH]}" in shown


def test_a_long_incident_names_the_last_cases() -> None:
    """And counts the others."""
    long = replace(DEATH, cases=tuple("abcdefg"), earlier=1_000)

    assert incident_sentence(long).endswith("the last first: a, b, c, d, e and 1,002 earlier cases")
