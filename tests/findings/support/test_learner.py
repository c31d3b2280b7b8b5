"""Rules that are learnt from refused and executed cases, given the facts about each."""

from collections.abc import Mapping
from dataclasses import replace

from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.findings.support.learner import Support, learnt
from opconform_runners.findings.support.rules import EVERY, parse_rule
from tests.findings.words import facts_in

EVERYTHING = Numpy().describe()


def support(
    refused: Mapping[str, set[str]], executed: Mapping[str, set[str]], declared: Implementation = EVERYTHING
) -> Support:
    """What is learnt from cases, each with its facts."""
    facts = {name: facts_in(words) for name, words in (*refused.items(), *executed.items())}
    return learnt(facts, [*refused], [*executed], declared)


def words(learnt_support: Support) -> list[str]:
    """The rules as they are written."""
    return [str(learnt_rule.rule) for learnt_rule in learnt_support.rules]


def test_an_element_type_that_is_always_refused_is_a_rule() -> None:
    """With the cases on both sides."""
    shown = support(
        {"Tile-1/a/1": {"data is f16", "data has rank 1"}, "Tile-1/a/2": {"data is bf16", "data has rank 2"}},
        {"Tile-1/a/3": {"data is f32", "data has rank 1"}, "Tile-1/a/4": {"data is f32", "data has rank 2"}},
    )

    [rule] = shown.rules
    assert rule.rule == parse_rule("Tile-1", "data is bf16 or f16")
    assert (rule.refused, rule.of, rule.executed) == (2, 2, 2)
    assert shown.cases == ()


def test_what_an_executed_case_contradicts_is_no_rule() -> None:
    """The refused case is named by its id."""
    shown = support({"Tile-1/a/1": {"data is f16"}}, {"Tile-1/a/2": {"data is f16"}})

    assert (shown.rules, shown.cases) == ((), ("Tile-1/a/1",))


def test_a_rule_of_three_operations_is_stated_of_every_operation() -> None:
    """Unless an executed case contradicts it."""
    refused = {f"{op}/a/1": {"the context is folded"} for op in ("Tile-1", "Pad-12", "Roll-7")}
    executed = {f"{op}/a/2": {"data is f32"} for op in ("Tile-1", "Pad-12", "Roll-7", "Split-1")}

    assert words(support(refused, executed)) == [f"{EVERY}: the context is folded"]
    assert words(support(refused, executed | {"Split-1/a/3": {"the context is folded"}})) == [
        "Pad-12: the context is folded",
        "Roll-7: the context is folded",
        "Tile-1: the context is folded",
    ]


def test_several_facts_together_are_a_rule() -> None:
    """Where none of them alone separates the cases."""
    high, reflect, edge = "data has rank 6 or more", "pad_mode is 'reflect'", "pad_mode is 'edge'"
    refused = {f"Pad-12/a/{number}": {high, reflect} for number in range(9)}
    executed = {
        f"Pad-12/{group}/{number}": facts
        for group, facts in (("b", {reflect}), ("c", {edge}), ("d", {high, edge}))
        for number in range(9)
    }

    assert words(support(refused, executed)) == ["Pad-12: data has rank 6 or more and pad_mode is 'reflect'"]


def test_an_operation_without_executed_cases_is_not_supported() -> None:
    """It needs no rule."""
    shown = support({"Tile-1/a/1": {"data is f16"}}, {"Pad-12/a/1": {"data is f16"}})

    assert shown.supported == ["Pad-12"]
    assert (shown.executed, shown.refused) == ({"Pad-12": 1, "Tile-1": 0}, {"Pad-12": 0, "Tile-1": 1})
    assert (shown.rules, shown.cases) == ((), ())


def test_what_a_backend_does_not_declare_is_a_rule_of_every_operation() -> None:
    """If cases show it, and none contradicts it."""
    refused = {"Tile-1/a/1": {"data is f16"}, "Tile-1/a/2": {"a setting input is given at run time"}}
    executed = {"Tile-1/a/3": {"data is f32"}}
    declared = replace(EVERYTHING, element_types=("f32", "i8"), bindings=("constant",))

    shown = support(refused, executed, declared)
    assert [rule.rule.subject for rule in shown.rules] == [EVERY, EVERY]
    assert words(shown)[0] == f"{EVERY}: a setting input is given at run time"
    assert shown.rules[1].rule.meets("Pad-12", facts_in(["data is f64"]))
    assert not shown.rules[1].rule.meets("Pad-12", facts_in(["data is i8"]))
    assert words(support(refused, executed | {"Tile-1/a/4": {"data is f64"}}, declared)) == [
        "Tile-1: data is f16",
        f"{EVERY}: a setting input is given at run time",
    ]
