"""Which failures of a search are one finding."""

from dataclasses import replace
from pathlib import Path

from opconform_runners.tools.fuzz.batch import Failure
from opconform_runners.tools.fuzz.cases.simplicity import cost
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.findings_folder import lines_of
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS
from tests.tools.fuzz_failures import (
    digits_of,
    failure,
    of_type,
    plain,
    reduced,
    rejected,
    search_of,
)


def test_one_of_several_failures_that_were_not_reduced_is_reported() -> None:
    """The simplest, although none of them needs fewer parts than the others."""
    first, second = plain(2)
    search = search_of(FuzzFinding(failure=failure(first)), FuzzFinding(failure=failure(second)))

    assert digits_of(search) == [search.seen[failure(first).sign][0].failure.trial.draft.digits]


def test_invalid_cases_that_are_accepted_are_one_finding() -> None:
    """The worst is reported: outputs that are larger than the inputs show a read out of bounds."""
    first, second = plain(2)
    accepted, memory = failure(first, "accepted-invalid"), failure(second, "accepted-invalid")
    worse = replace(memory.result, sentence=OUT_OF_BOUNDS)
    memory = replace(memory, result=worse, symptom=("memory", "accepted-invalid", "Read past the end"))
    search = search_of(*(FuzzFinding(failure=x, is_reduced=True) for x in (accepted, memory)))

    assert digits_of(search) == [second.draft.digits]


def test_a_conversion_is_one_finding_in_data_of_any_width() -> None:
    """Other causes are not; nor is one that needs a constant, beside one that needs none."""
    first, second = plain(2)
    wide, narrow = (of_type(x, name, "data") for x, name in ((first, "i64"), (second, "u32")))

    def reported(one: str, other: str) -> int:
        return len(search_of(reduced(wide, "value", one), reduced(narrow, "value", other)).found)

    assert reported("Clamped to the range of i32", "Clamped to the range of i32") == 1
    assert reported("Shifted", "Shifted") == 2
    assert reported("Clamped to the range of i32", "Truncated to 32 bits and read as i32") == 2


def test_nans_that_change_with_other_numbers_are_no_other_finding() -> None:
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


def test_the_crashes_of_invalid_cases_that_break_one_requirement_are_one_finding() -> None:
    """A read out of bounds ends the process or not, and by one signal or another; other requirements are others."""
    first, second = plain(2)
    needs_more = of_type(second, "f32", "data")

    def reported(requirement: str) -> int:
        findings = [
            reduced(replace(x, twin=other.draft), "crash", signal, broken)
            for x, other, signal, broken in (
                (first, second, "SIGSEGV", "lengths.remainder-sum"),
                (needs_more, first, "SIGBUS", requirement),
            )
        ]
        return len(search_of(*findings).found)

    assert reported("lengths.remainder-sum") == 1
    assert reported("lengths.negative") == 2


def test_a_crash_that_needs_more_parts_is_a_finding_of_its_own() -> None:
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


def test_messages_that_vary_from_case_to_case_are_one_finding() -> None:
    """Rather than one fault per case."""
    trials = plain(65)
    search = search_of(*(FuzzFinding(failure=rejected(trial, trial.draft.digits)) for trial in trials))

    [found] = search.found.values()
    assert found.failure.trial.draft == min((trial.draft for trial in trials), key=cost)


def test_a_failure_that_was_not_executed_again_is_marked(tmp_path: Path) -> None:
    """Ctrl-C ends a search before its failures are confirmed."""
    [trial] = plain(1)
    lines = [*lines_of(search_of(FuzzFinding(failure=failure(trial))), tmp_path, "numpy")]

    assert lines[3].startswith("     after 0 cases, 0 s, executed only once; group fuzz-")


def test_operations_with_too_few_cases_to_tell_are_not_reached(tmp_path: Path) -> None:
    """A longer search may test them. Others, of which many cases neither passed nor failed, it would not test either."""
    search = search_of()
    search.executed.update({"Split-1": 16, "Gelu-7": 15, "Tile-1": 16})
    search.decided.update({"Split-1": 1})

    assert [*lines_of(search, tmp_path, "numpy", ["Split-1", "Gelu-7", "Tile-1", "Pad-1"])][1:] == [
        "Not reached in this time: Gelu-7, Pad-1.",
        "Not tested, because no case passed or failed: Tile-1.",
    ]


def test_wrong_elements_that_differ_in_their_looks_are_one_finding() -> None:
    """Which elements a case has decides how they look."""
    first, second = plain(2)
    zeros, rest = failure(first, cause="Negative zero became positive zero"), failure(second)

    assert len(search_of(*(FuzzFinding(failure=x, is_reduced=True) for x in (zeros, rest))).found) == 1


def test_failures_of_one_cause_are_one_finding_if_one_needs_no_more_than_the_other() -> None:
    """Which values are drawn decides what can be left out of a case."""
    first, second = plain(2)
    second = Trial(draft=replace(second.draft, context="shared"))
    cut, again = failure(first, cause="Truncated to 32 bits"), failure(second, cause="Truncated to 32 bits")
    unknown = failure(second, cause="")

    def found(*failures: Failure) -> int:
        return len(search_of(*(FuzzFinding(failure=f, is_reduced=True) for f in failures)).found)

    assert (found(cut, again), found(cut, unknown)) == (1, 2)
