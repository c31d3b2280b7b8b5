"""Incidents: a process that ends late, or an error that does not recur, is not held against the next case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.runner import judged
from opconform_runners.execution.scheduler import OnReady
from opconform_runners.execution.worker import OnOutcome
from opconform_runners.harness.outcome import Crashed, Incident, Outcome, Oversized, TimedOut, incidents_of
from opconform_runners.verdicts.results import Result, is_kept, joined
from opconform_runners.verdicts.verdict import VerdictName
from tests.conftest import MINIATURES, Run
from tests.execution.fake_runs import FakeBackend, plan_of, zeros
from tests.result_files import report_in
from tests.sampling import in_line


@pytest.fixture
def suite(small_suite: Path) -> Suite:
    """Four valid cases, a rejected one and its twin."""
    return open_suite(small_suite)


def ran(opconform: Run, suite: Path, out: Path, name: str, code: int, *words: object) -> tuple[str, Any]:
    """What a run of a miniature prints, and its report."""
    done = opconform("run", suite, "--backend", f"{MINIATURES}:{name}", "--out", out, *words, code=code)
    return " ".join(done.stdout.split()), report_in(out)


#: What happens to the process at its second case, and the reason that it would be for a case.
DEATHS = {
    "EndsLater": ("crash", "the backend process was terminated by SIGSEGV"),
    "StopsLater": ("timeout", "no answer within 3 seconds"),
    "ExitsLater": ("crash", "the backend process ended with code 3"),
    "KillsItsSupervisorLater": ("crash", "the backend process was terminated by SIGKILL"),
}


@pytest.mark.parametrize("name", in_line(DEATHS, "KillsItsSupervisorLater"))
def test_a_process_that_ends_late_fails_no_case(opconform: Run, small_suite: Path, tmp_path: Path, name: str) -> None:
    """It makes the run not conformant, and names the cases of the process, the last first."""
    limit = 3 if name == "StopsLater" else 60
    printed, report = ran(opconform, small_suite, tmp_path, name, 1, "--timeout", limit)
    ids = [entry.id for entry in open_suite(small_suite).entries]
    kind, sentence = DEATHS[name]

    assert report["summary"] == {"pass": 6, "fail": 0, "unsupported": 0, "inconclusive": 0, "error": 0}
    assert report["conformant"] is False
    assert report["incidents"][0] == {"kind": kind, "sentence": sentence, "cases": [ids[1], ids[0]], "earlier": 0}
    assert not any(x["broken"] for op in report["requirements"].values() for x in op.values())
    assert "NOT CONFORMANT, 6 of 6 cases supported: " in printed
    assert f"{sentence}; this did not recur with {ids[1]} alone." in printed
    assert f"the last first: {ids[1]}, {ids[0]}" in printed


def test_an_error_that_does_not_recur_is_said(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """With the case and its message; the verdict is that of the second execution."""
    printed, report = ran(opconform, small_suite, tmp_path, "RaisesLater", 0)
    ids = [entry.id for entry in open_suite(small_suite).entries]
    errors = [f"{ids[number]} ended in an error, and not when it was executed again alone" for number in (1, 2)]

    assert report["conformant"] is True
    assert [incident["kind"] for incident in report["incidents"]] == ["error"] * len(report["incidents"])
    assert report["incidents"][0]["cases"] == [ids[1], ids[0]]
    assert f"{errors[0]}: miniatures.py:" in printed
    assert "KeyError: 'lost'" in printed
    assert "in an error and not when executed again alone; the verdict is that of the second execution." in printed


#: What executions of cases give, by the case and the attempt.
Outcomes = Mapping[tuple[str, Attempt], Outcome]
CRASH = Crashed(how="was terminated by SIGSEGV")


def death(*cases: str) -> Incident:
    """The crash of a process."""
    return Incident(kind="crash", sentence=CRASH.sentence, cases=cases)


@dataclass(frozen=True)
class Scripted:
    """A fake backend with some outcomes, of which each crash and timeout is an incident unless it recurs."""

    backend: FakeBackend
    happened: Outcomes

    def __call__(self, entries: Sequence[Entry], attempt: Attempt, on_outcome: OnOutcome, on_ready: OnReady) -> None:
        """Execute the cases one after the other."""

        def noted(entry: Entry, case: Case, outcome: Outcome) -> None:
            outcome = self.happened.get((entry.id, attempt), outcome)
            incidents = [death(entry.id, "before")] if isinstance(outcome, Crashed | TimedOut) else []
            on_outcome(entry, case, outcome, *incidents)

        self.backend(entries, attempt, noted, on_ready)


def scripted(suite: Suite, happened: Outcomes, until: int | None = None) -> Scripted:
    """A backend that is interrupted before execution number `until`."""
    return Scripted(FakeBackend(suite, until=until), happened)


def test_a_crash_that_recurs_alone_is_a_failure_of_its_case(suite: Suite, tmp_path: Path) -> None:
    """And no incident, whatever the process had executed before."""
    case = suite.entries[0].id
    run = judged(
        suite, suite.entries, scripted(suite, {(case, "first"): CRASH, (case, "alone"): CRASH}), plan_of(tmp_path)
    )
    [failed] = [result for result in run.results if result.verdict == "fail"]

    assert (failed.id, failed.reason, failed.incidents) == (case, "crash", ())


def test_a_crash_and_a_timeout_alone_are_both_the_cases(suite: Suite, tmp_path: Path) -> None:
    """It ends its process either way."""
    case = suite.entries[0].id
    happened: Outcomes = {(case, "first"): CRASH, (case, "alone"): TimedOut(seconds=20.0)}
    run = judged(suite, suite.entries, scripted(suite, happened), plan_of(tmp_path))

    assert [(result.reason, result.incidents) for result in run.results if result.verdict == "fail"] == [
        ("nondeterministic", ())
    ]


def test_a_failure_keeps_the_crash_of_its_second_execution(suite: Suite, tmp_path: Path) -> None:
    """The case is wrong whenever it is answered, and another case may have ended the process between."""
    entry = suite.entries[0]
    wrong = zeros(suite, entry)
    happened: Outcomes = {(entry.id, "first"): wrong, (entry.id, "again"): CRASH, (entry.id, "alone"): wrong}
    backend = scripted(suite, happened)
    run = judged(suite, suite.entries, backend, plan_of(tmp_path))

    assert [(result.reason, result.incidents) for result in run.results if result.verdict == "fail"] == [
        ("value", (death(entry.id, "before"),))
    ]


def test_the_facts_of_a_result_are_those_of_the_execution_that_counts(suite: Suite, tmp_path: Path) -> None:
    """A rejection has its stage and message although the process crashed at first, so that it can be certified."""
    [entry] = [entry for entry in suite.entries if entry.expect != "accept"]
    run = judged(suite, suite.entries, scripted(suite, {(entry.id, "first"): CRASH}), plan_of(tmp_path))
    [result] = [result for result in run.results if result.id == entry.id]

    assert (result.verdict, result.stage, result.incidents) == ("pass", "build", (death(entry.id, "before"),))
    assert result.message is not None


def test_an_interrupted_run_keeps_its_incidents(suite: Suite, tmp_path: Path) -> None:
    """Wherever it was interrupted, and before it is known whether the crash recurs."""
    first, second = suite.entries[0].id, suite.entries[-1].id
    happened: Outcomes = {(first, "first"): CRASH, (second, "first"): CRASH, (second, "alone"): CRASH}
    whole = judged(suite, suite.entries, scripted(suite, happened), plan_of(tmp_path / "whole"))
    for moment in range(len(suite.entries) + 2):
        out = plan_of(tmp_path / str(moment))
        stopped = judged(suite, suite.entries, scripted(suite, happened, until=moment), out)
        continued = judged(suite, suite.entries, scripted(suite, happened), out)

        assert isinstance(stopped.interrupted, KeyboardInterrupt)
        assert continued.results == whole.results

    assert [result.incidents for result in whole.results if result.incidents] == [(death(first, "before"),)]


def test_recorded_outputs_have_their_incidents(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """A judge of recorded outputs sees the incidents, since the file has them."""
    backend = f"{MINIATURES}:RaisesLater"
    opconform("run", small_suite, "--backend", backend, "--record", tmp_path / "outputs.zip")
    judging = ("certificate", "judge", tmp_path / "outputs.zip", "--suite", small_suite, "--out", tmp_path / "out")
    printed = opconform(*judging).stdout
    report = report_in(tmp_path / "out")

    assert "ended in an error, and not when it was executed again alone" in " ".join(printed.split())
    assert {incident["kind"] for incident in report["incidents"]} == {"error"}


def result_with(verdict: VerdictName, *incidents: Incident) -> Result:
    """The result of a twin in one of the shards that execute it."""
    return Result(id="Split-1/group/0123456789", profile="core", expect="accept", verdict=verdict, incidents=incidents)


def test_shards_that_execute_a_case_twice_keep_the_incidents_of_both() -> None:
    """Each incident once."""
    first, second = death("a"), death("b")

    assert joined(result_with("pass", first), result_with("pass", second, first)).incidents == (first, second)
    assert joined(result_with("fail"), result_with("pass", second)) == result_with("fail", second)


def test_a_streamed_run_keeps_results_with_incidents() -> None:
    """A tally cannot tell of them."""
    assert is_kept(result_with("pass", death("a")))
    assert not is_kept(result_with("pass"))


def test_an_incident_names_the_last_cases_of_its_process() -> None:
    """And counts the earlier ones."""
    [incident] = incidents_of(CRASH, [str(number) for number in range(60)])

    assert incident.cases == tuple(str(number) for number in range(59, 9, -1))
    assert incident.earlier == 10
    assert incidents_of(Oversized(size=1), ["a"]) == ()
