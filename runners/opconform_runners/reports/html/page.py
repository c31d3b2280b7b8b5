"""The content of the HTML page of one run or several on the same suite."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opconform_runners.reports.failures import Group, groups
from opconform_runners.reports.html.cases import cases_of, shown_evidence
from opconform_runners.reports.html.header import Head, head_of
from opconform_runners.reports.html.requirements import BarRow, operations_of
from opconform_runners.reports.html.subject import Link, Models, Subject, cases_place, short
from opconform_runners.reports.matrix import matrix_of
from opconform_runners.reports.text import counted

#: The most cases that a group of failures lists.
_NAMED = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureGroup:
    """A group of failures of one backend, and the links to its cases; `backend` is empty on the page of one run."""

    backend: str
    group: Group
    given: str
    got: str
    count: str
    links: tuple[Link, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The content of the page.

    Attributes:
        title: The title of the document.
        heads: One header per backend.
        operations: The requirements of each operation.
        groups: The failures, by reason and requirement.
        reasons: The number of failures by reason.
        cases: The list of cases, for the script.
        evidence: The evidence of single cases, for the script.
    """

    title: str
    heads: tuple[Head, ...]
    operations: Mapping[str, Sequence[BarRow]]
    groups: tuple[FailureGroup, ...]
    reasons: tuple[Link, ...]
    cases: Mapping[str, object]
    evidence: Mapping[str, object]


def page_of(subjects: Sequence[Subject], models: Models) -> Page:
    """The content of the page of some runs on the same suite."""
    titles = [each.column.title for each in subjects]
    evidence, left_out = shown_evidence(subjects, models)
    results = [each for subject in subjects for each in subject.column.report.results]
    reasons = Counter(each.reason or "" for each in results if each.verdict == "fail")
    return Page(
        title=f"{' · '.join(titles)}: conformance",
        heads=tuple(head_of(number, each) for number, each in enumerate(subjects)),
        operations=operations_of(matrix_of([each.column for each in subjects], {})),
        groups=tuple(each for number in range(len(subjects)) for each in _groups(number, subjects)),
        reasons=tuple(
            Link(f"{name} {count:,}", cases_place(verdict="fail", reason=name))
            for name, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        ),
        cases=cases_of(subjects, left_out),
        evidence=evidence,
    )


def _groups(number: int, subjects: Sequence[Subject]) -> Iterator[FailureGroup]:
    """The groups of failures of one backend."""
    column = subjects[number].column
    for each in groups(column.report):
        all_cases = cases_place(
            backend=number, op=each.op, verdict="fail", reason=each.reason, broken=" ".join(each.broken)
        )
        links = [Link(result.id, f"#case/{number}/{result.id}") for result in each.results[:_NAMED]]
        if len(each.results) > _NAMED:
            links.append(Link(f"all {len(each.results):,}", all_cases))
        yield FailureGroup(
            backend=column.title if len(subjects) > 1 else "",
            group=each,
            given=short(each.smallest.inputs),
            got=short(each.smallest.sentence),
            count=counted(len(each.results), "case"),
            links=tuple(links),
        )


def script_json(value: object) -> str:
    """A value as JSON for a script element, which nothing in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode()


_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"} | {
    code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)
}
