"""Workflow commands that make GitHub show errors beside a commit."""

from collections.abc import Iterator
from typing import NamedTuple

from opconform.errors import counted
from opconform.system.text import one_line
from opconform_runners.findings.grouping import shown_findings
from opconform_runners.findings.known.comparison import known_sentences
from opconform_runners.findings.report import Report
from opconform_runners.reports.terminal.conclusion import (
    conclusion,
    known_failures,
    lost_sentences,
    pass_sentences,
    stale_sentences,
)
from opconform_runners.reports.terminal.incidents import incident_sentence

#: GitHub shows ten annotations of a level per step, and drops the others silently.
MOST = 10
_LONGEST = 400
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


class _Annotation(NamedTuple):
    level: str
    title: str
    message: str
    file: str = ""
    line: int = 0


def annotations_text(report: Report) -> str:
    """A report as workflow commands, one per line, for the standard output of a step.

    Failures that count are errors, interpretation differences are warnings, and the verdict is a notice. The tenth
    annotation of a level gives the number of those left out.
    """
    lines: list[str] = []
    for level in ("error", "warning", "notice"):
        annotations = [annotation for annotation in _annotations(report) if annotation.level == level]
        if len(annotations) > MOST:
            more = f"{counted(len(annotations) - MOST + 1, f'more {level}')}; see the report for all of them."
            annotations = [*annotations[: MOST - 1], _Annotation(level, "", more)]
        lines.extend(_command(annotation) for annotation in annotations)
    return "".join(f"{line}\n" for line in lines)


def _annotations(report: Report) -> Iterator[_Annotation]:
    verdict, *_ = conclusion(report)
    baseline = report.baseline
    if report.conformant is None:
        yield _Annotation("error", "incomplete", verdict)
    if baseline is not None:
        for sentence in lost_sentences(report).values():
            yield _Annotation("error", "no longer supported", sentence)
        sentences = pass_sentences(baseline)
        for met in baseline.passes:
            yield _Annotation("error", "unexpected pass", sentences[met.id], baseline.file, met.lines[0].number)
        for stale, sentence in zip(baseline.stale, stale_sentences(baseline), strict=True):
            yield _Annotation("error", "stale line", sentence, baseline.file, stale.number)
    for incident in report.incidents:
        yield _Annotation("error" if incident.is_death else "warning", "incident", incident_sentence(incident))
    for shown in shown_findings(report, ["new", "read"]):
        if shown.known:
            continue
        case = shown.smallest
        message = f"{shown.cases_text}, such as {case.id}: given {case.inputs}: {case.sentence}"
        message += f"; smallest failing subgraph: {shown.subgraph}" if shown.subgraph else ""
        yield _Annotation("error" if shown.standing == "new" else "warning", f"{shown.heading}: {shown.kind}", message)
    if sentences_of_known := [*known_sentences(report)]:
        yield _Annotation("notice", "known findings", f"{'. '.join(sentences_of_known)}.")
    if baseline is not None:
        yield _Annotation("notice", "known failures", f"{known_failures(baseline)}.")
    elif report.conformant is not None:
        yield _Annotation("notice", report.implementation.title, verdict)


def _command(annotation: _Annotation) -> str:
    title = f"opconform: {annotation.title}" if annotation.title else "opconform"
    named = {"file": annotation.file, "line": str(annotation.line or ""), "title": one_line(title, _LONGEST)}
    properties = ",".join(f"{name}={x.translate(_PROPERTY)}" for name, x in named.items() if x)
    return f"::{annotation.level} {properties}::{one_line(annotation.message, _LONGEST).translate(_DATA)}"
