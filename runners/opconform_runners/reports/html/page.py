"""The page: what it says of one run or several on the same suite."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opconform_runners.reports.html.cases import cases_of
from opconform_runners.reports.html.details import shown_evidence
from opconform_runners.reports.html.failures import Group, groups_of, reasons_of
from opconform_runners.reports.html.header import Head, head_of
from opconform_runners.reports.html.requirements import BarRow, operations_of
from opconform_runners.reports.html.subject import Link, Models, Subject
from opconform_runners.reports.matrix import matrix_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """All that the page says.

    Attributes:
        title: What it is called.
        heads: A backend each.
        operations: The requirements of each operation.
        groups: The failures, by reason and requirement.
        reasons: How many failures there are of each reason.
        cases: The list of cases, for the script.
        evidence: What is shown of single cases, for the script.
    """

    title: str
    heads: tuple[Head, ...]
    operations: Mapping[str, tuple[BarRow, ...]]
    groups: tuple[Group, ...]
    reasons: tuple[Link, ...]
    cases: Mapping[str, object]
    evidence: Mapping[str, object]


def page_of(subjects: Sequence[Subject], models: Models) -> Page:
    """The page of some runs, all of them on the same suite."""
    matrix = matrix_of([each.column for each in subjects], {})
    titles = [each.column.title for each in subjects]
    groups = [
        group for number, each in enumerate(subjects) for group in groups_of(number, each.column, len(subjects) > 1)
    ]
    evidence, left_out = shown_evidence(subjects, models)
    return Page(
        title=f"{' · '.join(titles)}: conformance",
        heads=tuple(head_of(number, each) for number, each in enumerate(subjects)),
        operations=operations_of(matrix),
        groups=tuple(groups),
        reasons=reasons_of(subjects),
        cases=cases_of(subjects, left_out),
        evidence=evidence,
    )


def script_json(value: object) -> str:
    """A value as JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode()


_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"} | {
    code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)
}
