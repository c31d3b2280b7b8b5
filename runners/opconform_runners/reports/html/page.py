"""The content of the HTML page of one run or several on the same suite."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform_runners.harness.environment import UNKNOWN, environment_facts
from opconform_runners.reports.conclusion import conclusion
from opconform_runners.reports.failures import groups
from opconform_runners.reports.html.cases import cases_of, shown_evidence
from opconform_runners.reports.html.subject import Link, Subject, cases_place, short
from opconform_runners.reports.matrix import SIGNS, Matrix, counts_text, matrix_of
from opconform_runners.reports.report import Report, RequirementRow
from opconform_runners.reports.text import counted

#: The most cases that a group of failures lists.
_NAMED = 6
#: The characters that could end a script element, or that not every parser of scripts takes.
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"} | {
    code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The content of the page, with the names that its template uses.

    Attributes:
        title: The title of the document.
        heads: One header per backend.
        operations: The rows of each operation's table of requirements.
        groups: The failures, by reason and requirement.
        reasons: The number of failures by reason.
        cases: The list of cases, for the script.
        evidence: The evidence of single cases, for the script.
    """

    title: str
    heads: Sequence[Mapping[str, Any]]
    operations: Mapping[str, Sequence[Mapping[str, Any]]]
    groups: Sequence[Mapping[str, Any]]
    reasons: Sequence[Link]
    cases: Mapping[str, object]
    evidence: Mapping[str, object]


def page_of(subjects: Sequence[Subject]) -> Page:
    """The content of the page of some runs on the same suite."""
    columns = [each.column for each in subjects]
    evidence, left_out = shown_evidence(subjects)
    reasons = Counter(each.reason or "" for one in columns for each in one.report.results if each.verdict == "fail")
    return Page(
        title=f"{' · '.join(each.title for each in columns)}: conformance",
        heads=[_head(number, each) for number, each in enumerate(subjects)],
        operations=_operations(matrix_of(columns, {})),
        groups=[each for number in range(len(subjects)) for each in _groups(number, subjects)],
        reasons=[
            Link(f"{name} {count:,}", cases_place(verdict="fail", reason=name))
            for name, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        ],
        cases=cases_of(subjects, left_out),
        evidence=evidence,
    )


def _head(number: int, subject: Subject) -> dict[str, Any]:
    """The header of a backend: what was tested, and the verdict; `number` is its position on the page."""
    report = subject.column.report
    suite, where = report.suite, report.environment
    profiles = f"the profile{'' if len(report.profiles) == 1 else 's'} {', '.join(report.profiles)}"
    first, *others = (each.replace("`", "") for each in conclusion(report))
    python = f", with {where.python}" if where.python is not None else ""
    return {
        "title": subject.column.title,
        "conclusion": report.conclusion,
        "standing": {True: "kept", False: "broken", None: "error"}[report.conformant],
        "extent": f"{report.coverage}; {profiles}, suite {suite.version} ({suite.digest[:16]})",
        "where": "" if where == UNKNOWN else f"Run on {where.system}, {where.machine}{python}",
        "sentences": (first.partition(": ")[2], *others),
        "facts": tuple(_facts(report)),
        "counts": tuple(
            (name, Link(f"{count:,}", cases_place(backend=number, verdict=name)))
            for name, count in report.summary.items()
            if count
        ),
        "started": report.started,
    }


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    who, suite, packages = report.implementation, report.suite, report.environment.packages
    yield "Tested", who.title
    yield from environment_facts(report.environment, who.device)
    if packages:
        yield "Packages", ", ".join(f"{name} {version}" for name, version in packages.items())
    if report.outputs is not None:
        yield "Judged from outputs with SHA-256", report.outputs
    yield "Extent", "whole profiles" if report.whole else "a selection, which cannot be certified"
    yield "Rules", "interpretations count as well (strict)" if report.strict else "normative requirements count"
    yield "Given as", ", ".join(who.dialects) or "the case itself"
    yield "Suite", f"version {suite.version}, seed {suite.seed}, by opconform {suite.generator}"
    yield "Suite digest", suite.digest
    for op, revisions in suite.specification.items():
        yield f"Specification of {op}", ", ".join(revisions)


def _operations(matrix: Matrix) -> dict[str, list[dict[str, Any]]]:
    """The requirements that have cases, by operation, with one bar per backend."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in matrix.rows:
        if any(any(each.counts.values()) for each in row):
            first = row[0]
            place = cases_place(requirement=f"{first.op} {first.id}")
            bars = [_bar(number, each) for number, each in enumerate(row)]
            rows[first.op].append({"requirement": first, "link": place, "bars": bars})
    return dict(rows)


def _bar(backend: int, row: RequirementRow) -> dict[str, Any]:
    """One requirement on one backend; a segment is a verdict, and its beginning and its width in percent."""
    segments, start = [], 0.0
    for name, count in row.counts.items():
        if count:
            width = 100 * count / sum(row.counts.values())
            segments.append((name, f"{start:.2f}", f"{width:.2f}"))
            start += width
    verdict = "fail" if row.counts["fail"] else ""
    return {
        "standing": row.standing,
        "sign": SIGNS[row.standing],
        "segments": segments,
        "link": Link(
            counts_text(row.counts), cases_place(backend=backend, requirement=f"{row.op} {row.id}", verdict=verdict)
        ),
    }


def _groups(number: int, subjects: Sequence[Subject]) -> Iterator[dict[str, Any]]:
    """The groups of failures of one backend, which is only named on the page of several runs."""
    column = subjects[number].column
    for each in groups(column.report):
        links = [Link(result.id, f"#case/{number}/{result.id}") for result in each.results[:_NAMED]]
        if len(each.results) > _NAMED:
            broken = " ".join(each.broken)
            place = cases_place(backend=number, op=each.op, verdict="fail", reason=each.reason, broken=broken)
            links.append(Link(f"all {len(each.results):,}", place))
        yield {
            "backend": column.title if len(subjects) > 1 else "",
            "group": each,
            "given": short(each.smallest.inputs),
            "got": short(each.smallest.sentence),
            "count": counted(len(each.results), "case"),
            "links": links,
        }


def script_json(value: object) -> str:
    """A value as JSON for a script element, which nothing in it can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode()
