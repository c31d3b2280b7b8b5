"""What a run shows that a backend supports: few rules that separate the refused cases from the executed ones."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opconform.errors import UsageError
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation
from opconform_runners.findings.causes.alternatives import data_is, features
from opconform_runners.findings.causes.conditions import conditions_of
from opconform_runners.findings.causes.fact import DYNAMIC_SHAPE, Fact
from opconform_runners.findings.report import Report
from opconform_runners.findings.support.rules import EVERY, Rule, facts_of_entry, rules_of
from opconform_runners.verdicts.results import Result

#: The symptom of a refused case, for the search for conditions.
_REFUSED = "refused"
#: In how many operations a rule must hold to be stated of every operation.
_MANY = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class LearntRule:
    """A rule with its evidence: no executed case meets it.

    Attributes:
        refused: How many refused cases meet it, of `of` refused cases of its operations.
        executed: How many cases of its operations were executed; none of them meets it.
    """

    rule: Rule
    refused: int
    of: int
    executed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """What a run shows of a backend's support.

    Attributes:
        executed: How many cases of each operation were executed; 0 for an operation that is not supported.
        refused: How many cases of each operation were refused as unsupported.
        rules: The rules, sorted.
        cases: The ids of the refused cases of supported operations that no rule names, sorted.
    """

    executed: Mapping[str, int]
    refused: Mapping[str, int]
    rules: tuple[LearntRule, ...]
    cases: tuple[str, ...]

    @property
    def supported(self) -> list[str]:
        """The operations with an executed case."""
        return [op for op, count in self.executed.items() if count]


def is_refused(result: Result) -> bool:
    """Whether the backend said that it does not support a case."""
    return result.verdict == "unsupported" or result.reason == "claimed"


def is_executed(result: Result) -> bool:
    """Whether the backend answered a case otherwise, right or wrong."""
    return result.verdict in ("pass", "fail") and not is_refused(result)


def support_of(report: Report, suite: Suite) -> Support:
    """What a run shows of its backend's support.

    Raises:
        UsageError: The run kept the results of failures only.
    """
    if report.tallies:
        raise UsageError(
            "A streamed run does not show what is supported: it keeps failures only. Repeat it with --keep-suite."
        )
    valid = [result for result in report.results if result.expect == "accept" and result.id in suite.by_id]
    refused = [result.id for result in valid if is_refused(result)]
    executed = [result.id for result in valid if is_executed(result)]
    facts = {name: facts_of_entry(suite, suite.by_id[name]) for name in (*refused, *executed)}
    return learnt(facts, refused, executed, report.implementation)


def learnt(
    facts: Mapping[str, frozenset[Fact]], refused: Sequence[str], executed: Sequence[str], declared: Implementation
) -> Support:
    """What refused and executed cases show, given their ids, the facts about each, and what the backend declares.

    A rule that follows from the declaration, or that the cases of several operations show, is stated of every
    operation, unless an executed case contradicts it.
    """
    counts = {op: _count(op, executed) for op in sorted({_op(name) for name in (*refused, *executed)})}
    cases = _RefusedCases(facts, executed, [name for name in refused if counts[_op(name)]])
    cases.state(rule for rule in _declared(declared) if cases.is_met(rule) and not cases.is_contradicted(rule))
    shown: dict[Rule, set[str]] = defaultdict(set)
    for op in {_op(name) for name in cases.unnamed}:
        of_operation = ([facts[name] for name in names if _op(name) == op] for names in (cases.unnamed, executed))
        for rule in _of_operation(*of_operation):
            shown[rule].add(op)
    for rule, operations in shown.items():
        cases.state(cases.scoped(rule, operations))
    for rule in _separating([facts[name] for name in cases.unnamed], [facts[name] for name in executed]):
        cases.state(cases.scoped(rule, {_op(name) for name in cases.unnamed if rule.meets(_op(name), facts[name])}))
    return Support(
        executed=counts,
        refused={op: _count(op, refused) for op in counts},
        rules=tuple(_evidence(rule, facts, refused, executed) for rule in sorted(cases.rules, key=Rule.order)),
        cases=tuple(sorted(cases.unnamed)),
    )


@dataclass(slots=True)
class _RefusedCases:
    """The refused cases that no rule names yet, with the rules so far, and the executed ones."""

    facts: Mapping[str, frozenset[Fact]]
    executed: Sequence[str]
    unnamed: list[str]
    rules: set[Rule] = field(default_factory=set)

    def state(self, rules: Iterable[Rule]) -> None:
        """Add rules."""
        new = {*rules}
        self.rules |= new
        self.unnamed = [
            name for name in self.unnamed if not any(rule.meets(_op(name), self.facts[name]) for rule in new)
        ]

    def is_met(self, rule: Rule) -> bool:
        """Whether a case that is left meets a rule."""
        return any(rule.meets(_op(name), self.facts[name]) for name in self.unnamed)

    def scoped(self, rule: Rule, operations: Collection[str]) -> Iterable[Rule]:
        """A rule as it is stated, given the operations whose cases show it: of each of them, or of every operation."""
        is_general = len(operations) >= _MANY and not self.is_contradicted(rule)
        return [rule] if is_general else [replace(rule, subject=op) for op in operations]

    def is_contradicted(self, rule: Rule) -> bool:
        """Whether an executed case meets a rule."""
        return any(rule.meets(_op(name), self.facts[name]) for name in self.executed)


def _of_operation(refused: Sequence[frozenset[Fact]], executed: Sequence[frozenset[Fact]]) -> Iterator[Rule]:
    """The rules that separate cases of one operation, given the facts about each refused and each executed case.

    What occurs in refused cases alone comes first, such as an element type; then the conditions of what is left.
    """
    seen = frozenset[Fact]().union(*executed)
    unnamed = list(refused)
    for group in features():
        alone = tuple(fact for fact in group if fact not in seen and any(fact in facts for facts in unnamed))
        if alone:
            yield Rule(EVERY, (alone,))
            unnamed = [facts for facts in unnamed if facts.isdisjoint(alone)]
    yield from _separating(unnamed, executed)


def _separating(refused: Sequence[frozenset[Fact]], executed: Sequence[frozenset[Fact]]) -> Iterator[Rule]:
    """The conditions that separate refused cases from executed ones, as rules."""
    symptoms = [_REFUSED] * len(refused) + [""] * len(executed)
    for condition in conditions_of([*refused, *executed], symptoms):
        yield from rules_of(condition)


def _declared(declared: Implementation) -> Iterator[Rule]:
    """The rules that a backend's description states."""
    lacking = tuple(data_is(name) for name in ELEMENT_TYPES if name not in declared.element_types)
    if lacking:
        yield Rule(EVERY, (lacking,))
    if "parameter" not in declared.bindings:
        yield Rule(EVERY, ((Fact("a setting input", "is given at run time"),),))
    if "constant" not in declared.bindings:
        yield Rule(EVERY, ((Fact("a setting input", "is constant"),),))
    if not declared.dynamic:
        yield Rule(EVERY, ((DYNAMIC_SHAPE,),))


def _evidence(
    rule: Rule, facts: Mapping[str, frozenset[Fact]], refused: Sequence[str], executed: Sequence[str]
) -> LearntRule:
    cases = [name for name in refused if rule.is_about(_op(name))]
    return LearntRule(
        rule=rule,
        refused=sum(rule.meets(_op(name), facts[name]) for name in cases),
        of=len(cases),
        executed=sum(rule.is_about(_op(name)) for name in executed),
    )


def _op(name: str) -> str:
    return name.partition("/")[0]


def _count(op: str, names: Sequence[str]) -> int:
    return sum(_op(name) == op for name in names)
