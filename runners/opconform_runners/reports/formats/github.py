"""Annotations: the commands by which a GitHub workflow shows errors beside a commit."""

from collections.abc import Iterator
from typing import NamedTuple

from opconform_runners.reports.formats.standing import conclusion_text, groups
from opconform_runners.reports.novelty import counted, known, pass_sentence, stale_sentences
from opconform_runners.reports.printable import one_line
from opconform_runners.reports.report import Report

#: GitHub shows ten annotations of a level for a step, and drops the others without a word.
MOST = 10
_LONGEST = 400


class _Annotation(NamedTuple):
    level: str
    title: str
    message: str
    file: str = ""
    line: int = 0


def annotations_text(report: Report) -> str:
    """A report as workflow commands, one a line, for the standard output of a step.

    What counts is an error, an interpretation that is read otherwise a warning, and the verdict a notice. Where there
    are more than ten of a level the tenth says how many more.
    """
    lines: list[str] = []
    for level in ("error", "warning", "notice"):
        found = [each for each in _annotations(report) if each.level == level]
        if len(found) > MOST:
            more = f"{counted(len(found) - MOST + 1, f'more {level}')}; the report has them all."
            found = [*found[: MOST - 1], _Annotation(level, "opconform", more)]
        lines.extend(_command(each) for each in found)
    return "".join(f"{each}\n" for each in lines)


def _annotations(report: Report) -> Iterator[_Annotation]:
    verdict, *_ = conclusion_text(report)
    if report.conformant is None:
        yield _Annotation("error", "opconform: incomplete", verdict)
    if report.baseline is not None:
        for met in report.baseline.passes:
            line = met.line.number if met.line is not None else 0
            sentence = pass_sentence(met, report.baseline.file)
            yield _Annotation("error", "opconform: unexpected pass", sentence, report.baseline.file, line)
        for stale, sentence in zip(report.baseline.stale, stale_sentences(report.baseline), strict=True):
            yield _Annotation("error", "opconform: stale line", sentence, report.baseline.file, stale.number)
    for group in groups(report):
        if group.standing != "known":
            case = group.smallest
            message = f"{counted(len(group.results), 'case')}, such as {case.id}: given {case.inputs}: {case.sentence}"
            yield _Annotation("error" if group.standing == "new" else "warning", f"opconform: {group.title}", message)
    if report.baseline is not None:
        yield _Annotation("notice", "opconform: known failures", f"{known(report.baseline)}.")
    elif report.conformant is not None:
        yield _Annotation("notice", f"opconform: {report.implementation.title}", verdict)


def _command(annotation: _Annotation) -> str:
    properties = {
        "file": annotation.file,
        "line": str(annotation.line) if annotation.line else "",
        "title": one_line(annotation.title, _LONGEST),
    }
    shown = ",".join(f"{name}={_property(each)}" for name, each in properties.items() if each)
    return f"::{annotation.level} {shown}::{_data(one_line(annotation.message, _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
