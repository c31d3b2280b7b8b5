"""Groups: the failures by reason and requirement."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opconform_runners.reports.html.subject import Link, Subject, case_place, place_of, short
from opconform_runners.reports.matrix import Column
from opconform_runners.reports.report import failures_by_kind

#: The most cases that a group names.
_NAMED = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Failures of one backend with the same reason, against the same requirements."""

    backend: str
    op: str
    reason: str
    broken: tuple[str, ...]
    demanded: tuple[tuple[str, str], ...]
    given: str
    came: str
    count: str
    cases: tuple[Link, ...]
    more: Link | None


def groups_of(number: int, column: Column, several: bool) -> Iterator[Group]:
    """The failures of a backend, by its number among those of the page; where there are several, each names its own."""
    report = column.report
    rows = {(each.op, each.id): each for each in report.requirements}
    for (op, broken, reason), results in failures_by_kind(report.results).items():
        results.sort(key=lambda each: (len(each.inputs), each.id))
        link = place_of(backend=number, op=op, verdict="fail", reason=reason, broken=" ".join(broken))
        count = len(results)
        yield Group(
            backend=column.title if several else "",
            op=op,
            reason=reason,
            broken=broken,
            demanded=tuple((each, rows[op, each].text) for each in broken if (op, each) in rows),
            given=short(results[0].inputs),
            came=short(results[0].sentence),
            count=f"{count:,} case" if count == 1 else f"{count:,} cases",
            cases=tuple(Link(each.id, case_place(number, each.id)) for each in results[:_NAMED]),
            more=Link(f"all {count:,}", link) if count > _NAMED else None,
        )


def reasons_of(subjects: Sequence[Subject]) -> tuple[Link, ...]:
    """How many failures there are of each reason, the most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    for each in subjects:
        for result in each.column.report.results:
            if result.verdict == "fail":
                counts[result.reason or ""] += 1
    return tuple(
        Link(f"{name} {count:,}", place_of(verdict="fail", reason=name))
        for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )
