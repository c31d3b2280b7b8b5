"""Facts that exclude each other, so that a condition may name several of them: `data is u2, nf4 or f4e2m1`."""

from collections.abc import Mapping
from functools import cache

from opconform.explanation.reference import contexts_of, declarations, operation_names
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.causes.fact import TWO_INFERENCES, Fact, context_fact, operation_fact, sentences

_BYTE, _WORD = 8, 64


def data_is(element_type: str) -> Fact:
    """The fact that the data of a case has an element type."""
    return Fact("data", "is", element_type)


#: The facts about the element type of data.
DATA_TYPES = frozenset(map(data_is, ELEMENT_TYPES))


@cache
def features() -> tuple[tuple[Fact, ...], ...]:
    """What makers say that they support: element types, contexts and the values of attributes, as groups of facts."""
    return (tuple(map(data_is, ELEMENT_TYPES)), *(group for group in groups()[1:] if group[0] not in DATA_TYPES))


@cache
def groups() -> tuple[tuple[Fact, ...], ...]:
    """Groups of alternatives: the operations come first. The types of data in one group have something in common."""
    types = ELEMENT_TYPES.values()
    return (
        tuple(map(operation_fact, operation_names())),
        tuple(map(context_fact, sorted({name for op in operation_names() for name in contexts_of(op)}))),
        tuple(Fact("a setting input", "is", name) for name in ELEMENT_TYPES),
        *(tuple(data_is(x.name) for x in types if x.kind == kind) for kind in ("float", "signed", "unsigned")),
        tuple(data_is(x.name) for x in types if 0 < x.bits < _BYTE),
        tuple(data_is(x.name) for x in types if x.bits == _WORD),
        *sorted(
            {
                tuple(Fact(attribute.name, "is", repr(value)) for value in attribute.values)
                for declaration in declarations()
                for attribute in declaration.attributes
                if attribute.type == "enum"
            },
            key=sentences,
        ),
    )


@cache
def _kinds() -> Mapping[Fact, str]:
    return {fact: f"{fact.subject} {fact.predicate}" for group in groups() for fact in group}


def fact_kind_of(fact: Fact) -> str:
    """What a fact is about, if there are few or many of the kind: naming one of few takes fewer bits."""
    return _kinds().get(fact) or fact.kind


#: The kinds of facts that can be why several requirements of invalid cases are not checked.
_SHARED = frozenset({"violated", "another violation", "reading", "known", "unknown", "type"})


def can_be_shared(fact: Fact) -> bool:
    """Whether a fact can be why a backend accepts invalid cases of several requirements.

    How inputs reach it can, and their types, a misreading or the operation. Sizes and values cannot: invalid cases have
    them because their author wrote them alike.
    """
    is_of_case = fact.subject in ("the operation", "the context") or fact == TWO_INFERENCES
    is_of_input = fact.sentence.startswith(("data is ", "a setting input is "))
    return is_of_case or is_of_input or fact_kind_of(fact) in _SHARED
