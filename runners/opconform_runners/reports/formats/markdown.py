"""Markdown for a pull request or a GitHub step summary: the verdict, what is new, operations and requirements."""

import re
from collections.abc import Iterator, Sequence

from opconform.errors import counted
from opconform.system.text import one_line, shortened
from opconform_runners.findings.failures import Standing
from opconform_runners.findings.grouping import shown_findings
from opconform_runners.findings.operation_row import operation_rows
from opconform_runners.findings.report import VERDICTS, Report
from opconform_runners.reports.backend_matrix import OPERATION_SIGNS
from opconform_runners.reports.terminal.conclusion import (
    conclusion,
    known_failures,
    lost_sentences,
    news,
    pass_sentences,
    stale_sentences,
    verdict_text,
)
from opconform_runners.reports.terminal.incidents import incident_lines

#: A comment on GitHub has at most 65,536 characters.
LONGEST = 60_000
_CELL = 240
_SENTENCE = 2000
_NAMES = 20
#: The characters with a meaning in Markdown, HTML or GitHub.
_SPECIAL = re.compile(r"[^\w\s.,;/()=%'\-]|_|(?<=[wW])\.|^[-=]")
_HEADINGS: dict[Standing, str] = {
    "new": "Failures",
    "known": "Known failures",
    "read": "Deviations from interpretations (they do not affect the verdict)",
}
_MARKS = {"conformant": "✅", "not conformant": "❌", "incomplete": "⚠️"}


def markdown_text(report: Report) -> str:
    """A report as GitHub Markdown, short enough for a comment."""
    mark, verdict = _verdict(report)
    lines = [f"## {mark} opconform: {_text(f'{verdict}: {report.implementation.title}')}", ""]
    lines += [f"{_text(x, _SENTENCE)}\n" for x in conclusion(report)]
    if report.suite.digest:
        lines.append(f"Suite {_text(report.suite.version)}, digest {_code(report.suite.digest[:16])}.\n")
    lines += _comparison(report)
    if report.incidents:
        incidents = [_text(incident_line, _SENTENCE) for incident_line in incident_lines(report.incidents)]
        lines += ["### Incidents\n", *(f"- {x}" for x in shortened(incidents, _NAMES)), ""]
    operations = list(_operations(report))
    room = LONGEST - _length([*lines, *operations])
    failures = _fitting(list(_failures(report)), room)
    lines += [*failures, *operations, *_fitting(list(_requirements(report)), room - _length(failures))]
    return "\n".join(lines).rstrip("\n") + "\n"


def _verdict(report: Report) -> tuple[str, str]:
    """A mark, and the verdict: against the baseline where there is one, as the exit code."""
    comparison = report.baseline
    if comparison is None or report.conformant is None:
        return _MARKS[report.conclusion], verdict_text(report)
    known = [counted(len(comparison.known), "known failure")] if comparison.known else []
    plain = ", ".join([report.verdict, *known])
    return ("✅", f"nothing new ({plain})") if report.is_as_expected else ("❌", f"new: {news(report)} ({plain})")


def _comparison(report: Report) -> Iterator[str]:
    comparison = report.baseline
    if comparison is None:
        return
    yield f"**Against {_code(comparison.file)}**: new: {news(report)}; {known_failures(comparison)}.\n"
    passes = list(pass_sentences(comparison).values())
    lost = list(lost_sentences(report).values())
    stale = stale_sentences(comparison)
    for title, sentences in (("No longer supported", lost), ("Unexpected passes", passes), ("Stale lines", stale)):
        if sentences:
            yield f"### {title}\n"
            yield from (f"- {x}" for x in shortened([_code(sentence) for sentence in sentences], _NAMES))
            yield ""


def _failures(report: Report) -> Iterator[str]:
    for standing, heading in _HEADINGS.items():
        rows = shown_findings(report, [standing])
        if rows:
            title = "Regressions" if standing == "new" and report.baseline is not None else heading
            known = [] if report.known is None else ["known"]
            columns = ("finding", "kind", "cases", *known, "when", "such as", "given", "got")
            yield f"### {title}\n\n| {' | '.join(columns)} |\n|---|---|---:|{'---|' * (len(columns) - 3)}"
        for row in rows:
            case, count = row.smallest, f"{len(row.results):,}"
            when = _code(row.finding.when) if row.finding.when else ""
            known = [] if report.known is None else [_text(row.known) or "**new**"]
            texts = map(_code, (case.id, case.inputs, case.sentence))
            subgraph = f"; smallest failing subgraph: {_code(row.subgraph)}" if row.subgraph else ""
            yield f"| {' | '.join((_code(row.names), _code(row.kind), count, *known, when, *texts))}{subgraph} |"
        if rows:
            yield ""


def _operations(report: Report) -> Iterator[str]:
    rows = operation_rows(report)
    if not rows:
        return
    yield f"<details><summary>{counted(len(rows), 'operation')}</summary>\n"
    yield f"| operation | {' | '.join(VERDICTS)} |\n|---|{'---:|' * len(VERDICTS)}"
    for row in rows:
        counts = " | ".join(f"{row.counts[name]:,}" for name in VERDICTS)
        yield f"| {OPERATION_SIGNS[row.status][0]} {_code(row.op)} | {counts} |"
    yield "\n</details>\n"


def _requirements(report: Report) -> Iterator[str]:
    rows = [requirement for requirement in report.requirements if any(requirement.counts.values())]
    if not rows:
        return
    yield f"<details><summary>{counted(len(rows), 'requirement')}</summary>\n"
    yield f"| requirement | level | {' | '.join(VERDICTS)} |\n|---|---|{'---:|' * len(VERDICTS)}"
    for row in rows:
        mark = "❌" if row.is_broken else "✅" if row.counts["pass"] else "·"
        level = "mapped" if row.is_mapped else row.level
        counts = " | ".join(f"{row.counts[name]:,}" for name in VERDICTS)
        yield f"| {mark} {_code(f'{row.op} {row.id}')} | {level} | {counts} |"
    yield "\n</details>"


def _fitting(lines: list[str], room: int) -> list[str]:
    if _length(lines) <= room:
        return lines
    note = "\nThe rest does not fit here; see the report.\n"
    closing = ["\n</details>"] if any("<details>" in line for line in lines) else []
    room -= _length([note, *closing])
    kept: list[str] = []
    for item in lines:
        room -= len(item) + 1
        if room < 0:
            break
        kept.append(item)
    return [*kept, *(closing if kept else []), note]


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _code(text: str) -> str:
    """Text as code without any formatting, link or mention: every special character is an entity."""
    return f"<code>{_text(text)}</code>"


def _text(text: str, longest: int = _CELL) -> str:
    return _SPECIAL.sub(lambda match: f"&#{ord(match.group())};", one_line(text, longest))
