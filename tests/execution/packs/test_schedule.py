"""The size and the time of packs, and runs that are interrupted between packs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.errors import SuiteError
from opconform.suite.case import canonical_json
from opconform.suite.reader import Suite
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log.outcomes import linked, log_in, read_log
from opconform_runners.execution.packs.sample import ONE_IN, history_of, sample_of
from opconform_runners.execution.packs.size import Limits
from opconform_runners.harness.outcome import Incident
from tests.execution.conftest import _unlinked
from tests.execution.packs import faulty
from tests.execution.packs.faulty import Right, run_on, verdicts


def test_packs_grow_while_the_backend_is_quick() -> None:
    """Up to what it declares."""
    limits, sizes = Limits(packs=64, timeout=20.0), []
    for _ in range(6):
        sizes.append(limits.size("Split-1"))
        limits.note_executed("Split-1", sizes[-1], 0.1, passed=1)

    assert sizes == [4, 8, 16, 32, 64, 64]
    limits.note_executed("Split-1", 64, 10.0, passed=1)
    assert limits.size("Split-1") == 32


def test_packs_of_an_operation_shrink_when_they_are_refused() -> None:
    """Those of other operations do not."""
    limits = Limits(packs=4, timeout=20.0)
    limits.note_refused("Split-1", 4, is_named=True)
    assert limits.size("Split-1") == 4
    limits.note_refused("Split-1", 4, is_named=False)
    assert (limits.size("Split-1"), limits.size("Pad-12")) == (2, 4)
    limits.note_executed("Split-1", 2, 0.1, passed=2)
    assert limits.size("Split-1") == 4


def test_an_operation_that_ends_processes_is_executed_alone() -> None:
    """Since each end costs a start; other operations are still packed."""
    limits = Limits(packs=64, timeout=20.0)

    assert [limits.note_ended("Split-1") for _ in range(3)] == [False, False, True]
    assert not limits.note_ended("Pad-12")


def test_packs_that_show_nothing_end() -> None:
    """A backend that declares packs and cannot execute any is not asked forever."""
    limits = Limits(packs=64, timeout=20.0)
    for _ in range(64):
        assert not limits.is_useless
        limits.note_executed("Split-1", 4, 0.1, passed=0)

    assert limits.is_useless
    assert limits.size("Split-1") == 1


def test_a_pack_has_less_time_in_a_fresh_process() -> None:
    """As soon as it is known how long packs take."""
    limits = Limits(packs=64, timeout=20.0)
    assert limits.seconds(fresh=True) == 20.0
    limits.note_executed("Split-1", 4, 0.1, passed=4)
    assert limits.seconds(fresh=False) == 20.0
    assert limits.seconds(fresh=True) == 2.0
    limits.note_executed("Split-1", 4, 1.0, passed=4)
    assert limits.seconds(fresh=True) == 8.0


def test_the_sample_is_chosen_by_digest() -> None:
    """One in twenty, and the first pack of an operation has at least one."""
    names = [f"Split-1/a/{number:010x}" for number in range(1, 100)]

    assert sample_of(names, is_first=True) == {name for number, name in enumerate(names, 1) if number % ONE_IN == 0}
    assert sample_of(names[:5], is_first=False) == set()
    assert sample_of(names[1:5], is_first=True) == {names[1]}
    assert sample_of([], is_first=True) == set()


@pytest.mark.parametrize("backend", [Right, faulty.FailsAlone, faulty.Mixes], ids=lambda backend: backend.__name__)
def test_a_run_continues_after_any_line_of_its_log(splits: Suite, tmp_path: Path, backend: type[Right]) -> None:
    """With the verdicts of a run that was not interrupted; no case is executed alone twice."""
    run_on(backend(), splits, tmp_path / "whole")
    whole, _ = run_on(backend(), splits, tmp_path / "alone", alone=True)
    lines = (tmp_path / "whole" / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    for count in (2, 9, 21, len(lines) - 1):
        out = tmp_path / str(count)
        out.mkdir()
        (out / "outcomes.jsonl").write_bytes(b"".join(lines[:count]) + lines[count][:10])
        run, _ = run_on(backend(), splits, out)
        firsts = [logged.case for logged in log_in(out).lines if logged.execution == "first"]

        assert verdicts(run) == verdicts(whole)
        assert len(firsts) == len(set(firsts))


def test_alone_does_not_continue_a_run_with_packs(splits: Suite, tmp_path: Path) -> None:
    """Its passes would be those of packs."""
    run_on(Right(), splits, tmp_path)
    lines = (tmp_path / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").unlink()
    (tmp_path / "outcomes.jsonl").write_bytes(b"".join(lines[:9]))
    with pytest.raises(Exception, match="--alone has changed"):
        run_on(Right(), splits, tmp_path, alone=True)


def test_a_sampled_pass_is_not_done_before_it_is_executed_alone(splits: Suite, tmp_path: Path) -> None:
    """Nor is a pass of an operation that differs."""
    run_on(faulty.FailsAlone(), splits, tmp_path)
    lines = log_in(tmp_path).lines
    packed = [logged for logged in lines if logged.execution == "packed"]
    checked = {logged.case for logged in packed if logged.checked}

    assert history_of(packed).done == {logged.case for logged in packed} - checked
    assert history_of(lines).done == {entry.id for entry in splits.entries}
    first = next(logged for logged in lines if logged.execution == "first" and logged.case in checked)
    assert history_of([*packed, first]).done == {first.case}


def test_results_without_the_executions_alone_of_the_sample_cannot_be_signed(splits: Suite, tmp_path: Path) -> None:
    """A log that lacks them is not settled."""
    run, _ = run_on(Right(), splits, tmp_path)
    log = log_in(tmp_path)
    checked = {logged.case for logged in log.lines if logged.checked}
    left = tuple(x for x in log.lines if x.execution == "packed" or x.case not in checked)

    assert results_of(log, splits, settled=True) == [*run.results]
    with pytest.raises(SuiteError, match="lacks the execution alone"):
        results_of(replace(log, lines=left), splits, settled=True)


def test_the_sample_does_not_depend_on_what_the_log_says_of_it(
    splits: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its digest says that a case must be executed alone, so that a failure alone cannot be left out of the log."""
    monkeypatch.setattr("opconform_runners.execution.packs.sample.ONE_IN", 4)
    run_on(Right(), splits, tmp_path)
    log = log_in(tmp_path)
    chosen = sample_of([x.case for x in log.lines if x.execution == "packed"], is_first=False)
    left = tuple(replace(x, checked=False) for x in log.lines if x.execution == "packed" or x.case not in chosen)

    assert chosen
    with pytest.raises(SuiteError, match="lacks the execution alone"):
        results_of(replace(log, lines=left), splits, settled=True)


def test_two_cases_with_the_same_digits_are_both_in_the_sample() -> None:
    """The same case in two groups has the same digits."""
    names = ["Split-1/a/0000000014", "Split-1/b/0000000014"]

    assert sample_of(names, is_first=False) == {*names}


@pytest.mark.parametrize("change", [{"alone": True}, {"packs": 1}], ids=["alone", "no packs"])
def test_a_log_of_a_run_without_packs_has_no_lines_of_packs(
    splits: Suite, tmp_path: Path, change: dict[str, object]
) -> None:
    """They would be passes of cases that were not executed as the header says."""
    run_on(Right(), splits, tmp_path)
    header, *lines = (tmp_path / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    document = json.loads(header)
    if "packs" in change:
        document["implementation"]["packs"] = 1
    else:
        document |= change
    forged = linked(canonical_json(document).encode() + b"\n", [*map(_unlinked, lines)])
    with pytest.raises(SuiteError, match=r"is not what a run wrote there"):
        read_log(forged, "outcomes.jsonl")


def test_lines_of_packs_that_cannot_follow_are_refused(splits: Suite, tmp_path: Path) -> None:
    """Of invalid cases, after an execution alone, without the name of the pack, or with one alone."""
    run_on(Right(), splits, tmp_path)
    log = log_in(tmp_path)
    packed = next(x for x in log.lines if x.execution == "packed")
    first = next(x for x in log.lines if x.execution == "first" and x.outcome.status == "returned")
    invalid = next(entry.id for entry in splits.entries if entry.expect != "accept")
    after = replace(first, case=packed.case, pack=None)
    for lines in (
        [replace(packed, case=invalid)],
        [after, packed],
        [replace(packed, pack=None)],
        [replace(first, pack=packed.pack)],
        [replace(first, checked=True)],
    ):
        with pytest.raises(SuiteError, match="does not follow"):
            results_of(replace(log, lines=tuple(lines)), splits)


def test_an_incident_at_a_pack_reaches_the_log(splits: Suite, tmp_path: Path) -> None:
    """Its cases are those of the pack, the last first, and those before it."""
    run_on(faulty.WritesPastItsOutput(), splits, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_bytes().splitlines()[1:]]
    [incident] = [hit for line in lines for hit in line.get("incidents", ())]
    [case] = [line["case"] for line in lines if line.get("incidents")]

    assert Incident(**incident).is_death
    assert incident["cases"][0] == case
