"""Markdown, for a pull request or the summary of a GitHub step: the verdict, what is new, and a row a requirement."""

import re
from collections.abc import Iterator

from opconform_runners.backends.backend import full_name
from opconform_runners.reports.formats.standing import Standing, conclusion_text, groups
from opconform_runners.reports.novelty import counted, known, novelty, pass_sentence, stale_sentences
from opconform_runners.reports.printable import one_line
from opconform_runners.reports.report import VERDICTS, Report

#: A comment on GitHub takes 65,536 characters.
LONGEST = 60_000
_CELL = 240
_SENTENCE = 2000
_NAMES = 20
#: The characters that Markdown, HTML or GitHub reads as something else than themselves.
_SPECIAL = re.compile(r"[^\w\s.,;/()=%'\-]|_|(?<=[wW])\.|^[-=]")
_HEADINGS: dict[Standing, str] = {
    "new": "Failures",
    "known": "Known failures",
    "read": "Read otherwise, and not counted",
}
_MARKS = {"conformant": "✅", "not conformant": "❌", "incomplete": "⚠️"}


def markdown_text(report: Report) -> str:
    """A report as Markdown of GitHub's kind, short enough for a comment."""
    mark, verdict = _verdict(report)
    lines = [f"## {mark} opconform: {_text(f'{verdict}: {report.implementation.title}')}", ""]
    lines += [f"{_text(each, _SENTENCE)}\n" for each in conclusion_text(report)]
    lines += _suite(report)
    lines += _novel(report)
    room = LONGEST - sum(len(each) + 1 for each in lines)
    for section in (_failures(report), _requirements(report)):
        taken = _within(list(section), room)
        room -= sum(len(each) + 1 for each in taken)
        lines += taken
    return "\n".join(lines).rstrip("\n") + "\n"


def _verdict(report: Report) -> tuple[str, str]:
    """A mark, and what the run came to: against its baseline where there is one, as its exit code says."""
    comparison = report.baseline
    if comparison is None or report.conformant is None:
        return _MARKS[report.conclusion], f"{report.conclusion.upper()}, {report.coverage}"
    failures = [counted(len(comparison.known), "known failure")] if comparison.known else []
    plain = ", ".join([report.verdict, *failures])
    if comparison.is_as_expected:
        return "✅", f"nothing new ({plain})"
    return "❌", f"new: {novelty(comparison)} ({plain})"


def _suite(report: Report) -> Iterator[str]:
    if report.suite.digest:
        yield f"Suite {_text(report.suite.version)}, digest {_code(report.suite.digest[:16])}.\n"


def _novel(report: Report) -> Iterator[str]:
    comparison = report.baseline
    if comparison is None:
        return
    yield f"**Against {_code(comparison.file)}**: new: {novelty(comparison)}; {known(comparison)}.\n"
    passes = [pass_sentence(each, comparison.file) for each in comparison.passes]
    for title, sentences in (("Unexpected passes", passes), ("Stale lines", list(stale_sentences(comparison)))):
        if sentences:
            yield f"### {title}\n"
            yield from (f"- {_code(each)}" for each in sentences[:_NAMES])
            if len(sentences) > _NAMES:
                yield f"- … and {len(sentences) - _NAMES:,} more"
            yield ""


def _failures(report: Report) -> Iterator[str]:
    found = groups(report)
    for standing, heading in _HEADINGS.items():
        mine = [each for each in found if each.standing == standing]
        if not mine:
            continue
        new = "Regressions" if standing == "new" and report.baseline is not None else heading
        yield f"### {new}\n\n| requirement | reason | cases | such as | given | got |\n|---|---|---:|---|---|---|"
        for each in mine:
            case = each.smallest
            name = f"{each.op} {', '.join(each.broken) or 'none named'}"
            cells = (_code(name), _code(each.reason), f"{len(each.results):,}", _code(case.id), _code(case.inputs))
            yield f"| {' | '.join(cells)} | {_code(case.sentence)} |"
        yield ""


def _requirements(report: Report) -> Iterator[str]:
    rows = [each for each in report.requirements if any(each.counts.values())]
    if not rows:
        return
    yield f"<details><summary>{counted(len(rows), 'requirement')}</summary>\n"
    yield f"| requirement | level | {' | '.join(VERDICTS)} |\n|---|---|{'---:|' * len(VERDICTS)}"
    for each in rows:
        level = "mapped" if full_name(each.op, each.id) in report.implementation.mapped else each.level
        mark = "❌" if each.is_broken else "✅" if each.counts["pass"] else "·"
        counts = " | ".join(f"{each.counts[name]:,}" for name in VERDICTS)
        yield f"| {mark} {_code(f'{each.op} {each.id}')} | {level} | {counts} |"
    yield "\n</details>"


def _within(lines: list[str], room: int) -> list[str]:
    """The lines that there is room for, and where that is not all a word of it."""
    if sum(len(each) + 1 for each in lines) <= room:
        return lines
    taken: list[str] = []
    note = "\nThere is more than fits here; the report has it all.\n"
    closing = "\n</details>" if any("<details>" in each for each in lines) else ""
    room -= len(note) + len(closing) + 2
    for each in lines:
        room -= len(each) + 1
        if room < 0:
            break
        taken.append(each)
    return [*taken, note] if not taken or not closing else [*taken, closing, note]


def _code(text: str) -> str:
    """A text as code, in which nothing is formatted, linked or mentioned: every special character is an entity."""
    return f"<code>{_text(text)}</code>"


def _text(text: str, longest: int = _CELL) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text, longest))
