"""The dates of failures, from the verdicts of several releases."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from opconform.suite.manifest import RequirementNote
from opconform_runners.backends.backend import Implementation
from opconform_runners.findings.history import (
    MOST,
    ODDS,
    History,
    Interval,
    Release,
    State,
    Trials,
    intervals,
    span,
)
from opconform_runners.findings.report import Report
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.run_header import SuiteNote

STATES: Mapping[str, State] = {"g": "good", "b": "bad", ".": "unknown"}
FIRST, SECOND = "Split-1/group/0000000001", "Split-1/group/0000000002"


def states(text: str) -> dict[str, State]:
    """The state of a case in the releases that are numbered from 1."""
    return {str(number): STATES[letter] for number, letter in enumerate(text, 1)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gggg", ()),
        ("", ()),
        ("ggbb", (Interval(last_good="2", first_bad="3", last_bad="4", fails_now=True),)),
        ("bbbb", (Interval(first_bad="1", last_bad="4", fails_now=True),)),
        ("gbbg", (Interval(last_good="1", first_bad="2", last_bad="3", first_good="4"),)),
        ("g.b.", (Interval(last_good="1", first_bad="3", last_bad="3"),)),
        ("gb.bg", (Interval(last_good="1", first_bad="2", last_bad="4", first_good="5"),)),
        ("b..g", (Interval(first_bad="1", last_bad="1", first_good="4"),)),
        (
            "gbgb",
            (
                Interval(last_good="1", first_bad="2", last_bad="2", first_good="3"),
                Interval(last_good="3", first_bad="4", last_bad="4", fails_now=True),
            ),
        ),
    ],
)
def test_a_case_fails_in_intervals(text: str, expected: tuple[Interval, ...]) -> None:
    """A release in which it neither passes nor fails is not the date of anything."""
    assert intervals(states(text)) == expected


def test_an_interval_is_said_with_what_is_known_of_its_ends() -> None:
    """It is not said that a case passed in a release that does not execute it."""
    assert [span(x) for text in ("gb", "bb", "gbg", "bg", "gb.") for x in intervals(states(text))] == [
        "since 2 (last good 1)",
        "since 1 or before",
        "since 2 (last good 1), mended in 3",
        "since 1 or before, mended in 2",
        "since 2 (last good 1), unknown after 2",
    ]


@pytest.mark.parametrize(
    ("trials", "needed"),
    [
        (Trials(failed=20), 2),
        (Trials(failed=10), 3),
        (Trials(failed=2), 7),
        (Trials(failed=5, passed=5), 10),
        (Trials(failed=1, passed=99), MOST),
    ],
)
def test_a_case_that_fails_more_seldom_is_repeated_more_often(trials: Trials, needed: int) -> None:
    """Until a release that has the fault would pass by chance in one of a hundred cases."""
    assert trials.needed() == needed
    assert needed == MOST or trials.odds(needed) < ODDS <= trials.odds(needed - 1)


@cache
def result(case: str, verdict: str) -> Result:
    """A case that passes, fails, crashes, differs, or is unsupported."""
    plain = Result(id=case, profile="core", expect="accept", verdict="pass", requirements=("axis.range",))
    reasons = {"fail": "value", "crash": "crash", "differs": "nondeterministic"}
    if verdict in reasons:
        return replace(plain, verdict="fail", reason=reasons[verdict], broken=("axis.range",))  # type: ignore[arg-type]
    return replace(plain, verdict=verdict)  # type: ignore[arg-type]


def report(*results: Result) -> Report:
    """The report of some results."""
    return Report(
        suite=SuiteNote(digest="0" * 64, version="1", generator="1", seed=0),
        implementation=Implementation(name="some", version="1", element_types=(), dynamic=True, bindings=()),
        notes={"Split-1": {"axis.range": RequirementNote(level="normative", text="in range", profiles=("core",))}},
        results=results,
        whole=True,
        strict=False,
    )


def history(verdicts: Mapping[str, str], repeats: Mapping[str, Trials] | None = None) -> History:
    """A history of releases 1, 2, … with a word per case and release, and repetitions of the first case."""
    words = {case: text.split() for case, text in verdicts.items()}
    releases = (
        Release(
            version=str(number + 1), report=report(*(result(case, of_case[number]) for case, of_case in words.items()))
        )
        for number in range(len(words[FIRST]))
    )
    return History(product="some", releases=tuple(releases), repeats={FIRST: repeats or {}})


def test_changes_are_counted_in_the_release_that_has_them() -> None:
    """What the oldest release fails is not new in it."""
    found = history({FIRST: "pass fail fail pass", SECOND: "fail fail unsupported pass"})

    assert found.changes == {"1": (0, 0), "2": (1, 0), "3": (0, 0), "4": (0, 2)}


def test_a_finding_is_divided_by_the_dates_of_its_cases() -> None:
    """Failures of one kind that began in different releases are different faults."""
    found = history({FIRST: "pass fail fail", SECOND: "fail fail fail"}).findings

    assert [(x.interval.first_bad, [case.id for case in x.shown.results]) for x in found] == [
        ("2", [FIRST]),
        ("1", [SECOND]),
    ]
    assert [dict(x.counts) for x in found] == [
        {"1": (0, 1), "2": (1, 1), "3": (1, 1)},
        {"1": (1, 1), "2": (1, 1), "3": (1, 1)},
    ]


def test_what_ended_before_is_a_finding_too() -> None:
    """The newest that ended comes first."""
    found = history({FIRST: "pass fail pass pass", SECOND: "pass pass fail pass"}).findings

    assert [span(x.interval) for x in found] == [
        "since 3 (last good 2), mended in 4",
        "since 2 (last good 1), mended in 3",
    ]


@pytest.mark.parametrize(
    ("verdicts", "repeats", "doubts"),
    [
        ("pass fail fail", {}, []),
        ("pass crash crash", {}, [("1", FIRST, 3)]),
        ("pass crash pass", {}, [("1", FIRST, 6), ("3", FIRST, 6)]),
        ("pass crash crash", {"1": Trials(passed=3)}, []),
        ("pass pass crash", {"2": Trials(failed=1, passed=1)}, [("1", FIRST, 9)]),
        ("pass crash crash", {"1": Trials(neither=1)}, []),
        ("pass differs unsupported", {"1": Trials(passed=MOST)}, []),
    ],
)
def test_a_release_beside_an_unsteady_failure_is_doubted(
    verdicts: str, repeats: Mapping[str, Trials], doubts: list[tuple[str, str, int]]
) -> None:
    """Until it was asked often enough, and not where the failure is steady."""
    assert [*history({FIRST: verdicts}, repeats).doubts()] == doubts


def test_a_release_that_fails_when_it_is_asked_again_is_bad() -> None:
    """And one that was asked as often as is tried without an answer that is sure enough is unknown."""
    bad = history({FIRST: "pass pass crash"}, {"2": Trials(failed=1)})
    unsure = history({FIRST: "pass differs differs"}, {"1": Trials(passed=MOST), "3": Trials(passed=MOST)})

    assert [x.first_bad for x in bad.intervals[FIRST]] == ["2"]
    assert unsure.states(FIRST) == {"1": "unknown", "2": "bad", "3": "bad"}


def test_a_case_that_fails_in_repetitions_alone_is_a_finding() -> None:
    """The release that fails it passed it when it was run."""
    [found] = history({FIRST: "pass pass"}, {"2": Trials(failed=1, passed=3)}).findings

    assert (found.shown.finding.severity, found.shown.smallest.sentence) == (
        "nondeterministic",
        "failed 1 of 5 executions",
    )
    assert span(found.interval) == "since 2 (last good 1)"


def test_executions_that_differ_make_a_case_unsteady() -> None:
    """Although its verdict is that of a steady failure: the third execution settled it."""
    plain = history({FIRST: "pass fail"})
    releases = (plain.releases[0], replace(plain.releases[1], executed={FIRST: Trials(failed=2, passed=1)}))

    assert [*replace(plain, releases=releases).doubts()] == [("1", FIRST, 10)]
