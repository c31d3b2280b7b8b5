"""Backends that a pack could hide or smear: the verdicts in packs are those alone."""

import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from opconform.suite.reader import Suite
from opconform_runners.execution.packs.sample import sample_of
from opconform_runners.execution.session import Session
from opconform_runners.findings.report import report_of
from opconform_runners.harness.command import Command, Launch
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.reports.terminal.conclusion import conclusion
from opconform_runners.verdicts.results import Result
from tests.execution.packs import faulty
from tests.execution.packs.faulty import TIMEOUT, Clock, Right, run_on, verdicts

BACKENDS = (
    *(Right, faulty.FailsAlone, faulty.Mixes, faulty.Crashes, faulty.CrashesOften, faulty.Hangs),
    *(faulty.Direct, faulty.Slow, faulty.WritesPastItsOutput, faulty.OtherOrder, faulty.RefusesATwin),
)


#: How many cases of the suite may be packed: those of two groups, one of two feeds, and a twin.
PACKABLE = 24 + 3 + 2 + 1


def notes(results: tuple[Result, ...]) -> Counter[str]:
    """How many results have each note on packs."""
    return Counter(result.pack for result in results if result.pack is not None)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.__name__)
def test_verdicts_in_packs_are_those_alone(splits: Suite, tmp_path: Path, backend: type[Right]) -> None:
    """Whatever the backend does."""
    alone, _ = run_on(backend(), splits, tmp_path / "alone", alone=True)
    packed, _ = run_on(backend(), splits, tmp_path / "packed")

    assert verdicts(packed) == verdicts(alone)
    assert not notes(alone.results)
    assert bool([hit for x in packed.results for hit in x.incidents]) == bool(
        [hit for x in alone.results for hit in x.incidents]
    )


def test_most_cases_are_executed_in_packs(splits: Suite, tmp_path: Path) -> None:
    """Neither invalid ones, nor large ones, nor those whose run-time inputs have no elements; a sample is, alone too."""
    run, clock = run_on(Right(), splits, tmp_path)
    alone = {case for case, nodes in clock.executed if nodes == 1}
    packs = [nodes for _, nodes in clock.executed if nodes > 1]
    noted = notes(run.results)

    assert sum(packs) == PACKABLE
    assert max(packs) >= 8
    assert noted["counted"] + noted["confirmed"] == sum(packs)
    assert 1 <= noted["confirmed"] <= 4
    assert {case.split("/")[1] for case in alone} >= {"rejected", "large", "empty", "empty-feed"}
    assert len(alone) == len(splits.entries) - noted["counted"]


def test_a_backend_without_packs_gets_none(splits: Suite, tmp_path: Path) -> None:
    """As most harnesses."""
    backend = Right()
    backend.packs = 1
    _, clock = run_on(backend, splits, tmp_path)

    assert {nodes for _, nodes in clock.executed} == {1}


def test_an_operation_that_differs_is_executed_alone(splits: Suite, tmp_path: Path) -> None:
    """The cases that had passed in packs too."""
    run, _ = run_on(faulty.FailsAlone(), splits, tmp_path)

    assert notes(run.results)["counted"] == 0
    assert notes(run.results)["differs"] > 8


def test_cases_that_fail_in_packs_alone_pass(splits: Suite, tmp_path: Path) -> None:
    """And their results say so."""
    run, _ = run_on(faulty.Mixes(), splits, tmp_path)

    assert notes(run.results)["alone-only"] >= 2
    assert {result.verdict for result in run.results} == {"pass"}, [x for x in run.results if x.verdict != "pass"]


@pytest.mark.parametrize("backend", [faulty.Crashes, faulty.Hangs], ids=lambda backend: backend.__name__)
def test_a_case_that_ends_its_process_fails_and_no_other(splits: Suite, tmp_path: Path, backend: type[Right]) -> None:
    """Without an incident, since it is the case's own, and most cases still pass in packs."""
    run, clock = run_on(backend(), splits, tmp_path)

    assert [result.verdict for result in run.results].count("fail") == 1
    assert not [hit for result in run.results for hit in result.incidents]
    assert notes(run.results)["counted"] > 10
    assert clock.started < 10


def test_an_operation_that_crashes_often_is_executed_alone(splits: Suite, tmp_path: Path) -> None:
    """After three packs, so that few processes are started in vain."""
    _, alone = run_on(faulty.CrashesOften(), splits, tmp_path / "alone", alone=True)
    _, packed = run_on(faulty.CrashesOften(), splits, tmp_path / "packed")

    assert packed.started <= alone.started + 5


def test_a_hang_takes_little_more_time_than_alone(splits: Suite, tmp_path: Path) -> None:
    """A pack in a fresh process has less time than a case."""
    _, alone = run_on(faulty.Hangs(), splits, tmp_path / "alone", alone=True)
    _, packed = run_on(faulty.Hangs(), splits, tmp_path / "packed")

    assert alone.now == pytest.approx(2 * faulty.TIMEOUT, rel=0.05)
    assert packed.now < 2 * alone.now


def test_a_slow_backend_gets_small_packs(splits: Suite, tmp_path: Path) -> None:
    """Its cases do not time out."""
    run, clock = run_on(faulty.Slow(), splits, tmp_path)
    _, alone = run_on(faulty.Slow(), splits, tmp_path / "alone", alone=True)

    assert "timeout" not in {result.reason for result in run.results}
    assert clock.now < 1.5 * alone.now


def test_a_crash_that_another_case_caused_is_an_incident(splits: Suite, tmp_path: Path) -> None:
    """It names the case that caused it among the others, and the run is not conformant."""
    run, _ = run_on(faulty.WritesPastItsOutput(), splits, tmp_path)
    incidents = [hit for result in run.results for hit in result.incidents]
    [odd] = [
        x.id
        for x in splits.entries
        if x.id.startswith("Split-1/packed/")
        and splits.case(x).attributes["num_splits"] == 5
        and splits.case(x).inputs[0].element_type == "f32"
    ]

    assert incidents
    assert all(hit.is_death for hit in incidents)
    assert any(odd in hit.cases for hit in incidents)


def test_a_refusal_that_names_a_case_costs_one_more_pack(splits: Suite, tmp_path: Path) -> None:
    """The other cases are not halved without need."""
    run, clock = run_on(faulty.RefusesATwin(), splits, tmp_path)
    passed = notes(run.results)

    assert passed["counted"] + passed["confirmed"] >= PACKABLE - 6
    assert len([nodes for _, nodes in clock.executed if nodes > 1]) < 12


def test_a_backend_without_a_dialect_executes_packs_as_cases(splits: Suite, tmp_path: Path) -> None:
    """Those that it names in a refusal are executed alone, and the rest of the pack together."""
    run, clock = run_on(faulty.Direct(), splits, tmp_path)
    refused = {result.id for result in run.results if result.verdict == "unsupported"}
    noted = notes(run.results)

    assert len(refused) == 6
    assert noted["counted"] + noted["confirmed"] == PACKABLE - len(refused) - 2  # left alone by refusals
    assert len([count for _, count in clock.executed if count > 1]) <= 10


def test_what_did_not_pass_before_is_not_packed(splits: Suite, tmp_path: Path) -> None:
    """In a run of the same build in the same folder."""
    first, before = run_on(faulty.RefusesATwin(), splits, tmp_path)
    second, after = run_on(faulty.RefusesATwin(), splits, tmp_path, force=True)
    third, other = run_on(faulty.RefusesATwin(), splits, tmp_path, force=True, program="0" * 64)

    assert verdicts(first) == verdicts(second) == verdicts(third)
    assert len(after.executed) < len(before.executed) == len(other.executed)


def test_the_log_has_the_pack_of_each_execution(splits: Suite, tmp_path: Path) -> None:
    """And says which cases are executed alone too."""
    run, _ = run_on(Right(), splits, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_bytes().splitlines()[1:]]
    packed = [line for line in lines if line["execution"] == "packed"]

    assert {line["pack"].rpartition("/")[0] for line in packed} == {"Split-1/pack"}
    assert not [line for line in lines if line["execution"] != "packed" and "pack" in line]
    assert [line["case"] for line in packed if line.get("checked")] == [
        line["case"] for line in packed if {x.id: x.pack for x in run.results}[line["case"]] == "confirmed"
    ]


def test_the_report_follows_from_the_results(splits: Suite, tmp_path: Path) -> None:
    """With what was seen in packs."""
    for backend, differing in ((Right(), []), (faulty.FailsAlone(), ["Split-1"])):
        run, _ = run_on(backend, splits, tmp_path, force=True)
        report = report_of(run.header, run.results)
        write_report(tmp_path, report)
        packs = json.loads((tmp_path / "report.json").read_text())["packs"]

        assert finished(tmp_path).report.packs == report.packs
        assert packs["differing"] == differing
        assert any("passed in packs" in sentence for sentence in conclusion(report))


@pytest.mark.parametrize("backend", [Right, faulty.FailsAlone, faulty.Mixes, faulty.Crashes, faulty.Hangs])
def test_a_session_has_the_verdicts_of_a_run(splits: Suite, tmp_path: Path, backend: type[Right]) -> None:
    """As a search has, whose trials are executed in packs first; what passed there is not executed again."""
    valid = [entry for entry in splits.entries if entry.expect == "accept"]
    alone, _ = run_on(backend(), splits, tmp_path, alone=True)
    clock = Clock()
    launch = Launch(command=Command(arguments=(), name="fake"), timeout=TIMEOUT)
    with faulty.faulty(backend(), clock), closing(Session(splits, launch)) as session:
        session.execute_packed(valid)
        results = {entry.id: session.result_of(entry) for entry in valid}

    assert {name: (x.verdict, x.reason) for name, x in results.items()} == {
        name: verdict for name, verdict in verdicts(alone).items() if name in results
    }
    assert max(nodes for _, nodes in clock.executed) > 1


def test_a_session_executes_the_sample_of_an_operation_once(splits: Suite) -> None:
    """Not again for each row of its cases."""
    valid = [entry for entry in splits.entries if entry.expect == "accept" and entry.op == "Split-1"]
    clock = Clock()
    launch = Launch(command=Command(arguments=(), name="fake"), timeout=TIMEOUT)
    with faulty.faulty(Right(), clock), closing(Session(splits, launch)) as session:
        for start in range(0, 40, 8):
            session.execute_packed(valid[start : start + 8])

    packable = {x.id for x in valid[:40]} & {*session.outcomes}
    sample = sample_of([*packable], is_first=True)
    assert sum(nodes == 1 for _, nodes in clock.executed) <= len(sample) + 1
