"""The summary on a terminal: one row per requirement, the failures by reason, and the verdict."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from rich.console import Console, RenderableType
from rich.console import Group as Lines
from rich.markup import escape

from opconform.errors import counted
from opconform.system.text import printable, shortened
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.grouping import ShownFinding, shown_findings
from opconform_runners.findings.report import Report
from opconform_runners.harness.environment import environment_facts
from opconform_runners.reports.terminal.conclusion import (
    conclusion,
    expected_otherwise,
    known_failures,
    lost_sentences,
    news,
    pass_sentences,
    stale_sentences,
)
from opconform_runners.reports.terminal.incidents import incident_lines
from opconform_runners.reports.terminal.requirements import print_requirements
from opconform_runners.reports.terminal.uses import print_uses
from opconform_runners.reports.terminal.wrapped import Wrapped, print_sentence
from opconform_runners.verdicts.baseline import Comparison
from opconform_runners.verdicts.results import Result

#: The colour of each conclusion, with and without a baseline.
_COLOURS = {
    "CONFORMANT": "green",
    "NOT CONFORMANT": "red",
    "INCOMPLETE": "magenta",
    "NOTHING NEW": "green",
    "NEW": "red",
}
_CONCLUSION = re.compile(rf"({'|'.join(_COLOURS)})(?=[,.:])")
#: The remarks, and the sentence for each.
REMARKS = {
    "undeclared-unsupported": "unsupported, although the backend declares everything needed",
    "passes-undeclared": "passed, although the backend does not declare everything needed",
    "fails-undeclared": "failed, and not counted, since the backend does not declare everything needed",
    "flushes-denormals": "passed, since the backend declares that it flushes denormal numbers to zero",
    "passes-unclaimed": "passed, although the claims do not cover it",
    "late": "rejected at run time instead of when the model was built",
    "other-reason": "rejected, but for another requirement than the violated one",
}
#: The element type of an input, as in `data f32[2]`.
_TYPE = re.compile(r"\b([a-z]+\d\w*|boolean|string)\[")
_CASE = re.compile(r" [^\s/]+/[^\s/]+/[0-9a-f]{10}")
#: The most items of a section unless it is verbose, and the most characters of a message.
_MOST, _MOST_INCIDENTS = 10, 3
_LONGEST = 300
#: The most requirements and symptoms of a finding, and the most of its operations.
_NAMED, _OPERATIONS = 3, 10


def print_summary(
    report: Report,
    console: Console,
    *,
    is_verbose: bool = False,
) -> None:
    """Print a report for a person, on eighty columns: the worst failures first, and the verdict last.

    Unless `is_verbose`, requirements that no case breaks are only counted, a section ends after its first items, and
    inconclusive cases, unsupported ones and remarks are one line each. With a baseline, known failures are counted.
    """
    comparison = report.baseline
    section = partial(_print_section, console, limit=None if is_verbose else _MOST)
    _print_head(report, console)
    if comparison is None:
        shown = shown_findings(report)
        new = [x for x in shown if not x.known]
        section("Findings" if report.known is None else "New findings", _findings(new))
        if report.known is not None:
            section(f"Known findings of {report.known.product}", _findings(x for x in shown if x.known))
    section("Harness errors", _by_sentence(report, "error"))
    incidents = map(_item, incident_lines(report.incidents))
    _print_section(console, "Incidents", incidents, limit=None if is_verbose else _MOST_INCIDENTS)
    if comparison is not None:
        section("New findings", _findings(shown_findings(report, ["new"]), comparison))
        section("No longer supported", _lines(lost_sentences(report).values()))
        section("Unexpected passes", _lines(pass_sentences(comparison).values()))
        section("Stale lines", _lines(stale_sentences(comparison)))
    console.print()
    print_uses(report, console)
    print_requirements(report, console, is_verbose=is_verbose)
    if is_verbose:
        section("Inconclusive cases", _by_sentence(report, "inconclusive"))
        section("Not supported", _by_sentence(report, "unsupported"))
        section("Remarks", _remarks(report))
    console.print()
    if not is_verbose:
        _print_counts(report, console)
    if comparison is not None:
        print_sentence(console, _text(f"Expected by {comparison.file}: {known_failures(comparison)}."))
    for item in conclusion(report)[1:]:
        print_sentence(console, _text(item))
    print_verdict(report, console)


def print_verdict(report: Report, console: Console) -> None:
    """Print the verdict on the backend and, with a baseline, the verdict against it."""
    print_sentence(console, _coloured(conclusion(report)[0]))
    comparison = report.baseline
    if comparison is not None:
        verdict = "NOTHING NEW." if report.is_as_expected else f"NEW: {news(report)}."
        if report.conformant is None:
            verdict = f"INCOMPLETE, so the comparison is not final. New so far: {news(report)}."
        print_sentence(console, f"Against {_text(comparison.file)}: {_coloured(verdict)}")


def is_folded(report: Report) -> bool:
    """Whether the summary only counts what a verbose one lists."""
    return len(shown_findings(report, ["new"])) > _MOST or any(
        result.verdict in ("inconclusive", "unsupported") or shown_remarks(result) for result in report.results
    )


def _print_counts(report: Report, console: Console) -> None:
    """One line each on inconclusive cases, unsupported cases and remarks."""
    inconclusive = [result for result in report.results if result.verdict == "inconclusive"]
    if inconclusive:
        neighbour_checks = sum("; the neighbour check, " in x.sentence for x in inconclusive)
        alone = sum("has no twin" in x.sentence for x in inconclusive)
        reasons = (
            (len(inconclusive) - neighbour_checks - alone, "the same case without the violation did not pass either"),
            (alone, "the spec gives no twin, the same case without the violation"),
            (neighbour_checks, "the graph around the operation fails without it too"),
        )
        said = "; ".join(f"{counted(number, 'case')}, since {reason}" for number, reason in reasons if number)
        print_sentence(console, f"Inconclusive: {said}.")
    unsupported = len(list(_by_sentence(report, "unsupported")))
    if unsupported:
        cases = counted(report.summary["unsupported"], "case")
        console.print(f"Not supported: {cases} for {counted(unsupported, 'reason')}.")
    remarks = Counter(name for result in report.results for name in shown_remarks(result))
    if remarks:
        said = "; ".join(f"{counted(number, 'case')} {REMARKS[name]}" for name, number in remarks.items())
        print_sentence(console, f"Remarks: {said}.")
        if types := _undeclared_types(report):
            print_sentence(console, f"Not declared by the backend: {', '.join(types)}.")


def _undeclared_types(report: Report) -> list[str]:
    """The element types of cases that are not counted, or are remarked on, since the backend does not declare them."""
    texts = [x.inputs for x in report.results if any(name.endswith("undeclared") for name in x.remarks)]
    named = {name for text in texts for name in _TYPE.findall(text)}
    declared = {*report.implementation.element_types}
    return [name for name in ELEMENT_TYPES if name in named - declared]


def _coloured(sentence: str) -> str:
    match = _CONCLUSION.match(sentence)
    if match is None:
        return _text(sentence)
    return f"[bold {_COLOURS[match[0]]}]{match[0]}[/]{_text(sentence[match.end() :])}"


def _print_head(report: Report, console: Console) -> None:
    who, suite = report.implementation, report.suite
    device = f" on {who.device}" if who.device else ""
    console.print(f"[bold]{_text(who.name)} {_text(who.version)}[/bold]{_text(device)}")
    facts = "; ".join(f"{what.lower()}: {said}" for what, said in environment_facts(report.environment, who.device))
    if facts:
        console.print(_text(facts))
    names = suite.profiles or (*report.profiles,)
    cases, plural = counted(report.cases, "case"), "" if len(names) == 1 else "s"
    profiles = f" of the profile{plural} {', '.join(names)}" if names else ""
    console.print(f"suite {suite.version}, digest {suite.digest[:16]}, {cases}{profiles}")


def _print_section(console: Console, title: str, items: Iterable[RenderableType], *, limit: int | None) -> None:
    shown = list(items)
    if shown:
        console.print(f"\n[bold]{title}[/bold]")
    for item in shown[:limit]:
        console.print(item, soft_wrap=isinstance(item, str), crop=False)
    if others := len(shown[limit:] if limit is not None else ()):
        console.print(f"… and {others:,} more (`opconform report OUT -v` lists them)")


def _findings(findings: Iterable[ShownFinding], comparison: Comparison | None = None) -> Iterator[RenderableType]:
    otherwise = {} if comparison is None else expected_otherwise(comparison)
    return (_finding(finding, otherwise) for finding in findings)


def _finding(shown: ShownFinding, otherwise: Mapping[str, str]) -> RenderableType:
    finding, smallest = shown.finding, shown.smallest
    of_smallest = [x.text for x in shown.requirements if x.op == smallest.op and x.id in smallest.broken]
    fields = [("given", smallest.inputs), *(("expected", text) for text in dict.fromkeys(of_smallest[:_NAMED]))]
    fields += [("got", smallest.sentence)]
    fields += [("cause", f"{finding.cause} (likely)")] if finding.cause else []
    fields += [("subgraph", shown.subgraph)] if shown.subgraph else []
    fields += [("case", smallest.id)]
    fields += [("when", finding.when)] if finding.when else []
    fields += [("also", ", ".join(shortened(shown.other_operations, _OPERATIONS)))] if shown.other_operations else []
    symptoms = [*finding.symptoms.items()] if len(finding.symptoms) > 1 else []
    fields += [("of them", f"{counted(count, 'case')}: {symptom}") for symptom, count in symptoms[:_NAMED]]
    if rest := sum(count for _, count in symptoms[_NAMED:]):
        fields.append(("of them", f"{counted(rest, 'case')}: other symptoms"))
    fields += [("known", shown.known)] if shown.known else []
    fields += [("baseline", otherwise[smallest.id])] if smallest.id in otherwise else []
    title = f"[bold]{_text(shown.heading)}[/bold]: [red]{shown.kind}[/red], {shown.cases_text}"
    return Lines(Wrapped(title), *(Wrapped(_text(x), name) for name, x in fields))


def _remarks(report: Report) -> Iterator[RenderableType]:
    for name, sentence in REMARKS.items():
        ids = [result.id for result in report.results if name in shown_remarks(result)]
        if ids:
            yield _item(f"{name}: {counted(len(ids), 'case')} {sentence}, such as {ids[0]}")


def shown_remarks(result: Result) -> list[str]:
    """The remarks on one case by name."""
    late = ["late"] if result.late else []
    unclaimed = ["passes-unclaimed"] if result.unclaimed and result.verdict == "pass" else []
    return [*result.remarks, *unclaimed, *late, *(["other-reason"] if result.other_reason is not None else [])]


def _by_sentence(report: Report, verdict: str) -> Iterator[RenderableType]:
    """The cases with a verdict, grouped by their sentence without its case ids."""
    by_sentence: dict[str, list[str]] = defaultdict(list)
    for result in report.results:
        if result.verdict == verdict:
            by_sentence[_CASE.sub("", result.sentence)].append(result.id)
    for sentence, cases in sorted(by_sentence.items(), key=lambda x: (-len(x[1]), x[0])):
        shown = sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 1]}…"
        yield _item(f"{counted(len(cases), 'case')}, such as {cases[0]}: {shown}")


def _item(sentence: str) -> RenderableType:
    return Wrapped(_text(sentence), indent=2)


def _lines(sentences: Iterable[str]) -> Iterator[str]:
    return (f"  {_text(sentence)}" for sentence in sentences)


def _text(text: str) -> str:
    """Text from outside, which can neither style what is printed nor control the terminal."""
    return escape(printable(text, lines=True))
