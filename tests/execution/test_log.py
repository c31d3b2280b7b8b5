"""A run that is interrupted keeps what it found, says so, and goes on; no run replaces the results of another."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from opconform.errors import DiskError, SuiteError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.cli.report import command as report
from opconform_runners.cli.run import command as run
from opconform_runners.execution import case_verdicts
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log.logged_outcome import LoggedOutcome
from opconform_runners.execution.log.outcomes import log_in
from opconform_runners.execution.log.outputs_zip import KeptOutputs, OutputsWriter
from opconform_runners.harness.outcome import Outcome
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.results import OUTPUTS_ZIP, read_results
from opconform_runners.verdicts.verdict import Fail, Own, Pass
from tests import fake_harnesses
from tests.execution.fake_runs import FakeBackend, odd_ways, plan_of, ran, zeros

TWIN, REJECTED = "VariadicSplit-1/rejected/c8611d2f32", "VariadicSplit-1/rejected/edf4e822b0"


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


def test_a_verdict_that_no_outputs_can_have_is_refused(suite: Suite, tmp_path: Path) -> None:
    """Outputs of an invalid case never pass, and a failure names what the comparison found."""
    ran(suite, FakeBackend(suite, odd=lambda *_: zeros(suite, suite.by_id[TWIN])), plan_of(tmp_path))
    log = log_in(tmp_path)
    invalid = next(x for x in log.lines if x.case == REJECTED)
    valid = next(x for x in log.lines if x.case == TWIN)
    assert isinstance(valid.own, Fail)
    verdicts: list[tuple[LoggedOutcome, Own]] = [
        (invalid, Pass()),
        (invalid, Fail(reason="value", sentence="forged")),
        (valid, Fail(reason="rejected-valid", sentence="forged")),
        (valid, Fail(reason="accepted-invalid", sentence="forged")),
        (valid, replace(valid.own, reason="rounding")),
        (valid, replace(valid.own, mismatch=None)),
    ]

    assert (invalid.own or Pass()).verdict == valid.own.verdict == "fail"
    for line, own in verdicts:
        forged = tuple(replace(x, own=own) if x is line else x for x in log.lines)
        with pytest.raises(SuiteError, match="does not follow from the suite"):
            results_of(replace(log, lines=forged), suite)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole, at: whole[:at] + whole[at:].replace(b"PK\1\2\x14\3\x14", b"PK\1\2\x14\3\xff"),
        lambda whole, at: whole[:-6] + (at + 100).to_bytes(4, "little") + whole[-2:],
    ],
    ids=["a version that does not exist", "members before the beginning"],
)
def test_kept_outputs_with_a_damaged_directory_are_continued(
    suite: Suite, tmp_path: Path, damage: Callable[[bytes, int], bytes]
) -> None:
    """The directory is written again, from the members."""
    name = f"{suite.entries[0].id}/outputs.npz"
    place, content = tmp_path / OUTPUTS_ZIP, npz_bytes({"output_0": np.arange(3)})
    before = OutputsWriter(place, None)
    before.write(name, content)
    before.close()
    whole = place.read_bytes()
    with zipfile.ZipFile(place) as archive:
        directory = archive.start_dir
    place.write_bytes(damage(whole, directory))
    after = OutputsWriter(place, None)
    after.resume({name})
    after.write("other/outputs.npz", content)
    after.close()

    assert KeptOutputs(tmp_path).files(suite.entries[0].id) == [content]
    assert KeptOutputs(tmp_path).files("other") == [content]


def test_a_member_with_a_name_that_opconform_never_writes_ends_kept_outputs(tmp_path: Path) -> None:
    """Such a name could be too long to be written again."""
    place = tmp_path / OUTPUTS_ZIP
    before = OutputsWriter(place, None)
    before.write("x" * 60_000, b"content")
    before.close()
    whole = place.read_bytes().replace(b"x" * 60_000, b"\xff" * 60_000)
    place.write_bytes(whole[: whole.index(b"PK\1\2")])

    assert KeptOutputs(tmp_path).files("x") == []


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
