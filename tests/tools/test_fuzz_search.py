"""Which failures of a search are reported."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from unittest import mock

import pytest

from opconform.generation.options import Options
from opconform.operations import OPERATIONS
from opconform.suite.case import Binding
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.cases.simplicity import cost, parts
from opconform_runners.tools.fuzz.cases.spec_text import group_of
from opconform_runners.tools.fuzz.cases.supply import begin, mixed, supply
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.findings_folder import earlier_trials, lines_of, write_findings
from opconform_runners.tools.fuzz.search import Search, SearchLimits
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason
from tests.conftest import IMPORTS_TESTS


def plain(count: int) -> list[Trial]:
    """Valid cases of Split-1 that have nothing but shapes and values."""
    drawn = (draw for draw in Draws(OPERATIONS["Split-1"], 0) if draw.twin is None and not parts(draw.draft))
    return list(islice(drawn, count))


def failure(trial: Trial, reason: FailReason = "value", cause: str = "") -> Failure:
    """A failure of a trial."""
    result = Result(
        id=trial.draft.id, profile="fuzz", expect="accept", verdict="fail", reason=reason, broken=("data.bits",)
    )
    return Failure(trial=trial, result=result, symptom=("wrong data", reason, cause), causes=frozenset({cause} - {""}))


#: What a trial that does not fail gives.
PASSED = Result(id="Split-1/fuzz/0123456789", profile="fuzz", expect="accept", verdict="pass")


def search_of(*finds: FuzzFinding, earlier: tuple[Trial, ...] = ()) -> Search:
    """A search that ended before the failures were reduced."""
    search = Search(
        batches=Batches(Launch(command=backend_command("numpy")), Path(), Options()),
        limits=SearchLimits(),
        earlier=earlier,
    )
    for find in finds:
        search._note(find)
    return search


def digits_of(search: Search) -> list[str]:
    """The cases that a search reports."""
    return [hit.failure.trial.draft.digits for hit in search.found.values()]


def test_one_of_several_failures_that_were_not_reduced_is_reported() -> None:
    """The simplest, although none of them needs fewer parts than the others."""
    first, second = plain(2)
    search = search_of(FuzzFinding(failure=failure(first)), FuzzFinding(failure=failure(second)))

    assert digits_of(search) == [search.seen[failure(first).sign][0].failure.trial.draft.digits]


def test_invalid_cases_that_are_accepted_are_one_fault() -> None:
    """The worst is reported: outputs that are larger than the inputs show a read out of bounds."""
    first, second = plain(2)
    accepted, memory = failure(first, "accepted-invalid"), failure(second, "accepted-invalid")
    worse = replace(memory.result, sentence=OUT_OF_BOUNDS)
    memory = replace(memory, result=worse, symptom=("memory", "accepted-invalid", "Read past the end"))
    search = search_of(*(FuzzFinding(failure=x, is_reduced=True) for x in (accepted, memory)))

    assert digits_of(search) == [second.draft.digits]


def of_type(trial: Trial, element_type: str, *names: str) -> Trial:
    """A trial with data of another type; inputs with some names are constants."""
    draft = trial.draft
    data = replace(draft.tensors["data"], element_type=element_type)
    binding: dict[str, Binding] = {**draft.binding, **dict.fromkeys(names, "constant")}
    return Trial(draft=replace(draft, tensors={**draft.tensors, "data": data}, binding=binding))


def reduced(trial: Trial, reason: FailReason, said: str = "", broken: str = "data.bits") -> FuzzFinding:
    """A find that was reduced, with one likely cause or a signal."""
    found = failure(trial, reason, said)
    result = replace(found.result, broken=(broken,))
    severity = "crash" if reason == "crash" else "wrong data"
    found = replace(found, result=result, symptom=(severity, reason, said))
    return FuzzFinding(failure=found, is_reduced=True)


def test_a_conversion_is_one_fault_in_data_of_any_width() -> None:
    """Other causes are not; nor is one that needs a constant, beside one that needs none."""
    first, second = plain(2)
    wide, narrow = (of_type(x, name, "data") for x, name in ((first, "i64"), (second, "u32")))

    def reported(one: str, other: str) -> int:
        return len(search_of(reduced(wide, "value", one), reduced(narrow, "value", other)).found)

    assert reported("Clamped to the range of i32", "Clamped to the range of i32") == 1
    assert reported("Shifted", "Shifted") == 2
    assert reported("Clamped to the range of i32", "Truncated to 32 bits and read as i32") == 2


def test_nans_that_change_with_other_numbers_are_no_other_fault() -> None:
    """They break another requirement, for the same reason."""
    first, second = (of_type(x, "f64") for x in plain(2))
    cause = "Converted through f32"
    value = reduced(first, "value", cause)

    assert len(search_of(value, reduced(second, "nan-payload", cause, "data.nan-payload")).found) == 1
    assert len(search_of(value, reduced(second, "nan-payload", "Other", "data.nan-payload")).found) == 2


def test_one_changed_nan_is_reported_once() -> None:
    """A reduction may keep a part by chance: random data are others without it."""
    first, second = (of_type(x, "f16") for x in plain(2))
    quiet = ("nan-payload", "Signalling NaNs became quiet", "data.nan-payload")
    more = of_type(second, "f16", "data")

    assert len(search_of(reduced(first, *quiet), reduced(more, *quiet)).found) == 1  # type: ignore[arg-type]


def test_a_crash_of_an_invalid_case_may_be_that_of_a_valid_one() -> None:
    """If it needs the same elements; not if the valid case needs nothing, or other signals end the process."""
    first, second = plain(2)

    def reported(valid: str, invalid: str, signal: str = "SIGSEGV") -> int:
        wrong = replace(of_type(second, invalid), twin=second.draft)
        crash = reduced(wrong, "crash", signal, "axis.range")
        return len(search_of(reduced(of_type(first, valid), "crash", "SIGABRT"), crash).found)

    assert reported("string", "string") == 1
    assert reported("u4", "string") == 2
    assert reported("f32", "string") == 2
    assert reported("string", "string", "SIGFPE") == 2


def test_the_crashes_of_invalid_cases_that_break_one_requirement_are_one_fault() -> None:
    """A read out of bounds ends the process or not, and by one signal or another; other requirements are others."""
    first, second = plain(2)
    needs_more = of_type(second, "f32", "data")

    def reported(requirement: str) -> int:
        finds = [
            reduced(replace(x, twin=other.draft), "crash", signal, broken)
            for x, other, signal, broken in (
                (first, second, "SIGSEGV", "lengths.remainder-sum"),
                (needs_more, first, "SIGBUS", requirement),
            )
        ]
        return len(search_of(*finds).found)

    assert reported("lengths.remainder-sum") == 1
    assert reported("lengths.negative") == 2


def test_a_crash_that_needs_more_parts_is_a_fault_of_its_own() -> None:
    """Constants are folded by other code."""
    first, second = plain(2)
    crashes = [reduced(of_type(first, "u4"), "crash", "SIGABRT")]
    crashes.append(reduced(of_type(second, "u4", "data"), "crash", "SIGABRT"))

    assert len(search_of(*crashes).found) == 2


def test_a_case_is_reported_once() -> None:
    """Even if it failed with two symptoms; the group of a case is in a spec once."""
    [trial] = plain(1)
    search = search_of(FuzzFinding(failure=failure(trial)), FuzzFinding(failure=failure(trial, "nondeterministic")))

    assert digits_of(search) == [trial.draft.digits]


def test_a_case_of_an_earlier_search_is_not_new() -> None:
    """Even if it passed when it was tested again, and failed later in this search."""
    [trial] = plain(1)

    assert digits_of(search_of(FuzzFinding(failure=failure(trial)), earlier=(trial,))) == []


def test_a_failure_that_was_not_reduced_is_known_if_a_known_one_needs_no_more() -> None:
    """It probably has the same fault."""
    first, second = plain(2)
    search = search_of(FuzzFinding(failure=failure(second)))
    known = FuzzFinding(failure=failure(first))
    search.known = {known.key: known}

    assert digits_of(search) == []


def confirmed(drawn: Failure, reduced: Trial, *recurring: Failure) -> list[FuzzFinding]:
    """The finds that are left of a failure whose reduced case may recur, as may the case that was drawn."""
    search = search_of(FuzzFinding(failure=drawn))
    found = {x.trial.draft.digits: x for x in recurring}
    search.batches.outcomes = lambda given, *_, **__: (  # type: ignore[method-assign]
        found.get(x.draft.digits, PASSED) for x in given
    )
    search._confirm([FuzzFinding(failure=replace(drawn, trial=reduced), is_reduced=True)])
    assert search.unsettled == (not search.found)
    return [*search.found.values()]


def test_a_failure_is_reported_only_if_it_recurs() -> None:
    """With the reduced case, or else with the case as it was drawn; another bug does not count."""
    first, second = plain(2)
    drawn, reduced, other = failure(first), failure(second), failure(second, "shape")

    assert confirmed(drawn, second, drawn, reduced) == [
        FuzzFinding(failure=reduced, is_reduced=True, is_confirmed=True)
    ]
    assert confirmed(drawn, second, drawn, other) == [FuzzFinding(failure=drawn, is_confirmed=True)]
    assert confirmed(drawn, second) == []


def rejected(trial: Trial, message: str) -> Failure:
    """The failure of a valid case that is rejected with a message."""
    return failure(trial, "rejected-valid", message)


def test_a_rejection_recurs_whatever_its_message_is() -> None:
    """A message that varies tells nothing about the bug."""
    first, _ = plain(2)
    [found] = confirmed(rejected(first, "at noon"), first, rejected(first, "at night"))

    assert (found.failure.trial, found.failure.symptom[2], found.is_confirmed) == (first, "", True)


def test_messages_that_vary_from_case_to_case_are_one_fault() -> None:
    """Rather than one fault per case."""
    trials = plain(80)
    search = search_of(*(FuzzFinding(failure=rejected(trial, trial.draft.digits)) for trial in trials))

    [found] = search.found.values()
    assert found.failure.trial.draft == min((trial.draft for trial in trials), key=cost)


def outcomes_in_turn(search: Search, *outcomes: object) -> None:
    """Let each trial of a search end in one of these ways after the other, again and again."""
    turns = cycle(outcomes)
    search.batches.outcomes = lambda given, *_, **__: [  # type: ignore[assignment,method-assign]
        replace(each, trial=one) if isinstance(each := next(turns), Failure) else each for one in given
    ]


def test_a_backend_that_flips_a_coin_has_one_fault() -> None:
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


def test_each_find_is_written_when_it_is_confirmed(tmp_path: Path) -> None:
    """A search that is killed then loses only the others; each group is written once."""
    first, second = plain(2)
    finds = [FuzzFinding(failure=failure(first)), FuzzFinding(failure=failure(second, "shape"))]
    search = search_of(*finds)
    written: list[int] = []

    def write() -> None:
        write_findings(search.confirmed, tmp_path)
        written.append((tmp_path / "Split-1.yaml").read_text().count("- id: fuzz-"))

    search.batches.outcomes = lambda given, *_, **__: (  # type: ignore[method-assign]
        failure(x, "value" if x == first else "shape") for x in given
    )
    with mock.patch.object(search, "_seconds", 3_600.0):
        search.on_finding = write
        search._confirm(finds)
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
    """The number of failures whose reduction has ended; the rest is their confirmation."""
    [trial] = plain(1)
    search = search_of(FuzzFinding(failure=failure(trial)))
    search.batches.outcomes = lambda *_, **__: iter([PASSED])  # type: ignore[method-assign]
    calls: list[tuple[float, int]] = []
    search.reduce(lambda *call: calls.append(call))

    assert calls[0] == (0.0, 0)
    assert calls[-1] == (1.0, 1)


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

    [[finds]] = (call.args for call in confirm.mock_calls)
    assert len({*executed}) == len(executed)
    assert len({find.failure.trial.draft.digits for find in finds}) == 1
    assert all(find.is_reduced for find in finds)


def test_trials_of_several_operations_alternate() -> None:
    """However many are drawn at once, until all streams have ended."""
    first, second, third = plain(3)

    assert [*mixed([iter([first, second]), iter([third])])] == [first, third, second]


def test_batches_drawn_ahead_have_the_trials_of_the_seed(tmp_path: Path) -> None:
    """The rest is in the last one."""
    with supply(["Split-1"], 5, 130, tmp_path, Options()) as batches:
        given = [[trial.draft for trial in batch.trials] for batch in batches]

    drafts = [draw.draft for draw in islice(Draws(OPERATIONS["Split-1"], 5), 130)]
    assert given == [drafts[:100], drafts[100:]]


def test_a_search_ends_if_nothing_is_left_to_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an operation of which nothing valid is drawn."""
    monkeypatch.setattr("opconform_runners.tools.fuzz.cases.draws.PATIENCE", 0)
    drawing = begin(["Split-1"], 0, tmp_path, Options())

    assert drawing(100) is None


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
    search.batches.drawn = lambda *_: nullcontext([plain(1)])  # type: ignore[method-assign]
    search.batches.start = lambda: None  # type: ignore[method-assign]
    search.batches.outcomes = lambda *_, **__: iter([error, error])  # type: ignore[method-assign]
    search.run(["Split-1"], lambda *_: None)

    assert list(lines_of(search, tmp_path, "numpy")) == [
        "error: Split-1: KeyError: lost; with data f32[2]",
        "2 cases tested: 2 error. 0 new findings.",
    ]


def test_a_failure_that_was_not_executed_again_is_marked(tmp_path: Path) -> None:
    """Ctrl-C ends a search before its failures are confirmed."""
    [trial] = plain(1)
    lines = [*lines_of(search_of(FuzzFinding(failure=failure(trial))), tmp_path, "numpy")]

    assert lines[3].startswith("     after 0 cases, 0 s, executed only once; group fuzz-")


def test_the_bindings_of_a_twin_are_written_in_full() -> None:
    """They override those of the case name by name."""
    [trial] = [draw for draw in islice(Draws(OPERATIONS["Split-1"], 0), 40) if draw.twin is not None][:1]
    fed = replace(trial.draft, binding={"data": "parameter", "axis": "parameter"})
    usual = replace(trial.draft, binding={"data": "parameter", "axis": "constant"})

    assert group_of(Trial(draft=fed, twin=usual), "found")["twin"]["binding"] == usual.binding


def test_wrong_elements_that_differ_in_their_looks_are_one_fault() -> None:
    """Which elements a case has decides how they look."""
    first, second = plain(2)
    zeros, rest = failure(first, cause="Negative zero became positive zero"), failure(second)

    assert len(search_of(*(FuzzFinding(failure=x, is_reduced=True) for x in (zeros, rest))).found) == 1


def test_failures_of_one_cause_are_one_fault_if_one_needs_no_more_than_the_other() -> None:
    """Which values are drawn decides what can be left out of a case."""
    first, second = plain(2)
    second = Trial(draft=replace(second.draft, context="shared"))
    cut, again = failure(first, cause="Truncated to 32 bits"), failure(second, cause="Truncated to 32 bits")
    unknown = failure(second, cause="")

    def found(*failures: Failure) -> int:
        return len(search_of(*(FuzzFinding(failure=f, is_reduced=True) for f in failures)).found)

    assert (found(cut, again), found(cut, unknown)) == (1, 2)


def test_a_folded_model_needs_its_constants_alone() -> None:
    """The same fault occurs where the data of a bare model is constant."""
    [trial] = plain(1)
    folded = replace(trial.draft, binding={"data": "constant", "axis": "constant"}, context="folded")

    assert parts(folded) == ("data as a constant",)
