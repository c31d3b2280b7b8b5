"""Which failures of a search are reported."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest

from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.simplicity import parts
from opconform_runners.tools.fuzz.cases.spec_text import group_of
from opconform_runners.tools.fuzz.cases.supply import Source, begin, mixed, supply
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.findings_folder import earlier_trials, lines_of, write_findings
from opconform_runners.tools.fuzz.search import Search
from opconform_runners.tools.fuzz.trial import Trial, is_defined
from opconform_runners.verdicts.results import Result
from tests.conftest import IMPORTS_TESTS
from tests.tools.fuzz_failures import (
    PASSED,
    confirmed,
    failure,
    of_type,
    outcomes_in_turn,
    plain,
    rejected,
    search_of,
)


def test_a_failure_is_reported_only_if_it_recurs() -> None:
    """With the reduced case, or else with the case as it was drawn; another bug does not count."""
    first, second = plain(2)
    drawn, reduced, other = failure(first), failure(second), failure(second, "shape")

    assert confirmed(drawn, second, drawn, reduced) == [
        FuzzFinding(failure=reduced, is_reduced=True, is_confirmed=True)
    ]
    assert confirmed(drawn, second, drawn, other) == [FuzzFinding(failure=drawn, is_confirmed=True)]
    assert confirmed(drawn, second) == []


def test_a_rejection_recurs_whatever_its_message_is() -> None:
    """A message that varies tells nothing about the bug."""
    first, _ = plain(2)
    [found] = confirmed(rejected(first, "at noon"), first, rejected(first, "at night"))

    assert (found.failure.trial, found.failure.symptom[2], found.is_confirmed) == (first, "", True)


def test_a_backend_that_flips_a_coin_has_one_finding() -> None:
    """It is known in the next search, however its case ends first, and a case that needs less is not another fault."""
    first, second = plain(2)
    found: list[object] = []
    for outcomes in ((failure(first), PASSED), (PASSED, failure(first))):
        search = search_of(
            FuzzFinding(failure=failure(of_type(first, "f64", "data"))), FuzzFinding(failure=failure(second, "shape"))
        )
        outcomes_in_turn(search, *outcomes)
        search._confirm([x for some in search.seen.values() for x in some])
        found.append([(hit.varies, hit.is_confirmed) for hit in search.found.values()])

        again = search_of(FuzzFinding(failure=failure(second)), earlier=(first,))
        outcomes_in_turn(again, *outcomes)
        again._note_known()
        again._confirm([x for some in again.seen.values() for x in some])
        found.append([*again.found, *again.fixed])

    assert found == [[(True, True)], [], [(True, True)], []]


def test_reductions_end_without_a_limit_of_time() -> None:
    """A minute and a half after the search began, if it took less than a minute; then failures are executed again."""
    [trial] = plain(1)
    search = search_of(FuzzFinding(failure=failure(trial)))
    search._seconds = 60.0
    search._begun = time.monotonic() - 91
    outcomes_in_turn(search, failure(trial))
    search.reduce(lambda *_: None)

    assert [(hit.is_reduced, hit.is_confirmed) for hit in search.found.values()] == [(False, True)]


def test_failures_are_not_executed_again_for_longer_than_the_limit() -> None:
    """Those that are left are reported as they were reduced."""
    first, second = plain(2)
    search = search_of(FuzzFinding(failure=failure(first)))
    search._seconds = 60.0
    search._begun = time.monotonic() - 121
    search._confirm([FuzzFinding(failure=failure(second), is_reduced=True)])

    assert [*search.found.values()] == [FuzzFinding(failure=failure(second), is_reduced=True)]


def test_each_finding_is_written_when_it_is_confirmed(tmp_path: Path) -> None:
    """A search that is killed then loses only the others; each group is written once."""
    first, second = plain(2)
    findings = [FuzzFinding(failure=failure(first)), FuzzFinding(failure=failure(second, "shape"))]
    search = search_of(*findings)
    written: list[int] = []

    def write() -> None:
        write_findings(search.confirmed, tmp_path)
        written.append((tmp_path / "Split-1.yaml").read_text().count("- id: fuzz-"))

    search.batches.outcomes = lambda given, *_, **__: (  # type: ignore[method-assign]
        failure(x, "value" if x == first else "shape") for x in given
    )
    with mock.patch.object(search, "_seconds", 3_600.0):
        search.on_finding = write
        search._confirm(findings)
    write_findings([*search.found.values()], tmp_path)

    assert (written, len(earlier_trials(tmp_path, 0))) == ([1, 2], 2)


def test_wrong_elements_that_vary_recur() -> None:
    """A single execution cannot show that outputs vary."""
    [trial] = plain(1)
    varying = failure(trial, "nondeterministic")

    assert confirmed(failure(trial), trial, varying) == [
        FuzzFinding(failure=varying, is_reduced=True, is_confirmed=True)
    ]
    assert confirmed(failure(trial, "crash"), trial, varying) == []


def test_reductions_tell_their_progress() -> None:
    """The number of failures whose reduction has ended, and then of those whose confirmation has."""
    [trial] = plain(1)
    search = search_of(FuzzFinding(failure=failure(trial)))
    search.batches.outcomes = lambda *_, **__: iter([PASSED])  # type: ignore[method-assign]
    calls: list[tuple[object, ...]] = []
    search.reduce(lambda *call: calls.append(call))

    stage = "Confirming 1 failure"
    assert calls == [(0.0, 0), (1.0, 1), (0.0, 0, stage), (1.0, 1, stage)]


def test_a_case_is_executed_once_for_all_failures_of_one_reduction() -> None:
    """The failures of one operation have simple variants in common; the simplest one that fails alike is kept."""
    first, second = plain(2)
    search = search_of(FuzzFinding(failure=failure(first)), FuzzFinding(failure=failure(second)))
    executed: list[str] = []

    def outcomes(trials: Sequence[Trial], *_: object, **__: object) -> Iterator[Failure]:
        executed.extend(trial.draft.digits for trial in trials)
        return (failure(trial) for trial in trials)

    search.batches.outcomes = outcomes  # type: ignore[assignment,method-assign]
    with mock.patch.object(Search, "_confirm") as confirm:
        search.reduce(lambda *_: None)

    [[findings, _]] = (call.args for call in confirm.mock_calls)
    assert len({*executed}) == len(executed)
    assert len({finding.failure.trial.draft.digits for finding in findings}) == 1
    assert all(finding.is_reduced for finding in findings)


def test_trials_of_several_operations_alternate() -> None:
    """However many are drawn at once, until all streams have ended."""
    first, second, third = plain(3)

    assert [*mixed([iter([first, second]), iter([third])])] == [first, third, second]


def test_batches_drawn_ahead_have_the_trials_of_the_seed(tmp_path: Path) -> None:
    """The first one is small, so that it is soon executed, and the rest is in the last one."""
    with supply(Source(operations=["Split-1"]), 5, 130, tmp_path, Options()) as batches:
        given = [[trial.draft for trial in batch.trials] for batch in batches]

    drawn = (draw.draft for draw in Draws(OPERATIONS["Split-1"], 5) if is_defined(draw, 0))
    assert [*map(len, given)] == [6, 12, 24, 48, 40]
    assert [draft for batch in given for draft in batch] == [*islice(drawn, 130)]


def test_a_search_ends_if_nothing_is_left_to_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an operation of which nothing valid is drawn."""
    monkeypatch.setattr("opconform_runners.tools.fuzz.cases.draws.PATIENCE", 0)
    drawing = begin(Source(operations=["Split-1"]), 0, tmp_path, Options())

    assert drawing((100, {})) is None


def test_a_batch_ends_at_its_time(tmp_path: Path) -> None:
    """The first trial is always executed."""
    batches = Batches(Launch(command=backend_command("numpy")), tmp_path, Options())
    trials = plain(3)
    with closing(batches):
        results = [*batches.outcomes(trials, until=0)]

    assert [result.verdict for result in results if isinstance(result, Result)] == ["pass"]


def test_a_trial_can_be_executed_once(tmp_path: Path) -> None:
    """Executing a failure again takes harnesses of its own."""
    (tmp_path / "own.py").write_text(
        f"{IMPORTS_TESTS}import os, pathlib\n"
        "from tests.miniatures import LosesAll, Perfect\n"
        f"mark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
        "class FailsInTheFirstProcess(LosesAll):\n"
        "    def run(self, *given):\n"
        "        mark.exists() or mark.write_text(str(os.getpid()))\n"
        "        return (super() if mark.read_text() == str(os.getpid()) else Perfect()).run(*given)\n"
    )
    command = backend_command(f"{tmp_path / 'own.py'}:FailsInTheFirstProcess")
    with closing(Batches(Launch(command=command), tmp_path, Options())) as batches:
        [again] = batches.outcomes(plain(1))
        [once] = batches.outcomes(plain(1), once=True)

    reasons = [x.result.reason for x in (again, once) if isinstance(x, Failure)]
    assert reasons == ["nondeterministic", "value"]


def test_an_error_of_the_harness_is_shown(tmp_path: Path) -> None:
    """Once for each message, with a case that has it."""
    search = search_of()
    error = Result(
        id="Split-1/fuzz/0123456789",
        profile="fuzz",
        expect="accept",
        verdict="error",
        sentence="KeyError: lost",
        inputs="data f32[2]",
    )
    search.batches.drawn = lambda *_, **__: nullcontext([plain(1)])  # type: ignore[method-assign]
    search.batches.start = lambda: None  # type: ignore[method-assign]
    search.batches.outcomes = lambda *_, **__: iter([error, error])  # type: ignore[method-assign]
    search.run(["Split-1"], lambda *_: None)

    assert list(lines_of(search, tmp_path, "numpy")) == [
        "error: Split-1: KeyError: lost; with data f32[2]",
        "2 cases tested: 2 error. 0 new findings.",
    ]


def test_the_bindings_of_a_twin_are_written_in_full() -> None:
    """They override those of the case name by name."""
    [trial] = [draw for draw in islice(Draws(OPERATIONS["Split-1"], 0), 40) if draw.twin is not None][:1]
    fed = replace(trial.draft, binding={"data": "parameter", "axis": "parameter"})
    usual = replace(trial.draft, binding={"data": "parameter", "axis": "constant"})

    assert group_of(Trial(draft=fed, twin=usual), "found")["twin"]["binding"] == usual.binding


def test_a_folded_model_needs_its_constants_alone() -> None:
    """The same fault occurs where the data of a bare model is constant."""
    [trial] = plain(1)
    folded = replace(trial.draft, binding={"data": "constant", "axis": "constant"}, context="folded")

    assert parts(folded) == ("data as a constant",)
