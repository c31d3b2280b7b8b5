"""A run that is interrupted keeps what it found, says so, and goes on; no run replaces the results of another."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from opconform.errors import DiskError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Rejected
from opconform_runners.backends.frameworks.numpy import Numpy
from opconform_runners.cli.report import command as report
from opconform_runners.cli.run import command as run
from opconform_runners.execution import case_verdicts
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.log.outputs_zip import KeptOutputs
from opconform_runners.execution.plan import RunOptions, RunPlan
from opconform_runners.execution.runner import Run, judged
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.harness.outcome import Outcome, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.results import OUTPUTS_ZIP, read_results, read_written
from tests import fake_harnesses
from tests.declared import declared

IMPLEMENTATION = replace(Numpy().describe(), name="fake", version="1")
TWIN, REJECTED = "VariadicSplit-1/rejected/c8611d2f32", "VariadicSplit-1/rejected/edf4e822b0"


@dataclass
class FakeBackend:
    """An executor without a process: right, but for what `odd` says; Ctrl-C comes before execution number `until`."""

    suite: Suite
    until: int | None = None
    odd: Callable[[Entry, int], Outcome | None] = lambda _entry, _time: None
    fault: BaseException = field(default_factory=KeyboardInterrupt)
    implementation: Implementation = IMPLEMENTATION
    executed: list[str] = field(default_factory=list)

    def __call__(
        self,
        entries: Sequence[Entry],
        attempt: Attempt,
        on_outcome: Callable[[Entry, Case, Outcome], None],
        on_ready: Callable[[Implementation], None],
    ) -> None:
        """Execute the cases one after the other."""
        on_ready(self.implementation)
        for entry in entries:
            if len(self.executed) == self.until:
                raise self.fault
            self.executed.append(f"{entry.id} {attempt}")
            case = self.suite.case(entry)
            odd = self.odd(entry, sum(case.startswith(entry.id) for case in self.executed))
            on_outcome(entry, case, odd or self._right(entry, case))

    def _right(self, entry: Entry, case: Case) -> Outcome:
        arrays = self.suite.arrays(entry, inputs_name(0))
        feed = {
            input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs
        }
        try:
            [outputs] = Numpy().run(declared(case), None, [feed])
        except Rejected as answer:
            return Refused(seq=0, stage="build", message=answer.message)
        return Returned(outputs=(tuple(output.array for output in outputs),), element_types=None, seconds=0.5)


@pytest.fixture
def suite(small_suite: Path) -> Suite:
    """The small suite: four valid cases, a rejected one and its twin."""
    return open_suite(small_suite)


def plan_of(out: Path, **changes: Any) -> RunPlan:
    """A plan of a run on the fake backend, with other options or another identity."""
    options = {name: changes.pop(name) for name in RunOptions.__dataclass_fields__ if name in changes}
    plan = RunPlan(
        out=out,
        options=replace(RunOptions(timeout=20.0), **options),
        started="--backend fake",
        environment_of=lambda _: UNKNOWN,
    )
    return replace(plan, **changes)


def ran(suite: Suite, backend: FakeBackend, plan: RunPlan, some: Sequence[Entry] | None = None) -> Run:
    """A run of the suite, or of some of its cases."""
    return judged(suite, suite.entries if some is None else some, backend, plan)


def zeros(suite: Suite, entry: Entry) -> Outcome:
    """Outputs of the right shapes, and of zeros."""
    right = FakeBackend(suite)._right(entry, suite.case(entry))
    assert isinstance(right, Returned)
    return replace(right, outputs=(tuple(np.zeros_like(output) for output in right.outputs[0]),))


def odd_ways(suite: Suite) -> Callable[[Entry, int], Outcome | None]:
    """One case fails always, one the first time, one hangs, one is unsupported."""
    first, second, third, fourth = [entry for entry in suite.entries if entry.expect == "accept"][:4]

    def odd(entry: Entry, time: int) -> Outcome | None:
        if entry.id == first.id or (entry.id == second.id and time == 1):
            return zeros(suite, entry)
        if entry.id == third.id:
            return TimedOut(seconds=20.0)
        return NotSupported(seq=0, message="not today") if entry.id == fourth.id else None

    return odd


def test_a_run_continues_after_an_interruption_at_any_execution(suite: Suite, tmp_path: Path) -> None:
    """Nothing is executed twice, and results and kept outputs are those of a run that was never interrupted."""
    straight = FakeBackend(suite, odd=odd_ways(suite))
    expected = ran(suite, straight, plan_of(tmp_path / "straight"))
    assert [result.verdict for result in expected.results] == ["fail", "fail", "fail", "unsupported", "pass", "pass"]
    assert [result.reason for result in expected.results][:3] == ["value", "nondeterministic", "timeout"]

    for moment in range(len(straight.executed)):
        out = tmp_path / str(moment)
        before = FakeBackend(suite, odd=odd_ways(suite), until=moment)
        stopped = ran(suite, before, plan_of(out))
        counts: dict[str, int] = {}

        def odd(
            entry: Entry, _: int, counts: dict[str, int] = counts, done: Sequence[str] = before.executed
        ) -> Outcome | None:
            counts[entry.id] = counts.get(entry.id, sum(x.startswith(entry.id) for x in done)) + 1
            return odd_ways(suite)(entry, counts[entry.id])

        after = FakeBackend(suite, odd=odd)
        final = ran(suite, after, plan_of(out))

        assert stopped.gave_up == f"Interrupted after {min(moment, 6)} of 6 cases"
        assert isinstance(stopped.interrupted, KeyboardInterrupt)
        assert before.executed + after.executed == straight.executed
        assert final.results == expected.results
        assert (out / "results.jsonl").read_bytes() == (tmp_path / "straight" / "results.jsonl").read_bytes()
        for item in expected.results[:2]:
            kept, right = KeptOutputs(out).outputs(item.id), KeptOutputs(tmp_path / "straight").outputs(item.id)
            assert kept.keys() == right.keys() != set()


def test_ctrl_c_while_a_verdict_is_made_is_an_interruption(suite: Suite, tmp_path: Path) -> None:
    """The case counts as not executed."""
    made = [mock.DEFAULT] * 3 + [KeyboardInterrupt()]
    with mock.patch.object(case_verdicts, "result_of", wraps=case_verdicts.result_of, side_effect=made):
        stopped = ran(suite, FakeBackend(suite), plan_of(tmp_path))

    assert stopped.gave_up == "Interrupted after 3 of 6 cases"
    assert ran(suite, FakeBackend(suite), plan_of(tmp_path)).gave_up is None


def test_a_killed_run_has_the_report_of_an_interrupted_run(suite: Suite, tmp_path: Path) -> None:
    """The report is made from the log and the suite; a truncated line does not count."""
    stopped = ran(suite, FakeBackend(suite, odd=odd_ways(suite), until=5), plan_of(tmp_path))
    (tmp_path / "results.jsonl").unlink()
    with (tmp_path / "outcomes.jsonl").open("ab") as file:
        file.write(b'{"execution":"fir')
    read = read_report(tmp_path, Path(suite.store.root))

    assert read.results == stopped.results
    assert read.unfinished == "Interrupted after 5 of 6 cases"
    assert (read.implementation.name, read.suite.digest, read.conformant) == ("fake", suite.header.digest, None)
    assert read.requirements


def test_a_rejection_is_inconclusive_until_its_twin_passed(suite: Suite, tmp_path: Path) -> None:
    """In the report of the interrupted run and in each of its results."""
    order = [suite.by_id[REJECTED], suite.by_id[TWIN]]
    stopped = ran(suite, FakeBackend(suite, until=1), plan_of(tmp_path), order)
    [result] = stopped.results
    final = ran(suite, FakeBackend(suite), plan_of(tmp_path), order)

    assert (result.verdict, result.sentence) == ("inconclusive", f"its twin {TWIN} has no verdict")
    assert {result.id: result.verdict for result in final.results} == {REJECTED: "pass", TWIN: "pass"}


def test_a_kill_leaves_kept_outputs_that_can_be_read(suite: Suite, tmp_path: Path) -> None:
    """Up to the member that was being written."""
    ran(
        suite,
        FakeBackend(suite, odd=lambda entry, _: zeros(suite, entry) if entry.expect == "accept" else None),
        plan_of(tmp_path),
    )
    [first, second, *_] = read_results(tmp_path / "results.jsonl")
    whole = (tmp_path / OUTPUTS_ZIP).read_bytes()
    (tmp_path / OUTPUTS_ZIP).write_bytes(whole[: whole.index(second.id.encode()) + 100])

    assert len(KeptOutputs(tmp_path).outputs(first.id)) == 3
    assert KeptOutputs(tmp_path).outputs(second.id) == {}


def test_a_full_disk_ends_a_run_with_its_results_so_far(suite: Suite, tmp_path: Path) -> None:
    """Like an interruption; the same run continues."""
    full = DiskError(tmp_path / "7", OSError(28, "No space left on device"))
    stopped = ran(suite, FakeBackend(suite, until=4, fault=full), plan_of(tmp_path))
    after = FakeBackend(suite)
    final = ran(suite, after, plan_of(tmp_path))

    assert stopped.interrupted is full
    assert stopped.gave_up == (
        f"{tmp_path}/7 cannot be written: No space left on device. Free some space, or use another location, "
        "interrupted after 4 of 6 cases"
    )
    assert len(stopped.results) == 4
    assert (len(after.executed), final.continued, final.gave_up) == (2, 4, None)


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another version": ({}, {"version": "2"}, "the backend (fake 1, now fake 2)"),
    "another device": ({}, {"device": "GPU"}, "the backend (fake 1, now fake 1 on GPU)"),
    "another time limit": ({"timeout": 5.0}, {}, "--timeout"),
    "another file": ({"program": "0" * 64}, {}, "the backend's file"),
    "another environment": ({"environment_of": lambda _: replace(UNKNOWN, machine="arm64")}, {}, "the environment"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_is_not_continued_under_other_conditions(suite: Suite, tmp_path: Path, name: str) -> None:
    """Verdicts would be mixed. With --force it starts over."""
    plan, backend, what = CHANGES[name]
    ran(suite, FakeBackend(suite, until=3), plan_of(tmp_path))
    held = (tmp_path / "outcomes.jsonl").read_bytes()
    new = FakeBackend(suite, implementation=replace(IMPLEMENTATION, **backend))
    with pytest.raises(UsageError) as refusal:
        ran(suite, new, plan_of(tmp_path, **plan))

    assert str(refusal.value) == (
        f"{tmp_path} contains the results of a run of fake 1 (6 cases), interrupted, and {what} "
        f"has changed since then. Use another --out, or replace them with --force."
    )
    assert (tmp_path / "outcomes.jsonl").read_bytes() == held
    assert len(ran(suite, new, plan_of(tmp_path, force=True, **plan)).results) == 6
    assert len(new.executed) == 6


def test_the_results_of_another_run_are_not_replaced(suite: Suite, tmp_path: Path) -> None:
    """Of a certification, another selection or another backend; nothing in the folder changes."""
    ran(suite, FakeBackend(suite), plan_of(tmp_path, whole=True))
    (tmp_path / "report.html").write_bytes(b"<!doctype html>\n<!-- opconform report -->")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    others = {
        "but this run is not a certification": (plan_of(tmp_path), None),
        "but this run has a different backend": (plan_of(tmp_path, started="--backend numpy", whole=True), None),
        "but this run has a different selection": (
            plan_of(tmp_path, whole=True, selection=Selection(profiles=("core",))),
            None,
        ),
    }
    for sentence, (plan, some) in others.items():
        with pytest.raises(UsageError, match=sentence):
            ran(suite, FakeBackend(suite), plan, some)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_same_run_replaces_its_own_results(suite: Suite, tmp_path: Path) -> None:
    """Also with another version of the backend, but not with other cases."""
    ran(suite, FakeBackend(suite), plan_of(tmp_path), suite.entries[:2])
    new = FakeBackend(suite, implementation=replace(IMPLEMENTATION, version="2"))
    ran(suite, new, plan_of(tmp_path), suite.entries[:2])
    assert len(new.executed) == 2
    assert read_written(tmp_path / "results.jsonl").header.implementation.version == "2"
    with pytest.raises(
        UsageError,
        match="contains the results of a run of fake 2 \\(2 cases\\), but this run has a different selection",
    ):
        ran(suite, new, plan_of(tmp_path), suite.entries[:3])


def test_a_certification_that_signs_starts_over(suite: Suite, tmp_path: Path) -> None:
    """Its first half could have been written by anyone who can write to the folder."""
    ran(suite, FakeBackend(suite, until=3), plan_of(tmp_path, whole=True))
    signing = FakeBackend(suite)
    ran(suite, signing, plan_of(tmp_path, whole=True, resume=False))

    assert len(signing.executed) == 6


def test_ctrl_c_writes_the_report_and_the_same_command_continues(small_suite: Path, tmp_path: Path) -> None:
    """It needs a process, because the signal ends it. The harness hangs at the third case."""
    harness, pipe = fake_harnesses.command("waits for a signal"), tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [str(small_suite), "--harness", harness, "--timeout", "600", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "OPCONFORM_TEST_MARK": str(pipe)}
    program = [str(Path(sys.executable).with_name("opconform")), "run", *command]
    process = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert pipe.read_text() == "waits"
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=300)
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    again = CliRunner().invoke(run, command)

    assert process.returncode == 130, said
    assert (
        "INCOMPLETE, 2 of 6 cases supported: Interrupted after 2 of 6 cases. 4 cases have no verdict. 2 pass."
        in " ".join(shown.split())
    )
    assert document["gave_up"] == "Interrupted after 2 of 6 cases"
    assert again.exit_code == 0, again.output
    assert "6 of 6 cases supported" in again.output


@pytest.mark.parametrize("option", ["junit", "markdown", "badge"])
def test_every_format_says_that_a_run_was_interrupted(suite: Suite, tmp_path: Path, option: str) -> None:
    """The command ends with exit code 1."""
    ran(suite, FakeBackend(suite, until=3), plan_of(tmp_path))
    done = CliRunner().invoke(report, [str(tmp_path), f"--{option}", "-"])

    assert done.exit_code == 1
    assert "incomplete" in done.stdout.lower()
    assert "Interrupted after 3 of 6 cases" in done.stderr
