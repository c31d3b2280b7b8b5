"""Rules that say which cases a backend does not support, as in `Gather-8: data is u1 and the context is folded`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opconform.explanation.reference import declaration_of, operation_names
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.findings.causes.conditions import Condition
from opconform_runners.findings.causes.fact import Fact, either, operation_fact, sentences
from opconform_runners.findings.causes.facts import support_facts
from opconform_runners.findings.causes.feeds import is_read
from opconform_runners.findings.support.fact_parser import alternatives_in, parse_fact

#: What stands for all operations.
EVERY = "every operation"
_AND = " and "


@dataclass(frozen=True, slots=True)
class Rule:
    """Cases that a backend does not support: the cases of one operation, or of every one, that have all facts.

    A case has a fact if it has one of its alternatives.
    """

    subject: str
    facts: Condition

    def meets(self, op: str, facts: frozenset[Fact]) -> bool:
        """Whether a case of an operation with these facts is one that the rule names."""
        return self.is_about(op) and all(not facts.isdisjoint(alternatives) for alternatives in self.facts)

    def is_about(self, op: str) -> bool:
        """Whether the rule is about cases of an operation."""
        return self.subject in (op, EVERY)

    @property
    def words(self) -> str:
        """The facts, as in `data is u1 or u4 and the context is folded`."""
        return _AND.join(map(either, self.facts))

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The facts, each with its alternatives, in words."""
        return tuple(map(sentences, self.facts))

    def order(self) -> tuple[object, ...]:
        """What rules are sorted by: their words."""
        return self.subject, self.sentences

    def __str__(self) -> str:
        return f"{self.subject}: {self.words}"


def rules_of(condition: Condition, op: str = EVERY) -> Iterator[Rule]:
    """The rules that a condition of cases of an operation is, one per operation that its facts name."""
    names = {operation_fact(name): name for name in operation_names()}
    operations = [names[fact] for alternatives in condition for fact in alternatives if fact in names]
    facts = _in_order(alternatives for alternatives in condition if names.keys().isdisjoint(alternatives))
    yield from (Rule(name, facts) for name in operations or [op])


def parse_rule(subject: str, words: str) -> Rule:
    """The rule with these words, given a known subject; a ValueError says what is wrong and what is allowed."""
    return Rule(subject, _in_order(_alternatives(part, subject) for part in words.split(_AND)))


def _in_order(condition: Iterable[tuple[Fact, ...]]) -> Condition:
    return tuple(sorted(condition, key=sentences))


def _alternatives(words: str, subject: str) -> tuple[Fact, ...]:
    named = tuple(operation_names()) if subject == EVERY else (subject,)
    for alternatives in ((words,), alternatives_in(words)):
        parsed = [next(filter(None, (parse_fact(text, op) for op in named)), None) for text in alternatives]
        facts = tuple(fact for fact in parsed if fact is not None)
        if len(facts) == len(alternatives):
            return facts
    declaration = declaration_of(subject)
    ports = () if declaration is None else declaration.inputs[1:]
    names = ", ".join(("data", "a setting input", *(port.name for port in ports)))
    raise ValueError(
        f"{words!r} is not a fact about {subject}. Facts are, for example, 'data is f16 or bf16', "
        "'data has rank 5 or more', 'a setting input is given at run time', 'an input shape is dynamic' and "
        f"'the context is folded'. Inputs: {names}."
    )


def facts_of_entry(suite: Suite, entry: Entry) -> frozenset[Fact]:
    """The facts about a case of a suite by which rules are stated."""
    case = suite.case(entry)
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)] if is_read(case) else []
    return support_facts(case, feeds)
