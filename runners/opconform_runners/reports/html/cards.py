"""The failures of a run as cards: one per group of failures that are alike and have the same likely cause."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opconform.suite.case import Case
from opconform_runners.reports.failures import SEVERITIES, Group, groups
from opconform_runners.reports.html.subject import Place, Subject
from opconform_runners.verdicts.results import Result

#: The most public reports on a card.
_SEEN = 6
Facets = Mapping[str, Sequence[tuple[str, int, int]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """Failures that are alike.

    Attributes:
        number: The number of the run on the page.
        cause: The likely cause of its smallest case.
        conditions: Under which conditions its cases fail, the one that explains most of them first.
        facets: The properties in which the cases of the same groups of the suite differ: the name, and for each value
            how many cases fail alike, and how many there are.
        seen: Public reports of backends that fail such cases.
    """

    number: int
    group: Group
    cause: str
    conditions: tuple[str, ...]
    facets: Facets
    seen: tuple[str, ...]

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Its place on the page: what a baseline expects comes last, and what is worst and most frequent first."""
        return self.group.standing == "known", SEVERITIES.index(self.group.severity), -len(self.group.results)


def cards_of(
    number: int, subject: Subject, causes: Mapping[Place, str], conditions: Mapping[Place, str]
) -> Iterator[Card]:
    """The failures of a run on the page, with their likely causes as far as outputs were kept, and their conditions."""
    known = {identity: cause for (of, identity), cause in causes.items() if of == number}
    found = [alike for group in groups(subject.column.report) for alike in _divided(group, known)]
    failed = {each.id for group in found for each in group.results}
    related = _related(subject, failed)
    for group in found:
        failing = {each.id for each in group.results}
        seen = Counter(name for each in sorted(failing & related.keys()) for name in related[each].seen)
        held = Counter(conditions[number, each] for each in sorted(failing) if (number, each) in conditions)
        yield Card(
            number=number,
            group=group,
            cause=known.get(group.smallest.id, ""),
            conditions=tuple(name for name, _ in held.most_common()),
            facets=dict(_facets(failing, failed - failing, related)),
            seen=tuple(name for name, _ in seen.most_common(_SEEN)),
        )


def _divided(group: Group, causes: Mapping[str, str]) -> Iterator[Group]:
    """A group by likely cause; cases whose outputs were not kept go with the most frequent one."""
    alike: dict[str, list[Result]] = defaultdict(list)
    known = Counter(causes[each.id].partition(":")[0] for each in group.results if each.id in causes)
    for each in group.results:
        name = causes[each.id] if each.id in causes else next((name for name, _ in known.most_common(1)), "")
        alike[name.partition(":")[0]].append(each)
    return (replace(group, results=tuple(results)) for results in alike.values())


def _related(subject: Subject, failing: Collection[str]) -> dict[str, Case]:
    """The failing cases, and those of the same groups of the suite that pass; none where the suite was not found."""
    suite, prefixes = subject.suite, {_prefix(each) for each in failing}
    return {
        each.id: suite.case(suite.by_id[each.id])
        for each in subject.column.report.results
        if suite is not None and each.id in suite.by_id and (each.id in failing or each.verdict == "pass")
        if _prefix(each.id) in prefixes
    }


def _facets(
    failing: set[str], otherwise: Collection[str], related: Mapping[str, Case]
) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """The facets of the failing cases of a card; values with which cases fail only `otherwise` are left out."""
    alike = {(_prefix(each), type(related[each].expect)) for each in failing & related.keys()}
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for identity, case in related.items():
        outcome = "fails" if identity in failing else "fails otherwise" if identity in otherwise else "passes"
        for name, value in _properties(case) if (_prefix(identity), type(case.expect)) in alike else ():
            counts[name][value][outcome] += 1
    for name, values in counts.items():
        rows = [
            (value, each["fails"], each.total())
            for value, each in values.items()
            if each["fails"] or not each["fails otherwise"]
        ]
        if len(rows) > 1:
            yield name, sorted(rows, key=lambda each: (-each[1] / each[2], each[0]))


def _prefix(identity: str) -> str:
    """The operation and the group of a case."""
    return identity.rpartition("/")[0]


def _properties(case: Case) -> Iterator[tuple[str, str]]:
    yield "Element type", ", ".join(sorted({each.element_type for each in case.inputs if each.role == "tensor"}))
    yield "Context", case.context
    for each in case.inputs:
        if each.role == "control":
            yield each.name, "at run time" if each.binding == "parameter" else "constant"
    yield "Shapes", "dynamic" if any(each.dynamic is not None for each in case.inputs) else "static"
