"""The failures of a run as cards: one per group of failures that are alike and have the same likely cause."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opconform.suite.case import Case, Reject
from opconform.suite.manifest import Entry
from opconform_runners.reports.failures import SEVERITIES, Group, divided, groups
from opconform_runners.reports.html.subject import Place, Subject

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
        facets: The properties in which akin cases differ: the name, and for each value how many cases fail alike, and
            how many there are. Akin are those that violate one requirement, and valid ones of one group of the suite.
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
    found = [alike for group in groups(subject.column.report) for alike in divided(group, known)]
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


def _related(subject: Subject, failing: Collection[str]) -> dict[str, Case]:
    """The failing cases, and those that pass and are akin to them; none where the suite was not found."""
    suite = subject.suite
    if suite is None:
        return {}
    kin = {_kin(suite.by_id[each]) for each in failing & suite.by_id.keys()}
    return {
        each.id: suite.case(suite.by_id[each.id])
        for each in subject.column.report.results
        if each.id in suite.by_id and (each.id in failing or each.verdict == "pass")
        if _kin(suite.by_id[each.id]) in kin
    }


def _facets(
    failing: set[str], otherwise: Collection[str], related: Mapping[str, Case]
) -> Iterator[tuple[str, list[tuple[str, int, int]]]]:
    """The facets of the failing cases of a card; values with which cases fail only `otherwise` are left out."""
    kin = {_kin(related[each]) for each in failing & related.keys()}
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for identity, case in related.items():
        outcome = "fails" if identity in failing else "fails otherwise" if identity in otherwise else "passes"
        for name, value in _properties(case) if _kin(case) in kin else ():
            counts[name][value][outcome] += 1
    for name, values in counts.items():
        rows = [
            (value, each["fails"], each.total())
            for value, each in values.items()
            if each["fails"] or not each["fails otherwise"]
        ]
        if len(rows) > 1:
            yield name, sorted(rows, key=lambda each: (-each[1] / each[2], each[0]))


def _kin(case: Case | Entry) -> tuple[str, str]:
    """What akin cases have in common: the operation, and the violated requirement or else the group of the suite."""
    return case.op, case.expect.reject if isinstance(case.expect, Reject) else case.id.rpartition("/")[0]


def _properties(case: Case) -> Iterator[tuple[str, str]]:
    yield "Element type", ", ".join(sorted({each.element_type for each in case.inputs if each.role == "tensor"}))
    yield "Context", case.context
    for each in case.inputs:
        if each.role == "control":
            yield each.name, "at run time" if each.binding == "parameter" else "constant"
    yield "Shapes", "dynamic" if any(each.dynamic is not None for each in case.inputs) else "static"
