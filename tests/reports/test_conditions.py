"""The conditions that separate failing cases from passing ones, and the facts that they are made of."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform_runners.reports import explanations
from opconform_runners.reports.conditions import conditions_of
from opconform_runners.verdicts.results import Result
from tests.conftest import MINIATURES, Run

CASES = st.dictionaries(
    st.integers(0, 99).map(str), st.tuples(st.booleans(), st.frozensets(st.sampled_from("abcdefgh"))), min_size=1
)


@given(CASES)
def test_no_passing_case_meets_a_condition(cases: dict[str, tuple[bool, frozenset[str]]]) -> None:
    """And all cases that it counts fail, with at most three facts."""
    facts = {name: held for name, (_, held) in cases.items()}
    failing, passing = ([name for name, (fails, _) in cases.items() if fails is wanted] for wanted in (True, False))
    for each in conditions_of(failing, failing, passing, facts):
        meets = [name for name, held in facts.items() if held.issuperset(each.facts)]
        assert 1 <= len(each.facts) <= 3
        assert len(meets) == each.failing
        assert set(meets) <= set(failing)
        assert (each.passing, each.others) == (len(passing), len(facts) - len(meets))


def numbered(prefix: str, number: int, *facts: str) -> dict[str, frozenset[str]]:
    """So many cases with some facts, and one fact each that no other case has."""
    return {f"{prefix}{each}": frozenset((*facts, f"{prefix}{each} is its own")) for each in range(number)}


@pytest.mark.parametrize(
    ("failing", "passing", "expected"),
    [
        ({"a": ["u2"]}, {"b": ["u8"]}, [("u2",)]),
        ({"a": ["u2", "folded"]}, {"b": ["u2"], "c": ["folded"]}, [("folded", "u2")]),
        ({"a": ["u2"], "b": ["i64"]}, {"c": ["u8"]}, [("i64",), ("u2",)]),
        ({"a": ["u2"]}, {"b": ["u2"]}, []),
    ],
    ids=["one fact", "two facts", "two conditions", "none"],
)
def test_the_fewest_facts_that_separate_are_found(
    failing: dict[str, list[str]], passing: dict[str, list[str]], expected: list[tuple[str, ...]]
) -> None:
    """Where groups of ten cases have them."""
    wrong = {name: held for prefix, facts in failing.items() for name, held in numbered(prefix, 10, *facts).items()}
    right = {name: held for prefix, facts in passing.items() for name, held in numbered(prefix, 40, *facts).items()}
    found = conditions_of([*wrong], [*wrong], [*right], wrong | right)
    assert sorted(tuple(sorted(each.facts)) for each in found) == expected


def test_a_condition_for_few_cases_is_chance() -> None:
    """Of a thousand facts, some are in two failing cases alone by chance."""
    wrong = {name: frozenset((name, "rare")) for name in ("a", "b")}
    right = numbered("c", 10)
    assert conditions_of([*wrong], [*wrong], [*right], wrong | right) == ()


def test_the_symptom_of_a_long_message_is_its_beginning() -> None:
    """Whatever a backend says; words that a pattern may take for parts of a path are no exception."""
    said = Result(
        id="Split-1/a/0123456789",
        profile="core",
        expect="accept",
        verdict="fail",
        reason="rejected-valid",
        message="a" * 10**6,
    )
    assert explanations.symptom_of(said, "") == ("rejected-valid", "rejected-valid", "a" * 80)


def test_a_run_says_when_its_cases_fail(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """In the summary and on the page, with how many cases fail and pass."""
    backend = f"{MINIATURES}:QuietsNans"
    done = opconform("run", core_suite, "--backend", backend, "-k", "Split-1/*", "--out", tmp_path, code=1)
    opconform("report", tmp_path, "--suite", core_suite, code=1)

    [said] = re.findall(
        r"\n  when +(all \d+ valid cases where data has NaNs fail; \d+ of the \d+ others pass)\n", done.stdout
    )
    assert said in opconform("report", tmp_path, "-v", "--suite", core_suite, code=1).stdout
    assert f"<dt>When</dt><dd>{said}</dd>" in (tmp_path / "report.html").read_text()
