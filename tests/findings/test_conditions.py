"""The conditions that separate failing cases from passing ones."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.suite.reader import open_suite
from opconform_runners.findings.causes.alternatives import fact_kind_of
from opconform_runners.findings.causes.fact import Fact
from opconform_runners.findings.grouping import with_findings
from opconform_runners.findings.symptom import symptom_of
from opconform_runners.reports.report_file import finished
from opconform_runners.verdicts.results import Result
from tests.conftest import MINIATURES, Run
from tests.findings.words import conditions_in
from tests.result_files import cases_in

TYPES = ["data is u2", "data is nf4", "data is u4", "the operation is Split-1", "the operation is Slice-8"]
CASES = st.lists(st.tuples(st.booleans(), st.frozensets(st.sampled_from([*"abcdefgh", *TYPES]))), max_size=99)


@given(CASES)
def test_no_passing_case_meets_a_condition(cases: list[tuple[bool, frozenset[str]]]) -> None:
    """And some failing case does."""
    facts = [held for _, held in cases]
    for condition in conditions_in(facts, ["wrong" if fails else "" for fails, _ in cases]):
        meets = [fails for fails, held in cases if all(held.intersection(some) for some in condition)]
        assert 1 <= len(condition) <= 4
        assert meets
        assert all(meets)


def numbered(prefix: str, number: int, *facts: str) -> list[frozenset[str]]:
    """So many cases with some facts, and one fact each that no other case has."""
    return [frozenset((*facts, f"{prefix}{index} is its own")) for index in range(number)]


@pytest.mark.parametrize(
    ("failing", "passing", "expected"),
    [
        ({"a": ["big"]}, {"b": ["small"]}, [[("big",)]]),
        ({"a": ["big", "folded"]}, {"b": ["big"], "c": ["folded"]}, [[("big",), ("folded",)]]),
        ({"a": ["big"], "b": ["empty"]}, {"c": ["small"]}, [[("big",)], [("empty",)]]),
        ({"a": ["big"]}, {"b": ["big"]}, []),
        (
            {"a": ["x", "data is u2"], "b": ["x", "data is nf4"]},
            {"c": ["x", "data is u4"], "d": ["data is u2"], "e": ["data is nf4"]},
            [[("data is u2", "data is nf4"), ("x",)]],
        ),
        (
            {"a": ["data is u2", TYPES[3]], "b": ["data is nf4", TYPES[4]], "c": ["data is u2", TYPES[4]], "f": ["data is nf4", TYPES[3]]},
            {"d": ["data is u4", TYPES[3]], "e": ["data is nf4"], "g": ["data is u2"], "h": [TYPES[3]], "i": ["data is u4", TYPES[4]]},
            [[("data is u2", "data is nf4"), ("the operation is Slice-8", "the operation is Split-1")]],
        ),
        (
            {"a": ["x", "pad_mode is 'edge'"], "b": ["x", "pad_mode is 'reflect'"]},
            {"c": ["x", "pad_mode is 'constant'"], "d": ["pad_mode is 'edge'"], "e": ["pad_mode is 'reflect'"]},
            [[("pad_mode is 'edge'", "pad_mode is 'reflect'"), ("x",)]],
        ),
    ],
    ids=["one fact", "two facts", "two conditions", "none", "alternatives", "alternatives of two kinds", "values"],
)  # fmt: skip
def test_the_fewest_facts_that_separate_are_found(
    failing: dict[str, list[str]], passing: dict[str, list[str]], expected: list[list[tuple[str, ...]]]
) -> None:
    """Where groups of ten cases have them."""
    wrong = [x for prefix, facts in failing.items() for x in numbered(prefix, 10, *facts)]
    right = [x for prefix, facts in passing.items() for x in numbered(prefix, 40, *facts)]
    found = conditions_in([*wrong, *right], ["wrong"] * len(wrong) + [""] * len(right))
    assert sorted(sorted(tuple(sorted(some, reverse="u" in some[0])) for some in hit) for hit in found) == expected


def test_of_equal_conditions_the_one_whose_facts_rule_out_most_passing_cases_is_found() -> None:
    """Beside `big`, `odd` rules out one passing case, and `cause` many."""
    wrong = numbered("a", 10, "big", "odd", "cause")
    right = [*numbered("b", 20, "big"), *numbered("c", 1, "odd", "cause"), *numbered("d", 20, "cause")]
    found = conditions_in([*wrong, *right], ["wrong"] * 10 + [""] * len(right))
    assert found == ((("big",), ("cause",)),)


def test_of_equal_conditions_the_one_that_is_least_likely_by_chance_is_found() -> None:
    """Beside `big`, `odd` and `cause` rule out the same five cases, but most cases have `odd`."""
    wrong = numbered("a", 30, "big", "odd", "cause")
    right = [*numbered("b", 5, "big"), *numbered("c", 60, "odd"), *numbered("d", 10, "cause")]
    found = conditions_in([*wrong, *right], ["wrong"] * 30 + [""] * len(right))
    assert found == ((("big",), ("cause",)),)


def test_a_condition_names_no_alternatives_whose_cases_others_explain() -> None:
    """`big` explains the cases of u2; those of nf4 and u4 are left for the second condition."""
    wrong = [*numbered("a", 30, "big"), *numbered("b", 9, "big", "x", TYPES[0])]
    wrong += [*numbered("c", 9, "x", TYPES[1]), *numbered("d", 9, "x", TYPES[2])]
    right = [*numbered("e", 40, "x"), *(x for kind in TYPES[:3] for x in numbered(kind, 40, kind))]
    found = conditions_in([*wrong, *right], ["wrong"] * len(wrong) + [""] * len(right))
    assert [{*map(frozenset, hit)} for hit in found] == [
        {frozenset({"big"})},
        {frozenset({"x"}), frozenset(TYPES[1:3])},
    ]


def test_no_fact_of_a_condition_is_needless() -> None:
    """Also among more facts than conditions are compared."""
    held = [f"fact {index}" for index in range(30)]
    wrong, right = (
        numbered("a", 20, "one of the two", "the other one", *held),
        numbered("b", 9, "one of the two", *held),
    )
    right += [x for one in held for x in numbered(one, 2, one, "the other one")]
    [found] = conditions_in([*wrong, *right], ["wrong"] * 20 + [""] * len(right))
    assert found == (("the other one",), ("one of the two",))


def test_a_condition_for_few_cases_is_chance() -> None:
    """Of a thousand facts, some are in two failing cases alone by chance."""
    wrong = [*numbered("a", 1, *(f"rare {index}" for index in range(500))), *numbered("b", 1, "rare 0")]
    assert conditions_in([*wrong, *numbered("c", 10)], ["wrong"] * 2 + [""] * 10) == ()


def test_where_every_case_fails_there_is_nothing_to_compare() -> None:
    """No condition separates failing cases from none."""
    facts = [*numbered("a", 9, "data is u2", TYPES[3]), *numbered("b", 9, "data is nf4", TYPES[4])]
    assert conditions_in(facts, [*["wrong"] * 9, *["rejected"] * 9]) == ()


def test_the_example_of_the_search_is_true() -> None:
    """The pair explains 20 failures of 80 cases with one symptom, and would not explain two of them."""
    seen = [f"data is {name}" for name in ("i4", "i8", "u8", "f16", "bf16", "f32", "f64")]
    pair = ["data is u4", "axis is given at run time"]
    wrong = [
        [*pair, *seen[: number % 8], *(["a shape is known only at run time"] * (number % 2))] for number in range(20)
    ]
    right = [[pair[0], seen[number % 7]] for number in range(5)] + [[pair[1], *seen] for _ in range(30)]
    right += [seen for _ in range(25)]

    assert conditions_in([*wrong, *right], ["wrong"] * 20 + [""] * 60) == (
        (("axis is given at run time",), ("data is u4",)),
    )
    assert conditions_in([*wrong[:2], *right], ["wrong"] * 2 + [""] * 60) == ()


def test_a_violated_requirement_is_no_chance() -> None:
    """Each invalid case violates exactly one."""
    wrong, right = numbered("a", 3, "x.y is violated"), numbered("b", 20)
    [found] = conditions_in([*wrong, *right], ["accepted"] * 3 + [""] * 20)
    assert found == (("x.y is violated",),)


def test_a_single_case_is_explained_by_the_requirement_of_its_operation() -> None:
    """If all cases that violate it fail; the same requirement of another operation does not matter."""
    violated = "axis.required is violated"
    wrong, right = numbered("a", 1, violated, TYPES[3]), numbered("b", 1, violated, TYPES[4])
    [found] = conditions_in([*wrong, *right, *numbered("c", 20)], ["accepted"] + [""] * 21)
    assert found == ((violated,), (TYPES[3],))


def test_what_other_conditions_leave_is_searched_again() -> None:
    """A condition that explains many failures may leave some that a narrower one explains."""
    wide = [*numbered("a", 30, "big"), *numbered("b", 6, "big", "empty"), *numbered("c", 6, "empty", "x.y is violated")]
    found = conditions_in([*wide, *numbered("d", 60)], ["wrong"] * 42 + [""] * 60)
    assert all(any(all(held.intersection(some) for some in hit) for hit in found) for held in wide)


@pytest.mark.parametrize(
    ("fact", "kind"),
    [
        (Fact("data", "is", "i32"), "data is"),
        (Fact("axis.range", "is violated"), "violated"),
        (Fact("axis.range", "is tested"), "tested"),
        (Fact("the case", "violates", "lengths.sum if setting inputs are cut to 32 bits"), "another violation"),
        (Fact("the result", "differs if", "setting inputs are cut to 32 bits"), "reading"),
        (Fact("all shapes", "are static"), "known"),
        (Fact("no input shape", "is dynamic"), "known"),
        (Fact("an input shape", "is dynamic"), "unknown"),
        (Fact("a shape", "is known only at run time"), "unknown"),
        (Fact("begin", "has more elements than", "data has dimensions"), "lengths"),
        (Fact("axes", "is empty"), "shape"),
        (Fact("start", "has", "0"), "values"),
        (Fact("an output", "has a value beyond", "31 bits"), "values"),
        (Fact("axes", "has a value that is not an index of any dimension of data"), "values"),
        (Fact("stride", "is", "i64"), "type"),
        (Fact("split_lengths", "is", "floating-point"), "type"),
        (Fact("num_splits", "is", "3"), "attribute"),
        (Fact("axes", "is omitted"), "attribute"),
        (Fact("", "an index is negative"), "values"),
        (Fact("", "only batch dimensions of 1 are given"), ""),
        (Fact("", "only dimensions of 1 move"), ""),
    ],
)
def test_facts_are_of_kinds_whose_facts_are_about_as_likely(fact: Fact, kind: str) -> None:
    """So that a relation is not found among all numbers of attributes."""
    assert fact_kind_of(fact) == kind


def rejection(op: str, message: str) -> Result:
    """A valid case that was rejected with a message."""
    return Result(
        id=f"{op}-1/a/0123456789",
        profile="core",
        expect="accept",
        verdict="fail",
        reason="rejected-valid",
        message=message,
    )


def test_messages_that_differ_in_the_name_of_the_operation_are_one_symptom() -> None:
    """Such as those of `Slice` and `StridedSlice`."""
    one, two = (rejection(op, f"[CPU] {op} node with name '{op}' has no executor") for op in ("Slice", "StridedSlice"))

    assert symptom_of(one, "") == symptom_of(two, "")


def test_messages_that_differ_in_the_inputs_are_one_symptom() -> None:
    """Their element types and shapes are in brackets, or words with digits."""
    said = "opset8::Gather Gather_{} (opset1::{} data[0]:{}[1,2]) HAS THROWN: {} is not set for {}"
    one = rejection("Gather", said.format(3, "Parameter", "f32", "axis", "f32"))
    two = rejection("Gather", said.format(17, "Constant", "u8", "axis", "boolean8"))
    other = rejection("Gather", said.format(3, "Parameter", "f32", "data", "f32"))

    assert symptom_of(one, "") == symptom_of(two, "")
    assert symptom_of(one, "") != symptom_of(other, "")


def test_the_symptom_of_a_long_message_is_its_beginning() -> None:
    """Whatever a backend says, even words that a pattern may take for parts of a path."""
    said = Result(
        id="Split-1/a/0123456789",
        profile="core",
        expect="accept",
        verdict="fail",
        reason="rejected-valid",
        message="a" * 10**6,
    )
    assert symptom_of(said, "") == ("rejected-valid", "rejected-valid", "a" * 80)


def test_a_run_says_when_its_cases_fail(opconform: Run, few_core: Path, tmp_path: Path) -> None:
    """In the summary and on the page, with how many cases fail and pass."""
    backend = f"{MINIATURES}:QuietsNans"
    done = opconform("run", few_core, "--backend", backend, "-k", "Split-1/*", "--out", tmp_path, code=0)
    opconform("report", tmp_path, "--suite", few_core, code=0)

    def unwrapped(text: str) -> str:
        return re.sub(r"\n {4,}", " ", text)

    [said] = re.findall(
        r"\n  when +(.* \(\d+ of \d+ such valid cases fail\); of the \d+ other decided valid cases, \d+ pass)\n",
        unwrapped(done.stdout),
    )
    assert "NaNs" in said
    assert said in unwrapped(opconform("report", tmp_path, "-v", "--suite", few_core, code=0).stdout)
    assert f"<dt>When</dt><dd><b>{said}</b></dd>" in (tmp_path / "report.html").read_text()


def test_one_fault_has_the_valid_and_the_invalid_cases_of_a_condition(
    opconform: Run, few_core: Path, tmp_path: Path
) -> None:
    """If all of both fail; here the process ends whenever the axis is given at run time."""
    opconform("run", few_core, "--backend", "numpy", "-k", "Split-1/*", "--out", tmp_path)
    suite, report = open_suite(few_core), finished(tmp_path).report
    at_run_time = {
        result.id
        for result in report.results
        if any(one.name == "axis" and one.binding == "parameter" for one in suite.case(suite.by_id[result.id]).inputs)
    }
    results = tuple(
        replace(result, verdict="fail", reason="crash") if result.id in at_run_time else result
        for result in report.results
    )

    [found] = with_findings(replace(report, results=results), suite).findings
    assert {*found.cases} == at_run_time
    assert found.facts == (("axis is given at run time",),)
    others = len(results) - len(at_run_time)
    assert found.condition == (
        f"axis is given at run time ({len(at_run_time)} of {len(at_run_time)} such cases fail); "
        f"of the {others} other decided cases, {others} pass"
    )


@pytest.mark.parametrize(
    ("shared", "found"),
    [
        ("eps is 0.5", {((f"axes.{name} is violated",),) for name in "abcd"}),
        ("axes is given at run time", {(("axes is given at run time",),)}),
    ],
)
def test_what_cases_have_by_chance_joins_no_violated_requirements(
    shared: str, found: set[tuple[tuple[str, ...], ...]]
) -> None:
    """A value that an author wrote in every invalid case explains nothing; how an input arrives can."""
    failing = [frozenset({shared, f"axes.{name} is violated"}) for name in "aabbccdd"]
    passing = [frozenset({f"data.{number} is violated"}) for number in range(40)]

    assert {*conditions_in([*failing, *passing], ["accepted"] * 8 + [""] * 40)} == found


def test_a_failure_that_nothing_explains_says_what_its_case_tests(
    opconform: Run, few_core: Path, tmp_path: Path
) -> None:
    """With the numbers of cases of its group; one failure alone is no reason for a condition."""
    opconform("run", few_core, "--backend", "numpy", "-k", "Split-1/*", "--out", tmp_path)
    suite, report = open_suite(few_core), finished(tmp_path).report
    [first, *rest] = (x for x in report.results if x.id.startswith("Split-1/axis-values/"))
    wrong = replace(first, verdict="fail", reason="value", broken=("outputs.order",))

    [found] = with_findings(replace(report, results=(wrong, *rest)), suite).findings
    title = suite.case(suite.by_id[first.id]).title
    assert found.condition == ""
    assert found.when == f"{title} (1 of {len(rest) + 1} decided cases of Split-1/axis-values)"


def test_a_report_has_its_findings_and_is_refused_with_others(opconform: Run, few_core: Path, tmp_path: Path) -> None:
    """Every failing case is in one, and no other case."""
    backend = f"{MINIATURES}:QuietsNans"
    opconform("run", few_core, "--backend", backend, "-k", "Split-1/*", "--out", tmp_path, code=0)
    written = tmp_path / "report.json"
    document = json.loads(written.read_text())
    failing = {case["id"] for case in cases_in(tmp_path) if case["verdict"] == "fail"}
    passing = next(case["id"] for case in cases_in(tmp_path) if case["verdict"] == "pass")

    assert {case for finding in document["findings"] for case in finding["cases"]} == failing
    heads = [finding["cases"][0] for finding in document["findings"]]
    assert sorted(set(heads)) == sorted(heads)
    document["findings"][0]["cases"].append(passing)
    written.write_text(json.dumps(document))
    refused = opconform("report", tmp_path, "--suite", few_core, code=1)
    assert "it was changed, or is of another run" in refused.stderr
