"""Facts of tests, written as the sentences that reports have."""

from collections.abc import Iterable, Sequence

from opconform_runners.findings.causes.alternatives import groups
from opconform_runners.findings.causes.conditions import conditions_of
from opconform_runners.findings.causes.fact import Fact, requirement_fact, sentences
from opconform_runners.findings.support.fact_parser import parse_fact


def fact_of(words: str) -> Fact:
    """The fact with these words; any others are those of a sentence that an operation declares."""
    if words.endswith(" is tested"):
        return requirement_fact(words.removesuffix(" is tested"))
    known = {fact.sentence: fact for group in groups() for fact in group}
    parsed = (parse_fact(words, op) for op in ("Pad-12", "MVN-6", "ReduceSum-1", "VariadicSplit-1", "Slice-8"))
    return known.get(words) or next(filter(None, parsed), Fact("", words))


def facts_in(words: Iterable[str]) -> frozenset[Fact]:
    """The facts with these words."""
    return frozenset(map(fact_of, words))


def conditions_in(facts: Sequence[Iterable[str]], symptoms: Sequence[str]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The conditions of cases, given the facts about each in words, and in words themselves."""
    found = conditions_of([*map(facts_in, facts)], symptoms)
    return tuple(tuple(map(sentences, condition)) for condition in found)
