"""The page: what an HTML report says of one run or several, as plain values for a template and a script."""

import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

from rich.text import Text

from opconform.suite import Entry, Level, Suite
from opconform_runners.environment import UNKNOWN
from opconform_runners.evidence import Evidence, Model, evidence_of
from opconform_runners.excerpts import Excerpt
from opconform_runners.kept import Kept
from opconform_runners.matrix import Cell, Column, Matrix, matrix_of
from opconform_runners.report import VERDICTS, Report, RequirementRow
from opconform_runners.results import Result
from opconform_runners.summary import conclusion

#: The most bytes of evidence that a page carries; every group of failures gets its share.
EVIDENCE_LIMIT = 12 << 20
#: The most characters of one sentence, and cases that a group of failures names.
_LONGEST = 1_500
_NAMED = 6
_DECIDED = frozenset({"fail", "error", "inconclusive"})
_MARKS = {"kept": "✓", "broken": "✗", "mapped": "~", "open": "·", "error": "!"}
_STANDINGS = {
    "kept": "kept",
    "broken": "broken",
    "mapped": "done by the harness",
    "open": "not decided",
    "error": "harness error",
}

#: Gives a case's IR as text.
Models = Callable[[Suite, Entry], Sequence[Model]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One run that a page shows.

    Attributes:
        column: The backend's name and its report.
        suite: The suite, where it is there.
        place: What the suite is called in commands.
        script: The options with which `opconform repro` writes a script for the backend, or nothing.
        kept: What was kept of the outputs.
    """

    column: Column
    suite: Suite | None
    place: str
    script: str
    kept: Kept


class Segment(NamedTuple):
    """A part of a bar: the verdict, where it begins and how wide it is, both in percent."""

    verdict: str
    start: str
    width: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BarCell:
    """One requirement on one backend."""

    standing: str
    mark: str
    words: str
    counts: str
    segments: tuple[Segment, ...]
    link: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BarRow:
    """One requirement: its text, and a cell a backend."""

    id: str
    level: Level
    text: str
    link: str
    cells: tuple[BarCell, ...]


class Link(NamedTuple):
    """A place in the page, in words."""

    text: str
    href: str


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """One backend on the first screen."""

    title: str
    conclusion: str
    standing: str
    extent: str
    where: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, Link], ...]
    started: str


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
        group for number, each in enumerate(subjects) for group in _failures(number, each.column, len(subjects) > 1)
    ]
    evidence, left_out = _evidence(subjects, models)
    return Page(
        title=f"{' · '.join(titles)}: conformance",
        heads=tuple(_head(number, each) for number, each in enumerate(subjects)),
        operations=_operations(matrix),
        groups=tuple(groups),
        reasons=_reasons(subjects),
        cases=_cases(subjects, left_out),
        evidence=evidence,
    )


def script_json(value: object) -> str:
    """A value as JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode()


_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"} | {
    code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)
}


def _link(**wanted: object) -> str:
    return f"#cases?{urlencode({name: str(each) for name, each in wanted.items() if each != ''})}"


def _case_link(backend: int, case: str) -> str:
    return f"#case/{backend}/{case}"


def _head(number: int, subject: Subject) -> Head:
    report = subject.column.report
    who, suite = report.implementation, report.suite
    profiles = sorted({each.profile for each in report.results})
    named = f"the profile{'' if len(profiles) == 1 else 's'} {', '.join(profiles)}"
    first, *others = (Text.from_markup(each).plain for each in conclusion(report))
    facts = [
        ("Tested", f"{who.name} {who.version}" + (f" on {who.device}" if who.device else "")),
        *_ingredients(report),
        ("Extent", "whole profiles" if report.whole else "a selection, which certifies nothing"),
        ("Rules", "interpretations count as well (strict)" if report.strict else "normative requirements count"),
        ("Given as", ", ".join(who.dialects) or "the case itself"),
        ("Suite", f"version {suite.version}, seed {suite.seed}, by opconform {suite.generator}"),
        ("Suite digest", suite.digest),
        *((f"Specification of {op}", ", ".join(each)) for op, each in suite.specification.items()),
    ]
    return Head(
        title=subject.column.title,
        conclusion=subject.column.conclusion,
        standing={True: "kept", False: "broken", None: "error"}[report.conformant],
        extent=f"{len(report.results):,} cases of {named}, suite {suite.version} ({suite.digest[:16]})",
        where=_where(report),
        sentences=(first.partition(": ")[2] or first, *others),
        facts=tuple(facts),
        counts=tuple(
            (name, Link(f"{count:,}", _link(backend=number, verdict=name)))
            for name, count in report.summary.items()
            if count
        ),
        started=report.started,
    )


def _where(report: Report) -> str:
    """The environment that the backend ran in, as far as it was noted."""
    where = report.environment
    if where == UNKNOWN:
        return ""
    return f"Run on {where.system}, {where.machine}" + (f", with {where.python}" if where.python is not None else "")


def _ingredients(report: Report) -> Iterator[tuple[str, str]]:
    if report.environment.packages:
        yield "Packages", ", ".join(f"{name} {version}" for name, version in report.environment.packages.items())
    if report.outputs is not None:
        yield "Judged from outputs with SHA-256", report.outputs


def _operations(matrix: Matrix) -> dict[str, tuple[BarRow, ...]]:
    rows: dict[str, list[BarRow]] = defaultdict(list)
    found = [{(each.op, each.id): each for each in column.report.requirements} for column in matrix.columns]
    for row in matrix.rows:
        mine = [each[row.op, row.id] for each in found]
        if any(any(each.counts.values()) for each in mine):
            rows[row.op].append(
                BarRow(
                    id=row.id,
                    level=row.level,
                    text=mine[0].text,
                    link=_link(requirement=f"{row.op} {row.id}"),
                    cells=tuple(
                        _bar(number, each, cell)
                        for number, (each, cell) in enumerate(zip(mine, row.cells, strict=True))
                    ),
                )
            )
    return {op: tuple(each) for op, each in rows.items()}


def _bar(backend: int, row: RequirementRow, cell: Cell) -> BarCell:
    total = sum(row.counts.values())
    segments, start = [], 0.0
    for name in VERDICTS:
        width = 100 * row.counts[name] / total if total else 0.0
        if width:
            segments.append(Segment(name, f"{start:.2f}", f"{width:.2f}"))
        start += width
    counts = ", ".join(f"{row.counts[name]:,} {name}" for name in VERDICTS if row.counts[name])
    link = _link(backend=backend, requirement=f"{row.op} {row.id}", verdict="fail" if row.counts["fail"] else "")
    return BarCell(
        standing=cell.standing,
        mark=_MARKS[cell.standing],
        words=_STANDINGS[cell.standing],
        counts=counts or "no case",
        segments=tuple(segments),
        link=link,
    )


def _failures(number: int, column: Column, several: bool) -> Iterator[Group]:
    report = column.report
    rows = {(each.op, each.id): each for each in report.requirements}
    for (op, broken, reason), results in grouped(report.results).items():
        results.sort(key=lambda each: (len(each.inputs), each.id))
        link = _link(backend=number, op=op, verdict="fail", reason=reason, broken=" ".join(broken))
        count = len(results)
        yield Group(
            backend=column.title if several else "",
            op=op,
            reason=reason,
            broken=broken,
            demanded=tuple((each, rows[op, each].text) for each in broken if (op, each) in rows),
            given=_short(results[0].inputs),
            came=_short(results[0].sentence),
            count=f"{count:,} case" if count == 1 else f"{count:,} cases",
            cases=tuple(Link(each.id, _case_link(number, each.id)) for each in results[:_NAMED]),
            more=Link(f"all {count:,}", link) if count > _NAMED else None,
        )


def grouped(results: Sequence[Result]) -> dict[tuple[str, tuple[str, ...], str], list[Result]]:
    """The failures by operation, broken requirements and reason."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Result]] = defaultdict(list)
    for each in results:
        if each.verdict == "fail":
            groups[each.op, each.broken, each.reason or ""].append(each)
    return dict(sorted(groups.items()))


def _reasons(subjects: Sequence[Subject]) -> tuple[Link, ...]:
    counts: dict[str, int] = defaultdict(int)
    for each in subjects:
        for result in each.column.report.results:
            if result.verdict == "fail":
                counts[result.reason or ""] += 1
    return tuple(
        Link(f"{name} {count:,}", _link(verdict="fail", reason=name))
        for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )


@dataclass(slots=True)
class _Names:
    """Words that are said often, each by a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))


def _cases(subjects: Sequence[Subject], left_out: int) -> dict[str, object]:
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
                _short(each.sentence),
                _short(each.inputs),
                _short(each.message or "") if (each.message or "") not in each.sentence else "",
                _remarks(each),
                _short(each.again or ""),
                _short(each.log or ""),
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


def _evidence(subjects: Sequence[Subject], models: Models) -> tuple[dict[str, object], int]:
    """What is shown of single cases, and how many there was no room for."""
    shown: dict[str, object] = {}
    taken, left_out = 0, 0
    for number, subject, result in _in_turn(subjects):
        suite = subject.suite
        if suite is None or result.id not in suite.by_id:
            continue
        if taken > EVIDENCE_LIMIT:
            left_out += 1
            continue
        document = _evidence_document(evidence_of(suite, suite.by_id[result.id], result, subject.kept, models))
        shown[f"{number}/{result.id}"] = document
        taken += len(json.dumps(document))
    return shown, left_out


def _in_turn(subjects: Sequence[Subject]) -> Iterator[tuple[int, Subject, Result]]:
    """The cases that call for a look: one of each kind, then a second of each, so that a limit leaves none out."""
    ranked = []
    for number, subject in enumerate(subjects):
        seen: dict[tuple[object, ...], int] = defaultdict(int)
        for each in sorted(subject.column.report.results, key=lambda each: (len(each.inputs), each.id)):
            if each.verdict in _DECIDED:
                kind = (each.op, each.verdict, each.reason, each.broken)
                ranked.append(((each.verdict != "fail", seen[kind], number, each.id), number, subject, each))
                seen[kind] += 1
    for _, number, subject, result in sorted(ranked, key=lambda each: each[0]):
        yield number, subject, result


def _evidence_document(evidence: Evidence) -> dict[str, object]:
    document: dict[str, object] = {
        "title": evidence.title,
        "inputs": list(evidence.inputs),
        "data": _excerpt_document(evidence.data) if evidence.data is not None else None,
        "expected": evidence.expected,
        "wanted": [_excerpt_document(each) for each in evidence.wanted],
        "actual": _short(evidence.actual),
        "got": [_excerpt_document(each) for each in evidence.got],
        "note": evidence.note,
        "models": [[each.name, each.text] for each in evidence.models],
        "twin": evidence.twin,
    }
    return {name: each for name, each in document.items() if each}


def _excerpt_document(excerpt: Excerpt) -> dict[str, object]:
    document: dict[str, object] = {
        "name": excerpt.name,
        "kind": excerpt.kind,
        "where": excerpt.where,
        "rows": [list(each) for each in excerpt.rows],
        "at": [excerpt.row, excerpt.column],
        "size": [excerpt.height, excerpt.width],
        "along": excerpt.along,
        "chunks": list(excerpt.chunks),
        "differs": [[row, column, bits] for (row, column), bits in excerpt.patterns.items()],
        "first": list(excerpt.first) if excerpt.first is not None else None,
    }
    return {name: each for name, each in document.items() if each}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
