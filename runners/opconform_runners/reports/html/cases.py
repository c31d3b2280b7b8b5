"""The list of cases: a short array each, for the page's script."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from opconform.suite.reader import Suite
from opconform_runners.reports.html.subject import Subject, short
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.results import Result


@dataclass(slots=True)
class _Names:
    """Words that are said often, each by a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))


def cases_of(subjects: Sequence[Subject], left_out: int) -> dict[str, object]:
    """The list of cases: a short array each, in which what is said often is a number."""
    groups, requirements = _Names(), _Names()
    rows = []
    for number, subject in enumerate(subjects):
        for each in subject.column.report.results:
            group, _, digits = each.id.rpartition("/")
            row: list[object] = [
                number,
                groups.number(group),
                digits,
                each.profile,
                each.verdict,
                each.reason or "",
                1 if each.expect == "reject" else 0,
                [requirements.number(f"{each.op} {name}") for name in each.requirements],
                [requirements.number(f"{each.op} {name}") for name in each.broken],
                short(each.sentence),
                short(each.inputs),
                short(each.message or "") if (each.message or "") not in each.sentence else "",
                _remarks(each),
                short(each.again or ""),
                short(each.log or ""),
            ]
            while row[-1] in ("", []):
                row.pop()
            rows.append(row)
    suites = [each.suite for each in subjects if each.suite is not None]
    return {
        "backends": [
            {
                "title": each.column.title,
                "started": each.column.report.started,
                "script": each.script,
                "place": shlex.quote(each.place),
            }
            for each in subjects
        ],
        "groups": list(groups.numbers),
        "titles": _titles(suites[0], list(groups.numbers)) if suites else [],
        "requirements": list(requirements.numbers),
        "texts": _texts(subjects[0].column.report, list(requirements.numbers)),
        "cases": rows,
        "left_out": left_out,
    }


def _remarks(result: Result) -> list[str]:
    return [
        *(["late"] if result.late else []),
        *([f"other-reason {result.other_reason}"] if result.other_reason is not None else []),
        *result.findings,
    ]


def _titles(suite: Suite, groups: Sequence[str]) -> list[str]:
    """The title of each group, which is that of any of its cases."""
    some = {each.id.rpartition("/")[0]: each for each in suite.entries}
    return [suite.case(some[each]).title if each in some else "" for each in groups]


def _texts(report: Report, names: Sequence[str]) -> list[str]:
    rows = {f"{each.op} {each.id}": each.text for each in report.requirements}
    return [rows.get(each, "") for each in names]
