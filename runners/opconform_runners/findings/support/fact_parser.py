"""Reads the facts of claims: from words to values."""

from collections.abc import Iterator, Mapping
from functools import cache

from opconform.explanation.reference import contexts_of, declaration_of
from opconform_runners.findings.causes.fact import Fact, Phrase, context_fact, violation_fact
from opconform_runners.findings.causes.facts import DELIVERED, OF_GRAPHS
from opconform_runners.findings.causes.tensor_facts import phrases

_VIOLATED = violation_fact("").sentence


def parse_fact(words: str, op: str) -> Fact | None:
    """The fact of `support_facts` about a case of an operation, other than its name, that has these words, or None."""
    if words.endswith(f" {_VIOLATED}"):
        return violation_fact(words.removesuffix(f" {_VIOLATED}"))
    declaration = declaration_of(op)
    if declaration is None:
        return None
    whole = (*OF_GRAPHS, *map(context_fact, (*contexts_of(op), "then")))
    attributes = {attribute.name for attribute in declaration.attributes}
    names = ("data", "a setting input", *(port.name for port in declaration.inputs), *attributes)
    of_inputs = (
        Fact(name, *phrase)
        for name in names
        if words.startswith(f"{name} ")
        for phrase in _phrases_in(words.removeprefix(f"{name} "), is_attribute=name in attributes)
    )
    return next((fact for fact in (*whole, *of_inputs) if fact.sentence == words), None)


def _phrases_in(words: str, *, is_attribute: bool) -> Iterator[Phrase]:
    """The phrases that some words may be."""
    if words in _phrases():
        yield _phrases()[words]
    predicate, _, value = words.partition(" ")
    if is_attribute and predicate in ("is", "has") and _is_literal(value):
        yield predicate, value


@cache
def _phrases() -> Mapping[str, Phrase]:
    every = (*((predicate, "") for predicate in DELIVERED), *phrases())
    return {" ".join(filter(None, phrase)): phrase for phrase in every}


def _is_literal(text: str) -> bool:
    """Whether a text is a value of an attribute, as Python writes it."""
    if text in ("True", "False") or text == f"'{text[1:-1]}'":
        return True
    try:
        return text == (repr(float(text)) if set(text) & {*".en"} else str(int(text)))
    except ValueError:
        return False


def alternatives_in(words: str) -> tuple[str, ...]:
    """The alternatives that `either` joined, each in words; the words themselves where there is only one."""
    joined, _, last = words.rpartition(" or ")
    start, *others = joined.split(", ")
    predicate, _, first = start.rpartition(" ")
    values = (first, *others, last)
    if not predicate or last == "more" or any(" " in value for value in values):
        return (words,)
    return tuple(f"{predicate} {value}" for value in values)
