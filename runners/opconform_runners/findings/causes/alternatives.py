"""Facts that exclude each other, so that a condition may name several of them: `data is u2, nf4 or f4e2m1`."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from opconform.explanation.reference import contexts_of, declarations, operation_names
from opconform.tensors.element_types import ELEMENT_TYPES

_WORD = 64
_EITHER = re.compile(r"(.+?) (\S+(?:, \S+)*) or (?!more$)(\S+)")  # `has rank 3 or more` is one fact


def operation_fact(name: str) -> str:
    """The fact that a case tests an operation."""
    return f"the operation is {name}"


def context_fact(name: str) -> str:
    """The fact that a case has a context."""
    return f"the context is {name}"


@cache
def features() -> tuple[tuple[str, ...], ...]:
    """What makers say that they support: element types, contexts and the values of attributes, as groups of facts."""
    return (
        tuple(f"data is {name}" for name in ELEMENT_TYPES),
        *(group for group in groups()[1:] if group[0] not in DATA_TYPES),
    )


@cache
def groups() -> tuple[tuple[str, ...], ...]:
    """Groups of alternatives: the operations come first. The types of data in one group have something in common."""
    return (
        tuple(map(operation_fact, operation_names())),
        tuple(context_fact(name) for name in sorted({name for op in operation_names() for name in contexts_of(op)})),
        tuple(f"a setting input is {name}" for name in ELEMENT_TYPES),
        *(
            tuple(
                f"data is {element_type.name}" for element_type in ELEMENT_TYPES.values() if element_type.kind == kind
            )
            for kind in ("float", "signed", "unsigned")
        ),
        tuple(f"data is {element_type.name}" for element_type in ELEMENT_TYPES.values() if 0 < element_type.bits < 8),  # noqa: PLR2004 - a byte
        tuple(f"data is {element_type.name}" for element_type in ELEMENT_TYPES.values() if element_type.bits == _WORD),
        *sorted(
            {
                tuple(f"{attribute.name} is {value!r}" for value in attribute.values)
                for declaration in declarations()
                for attribute in declaration.attributes
                if attribute.type == "enum"
            }
        ),
    )


#: The facts about the element type of data.
DATA_TYPES = frozenset(f"data is {name}" for name in ELEMENT_TYPES)
#: The words by which facts are sorted into other kinds: those of one kind are about as likely. The rest are relations.
_WORDS = {
    kind: re.compile(words)
    for kind, words in {
        "violated": " is violated$",
        "tested": " is tested$",
        "another violation": " violates .* if ",
        "reading": " if ",
        "known": " (is|are) constant$|^all shapes are static$|^no input shape is dynamic$",
        "unknown": " run time$|^an input shape is dynamic$",
        "lengths": " elements than ",
        "size": r" has more than [\d,]+ elements$",
        "shape": " has (rank|a (first )?dimension|one element)| (is empty|scalar|within a byte|dimensions|any size)$",
        "values": " (value|NaNs|infinities|zeros|numbers|rounds|bits|negative|below -1|-1|0)$| not an index ",
        "type": f" is ({'|'.join(ELEMENT_TYPES)})$| (integers|floating-point|strings|elements|than a byte)$",
        "attribute": r" (is|has) (-?\d|'|True$|False$|omitted$)",
    }.items()
}


@cache
def _kinds() -> Mapping[str, str]:
    return {name: group[0].rpartition(" ")[0] for group in groups() for name in group}


def fact_kind_of(fact: str) -> str:
    """What a fact is about, if there are few or many of the kind: naming one of few takes fewer bits."""
    if fact in _kinds():
        return _kinds()[fact]
    return next((kind for kind, words in _WORDS.items() if words.search(fact)), "")


#: The kinds of facts that can be why several requirements of invalid cases are not checked.
_SHARED = frozenset({"violated", "another violation", "reading", "known", "unknown", "type"})


def can_be_shared(fact: str) -> bool:
    """Whether a fact can be why a backend accepts invalid cases of several requirements.

    How inputs reach it can, and their types, a misreading or the operation. Sizes and values cannot: invalid cases have
    them because their author wrote them alike.
    """
    kind = fact_kind_of(fact)
    first = (operation_fact(""), context_fact(""), "data is ", "a setting input is ", "there are two inferences")
    return kind in _SHARED or fact.startswith(first)


def is_violation(fact: str) -> bool:
    """Whether a fact names the requirement that an invalid case violates."""
    return fact.endswith(" is violated")


def either(facts: Sequence[str]) -> str:
    """Alternatives in words, as in `data is u2, nf4 or f4e2m1`: they have all words but the last in common."""
    *most, last = (fact.rpartition(" ")[2] for fact in facts)
    return facts[0] if not most else f"{facts[0].rpartition(' ')[0]} {', '.join(most)} or {last}"


def alternatives_in(words: str) -> tuple[str, ...]:
    """The alternatives that `either` joined; the words themselves where there is only one."""
    match = _EITHER.fullmatch(words)
    return (words,) if match is None else tuple(f"{match[1]} {last}" for last in (*match[2].split(", "), match[3]))
