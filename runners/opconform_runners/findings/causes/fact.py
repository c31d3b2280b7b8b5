"""Facts: what is true of a case, as values, and the kinds of facts that are about as likely."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from opconform.tensors.element_types import ELEMENT_TYPES

#: What follows the name of an input: a predicate and its value.
Phrase = tuple[str, str]
#: How the elements of each kind of element type are called.
ELEMENT_KINDS = {
    "signed": "signed integers",
    "unsigned": "unsigned integers",
    "float": "floating-point",
    "string": "strings",
}


class Fact(NamedTuple):
    """What is true of a case; a tuple, since a run has millions.

    Attributes:
        subject: What it is about, such as `data`; empty for a sentence that an operation declares as a whole.
        predicate: What it says, such as `has rank`.
        value: What ends the sentence, such as `4`; empty if the predicate does.
    """

    subject: str
    predicate: str
    value: str = ""

    @property
    def sentence(self) -> str:
        """The fact in words, as in `data has rank 4`."""
        return " ".join(filter(None, self))

    @property
    def kind(self) -> str:
        """What it is about, if few or many facts are; empty for a relation."""
        if self in (DYNAMIC_SHAPE, NO_DYNAMIC_SHAPE):
            return "unknown" if self == DYNAMIC_SHAPE else "known"
        if self.predicate in ("is", "has"):
            return "values" if self.value in ("0", "-1") else "type" if self.value in _TYPES else "attribute"
        return _KINDS.get(self.predicate, "") if self.subject else _declared_kind(self.predicate)

    @property
    def is_violation(self) -> bool:
        """Whether it names the requirement that an invalid case violates."""
        return self.predicate == _VIOLATED


TWO_INFERENCES = Fact("there are", "two inferences")
DYNAMIC_SHAPE = Fact("an input shape", "is dynamic")
NO_DYNAMIC_SHAPE = Fact("no input shape", "is dynamic")
_VIOLATED = "is violated"
_TYPES = frozenset((*ELEMENT_TYPES, *ELEMENT_KINDS.values()))
#: The predicates of each kind, for all values.
_KINDS: Mapping[str, str] = {
    predicate: kind
    for kind, predicates in {
        "violated": (_VIOLATED,),
        "tested": ("is tested",),
        "another violation": ("violates",),
        "reading": ("is valid if", "is invalid if", "have other shapes if", "differs if"),
        "known": ("is constant", "are constant", "are static"),
        "unknown": ("is given at run time", "is known only at run time"),
        "lengths": ("has fewer elements than", "has more elements than"),
        "size": ("has more than",),
        "shape": (
            "has rank",
            "is empty",
            "is a scalar",
            "has one element",
            "has a dimension beyond 31 bits",
            "has a dimension of 1",
            "has a first dimension of 1 before others",
            "ends within a byte",
            "has rows that end within a byte",
            "has static dimensions",
            "has dynamic dimensions",
            "has dimensions of any size",
            "has bounded dimensions",
        ),
        "values": (
            "has a negative value",
            "has a value below -1",
            "has a value beyond",
            "has a value that is not an index of any dimension of data",
            "is negative",
            "is below -1",
            "is beyond",
            "has NaNs",
            "has signalling NaNs",
            "has infinities",
            "has negative zeros",
            "has denormal numbers",
            "has values that f32 rounds",
            "has values that bf16 rounds",
            "has values that f16 rounds",
        ),
        "type": ("has elements narrower than a byte", "has 64-bit elements"),
        "attribute": ("is omitted",),
        "neighbour": ("is behind", "has several users", "is an output"),
    }.items()
    for predicate in predicates
}


#: The kinds of the sentences that operations declare, by how they end.
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "lengths": ("elements than data has",),
    "shape": ("is empty", "is a scalar", "has one element", " dimensions"),
    "values": ("is negative", "is 0", "have a 0", " bits", " numbers", " zeros"),
    "type": (" elements", " strings"),
    "attribute": ("is 1", "has 1 spatial dimension"),
}


def _declared_kind(sentence: str) -> str:
    return next((kind for kind, endings in _ENDINGS.items() if sentence.endswith(endings)), "")


def violation_fact(requirement: str) -> Fact:
    """The fact that a case violates a requirement."""
    return Fact(requirement, _VIOLATED)


def requirement_fact(requirement: str) -> Fact:
    """The fact that a case tests a requirement."""
    return Fact(requirement, "is tested")


def operation_fact(name: str) -> Fact:
    """The fact that a case tests an operation."""
    return Fact("the operation", "is", name)


def context_fact(name: str) -> Fact:
    """The fact that a case has a context."""
    return Fact("the context", "is", name)


def sentences(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Facts in words."""
    return tuple(fact.sentence for fact in facts)


def either(facts: Sequence[Fact]) -> str:
    """Alternatives in words, as in `data is u2, nf4 or f4e2m1`: they differ only in their values."""
    first, *_ = facts
    *values, last = (fact.value for fact in facts)
    return Fact(first.subject, first.predicate, f"{', '.join(values)} or {last}").sentence if values else first.sentence
