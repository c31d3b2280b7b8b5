"""The summary that a terminal shows: a row a requirement, the failures by reason, and the verdict on the whole."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from opconform_runners.backends.backend import full_name
from opconform_runners.harness.environment import environment_facts
from opconform_runners.reports.novelty import against, print_novelty
from opconform_runners.reports.printable import printable
from opconform_runners.reports.report import VERDICTS, Report, RequirementRow, failures_by_kind
from opconform_runners.verdicts.results import Result

_HEADINGS = {"pass": "pass", "fail": "fail", "unsupported": "unsup.", "inconclusive": "inconcl.", "error": "error"}
_STYLES = {"pass": "green", "fail": "red", "unsupported": "dim", "inconclusive": "yellow", "error": "magenta"}
_CASE = re.compile(r" \S+/\S+/[0-9a-f]{10}")
#: The most groups of failures that are shown, and the most characters of a message.
_MOST = 50
_LONGEST = 300
#: A title, and what stands below it.
_Section = tuple[str, Iterator[RenderableType]]


def print_summary(report: Report, console: Console) -> None:
    """Print a report for a person: eighty columns are enough, and nothing needs colour.

    With a baseline its known failures are counted, what is new comes last, and the verdict against it ends the summary.
    """
    for line in _head(report):
        console.print(line)
    console.print(_table(report))
    comparison = report.baseline
    if comparison is None:
        _print_sections((("Failures", _failures(report, report.results)), *_asides(report)), console)
    else:
        regressed = {each.id for each in comparison.regressions}
        new = [each for each in report.results if each.id in regressed]
        _print_sections((*_asides(report), ("New failures", _failures(report, new))), console)
        print_novelty(report, comparison, console)
    console.print()
    for line in conclusion(report):
        console.print(line, soft_wrap=True)
    if comparison is not None:
        console.print(against(report, comparison), soft_wrap=True)


def _asides(report: Report) -> Iterator[_Section]:
    """What a run says besides its failures."""
    yield from (
        ("Harness errors", _grouped(report, "error")),
        ("Refusals that are no evidence", _grouped(report, "inconclusive")),
        ("Not supported", _grouped(report, "unsupported")),
        ("Findings", _findings(report)),
    )


def _print_sections(sections: Iterable[_Section], console: Console) -> None:
    for title, items in sections:
        shown = list(items)
        if shown:
            console.print(f"\n[bold]{title}[/bold]")
            for each in shown[:_MOST]:
                console.print(each)
        if len(shown) > _MOST:
            console.print(f"… and {len(shown) - _MOST} more; see report.json")


def plain_conclusion(report: Report) -> list[str]:
    """The same without the marks of a terminal."""
    return [Text.from_markup(each).plain for each in conclusion(report)]


def conclusion(report: Report) -> list[str]:
    """What the run comes to, in sentences."""
    counts = report.summary
    passed = f"{counts['pass']:,} {'passes' if counts['pass'] == 1 else 'pass'}"
    part = [] if report.whole else ["This may be a selection: only `certify`, or `judge` of whole profiles, certifies."]
    if report.implementation.mapped:
        part.append("What is mapped is done by the harness on the backend's behalf, and says nothing of the backend.")
    if report.conformant is None:
        missing = f" {len(report.missing):,} cases have no verdict." if report.missing and report.gave_up else ""
        so_far = f" Broken so far: {_named(report.broken)}." if report.broken else ""
        why = f"{_said(report.unsettled)}.{missing} {passed}.{so_far}"
        return [f"[bold magenta]INCOMPLETE[/bold magenta], {report.coverage}: {why}", *part]
    read = f"Read otherwise, and not counted: {_named(report.differing)}. " if report.differing else ""
    if report.conformant:
        what = f"{passed}, and no normative requirement is broken. {read}".rstrip()
        return [f"[bold green]CONFORMANT[/bold green], {report.coverage}: {what}", *part]
    cases = sum(each.verdict == "fail" for each in report.results)
    failed = f"{_cases(cases)} {'fails' if cases == 1 else 'fail'}"
    broken = len(report.broken)
    kind = ("" if report.strict else "normative ") + ("requirement is" if broken == 1 else "requirements are")
    unsaid = f"{report.unsaid:,} of them without naming a requirement" if report.unsaid else ""
    named = f"{broken:,} {kind} broken: {_named(report.broken)}" if report.broken else ""
    why = "; ".join(each for each in (failed, named, unsaid) if each)
    return [f"[bold red]NOT CONFORMANT[/bold red], {report.coverage}: {why}. {read}".rstrip(), *part]


def _said(text: str) -> str:
    """Somebody else's words, which neither style what is printed nor steer the terminal."""
    return escape(printable(text, lines=True))


def _named(rows: Sequence[RequirementRow]) -> str:
    operations: dict[str, list[str]] = defaultdict(list)
    for each in rows:
        operations[each.op].append(each.id)
    return "; ".join(f"{op}: {', '.join(ids)}" for op, ids in operations.items())


def _head(report: Report) -> Iterator[str]:
    who = report.implementation
    device = f" on {who.device}" if who.device else ""
    yield f"[bold]{_said(who.name)} {_said(who.version)}[/bold]{_said(device)}"
    facts = "; ".join(f"{what.lower()}: {said}" for what, said in environment_facts(report.environment, who.device))
    if facts:
        yield _said(facts)
    profiles = ", ".join(sorted({each.profile for each in report.results}))
    digest = report.suite.digest[:16]
    yield f"suite {report.suite.version}, digest {digest}, {_cases(len(report.results))} of the profiles {profiles}"


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("requirement", no_wrap=True)
    table.add_column("level", no_wrap=True)
    used = [each for each in VERDICTS if report.summary[each]]
    for name in used:
        table.add_column(_HEADINGS[name], justify="right", no_wrap=True)
    op = ""
    for row in (each for each in report.requirements if any(each.counts.values())):
        if row.op != op:
            op = row.op
            table.add_row(f"[bold]{op}[/bold]")
        mark = _mark(row)
        level = "" if row.level == "normative" else "interpretation"
        level = "mapped" if full_name(row.op, row.id) in report.implementation.mapped else level
        table.add_row(f"{mark} {row.id}", level, *(_count(name, row.counts) for name in used))
    return table


def _mark(row: RequirementRow) -> str:
    """Broken, in doubt since the harness failed, kept, or undecided."""
    if row.is_broken:
        return "[red]✗[/red]"
    if row.counts["error"]:
        return "[magenta]![/magenta]"
    return "[green]✓[/green]" if row.counts["pass"] else "·"


def _count(name: str, counts: Mapping[str, int]) -> str:
    return f"[{_STYLES[name]}]{counts[name]:,}[/{_STYLES[name]}]" if counts[name] else "-"


def _failures(report: Report, some: Sequence[Result]) -> Iterator[RenderableType]:
    """Some of the failures of a report, by kind."""
    rows = {(each.op, each.id): each for each in report.requirements}
    for (op, broken, reason), results in failures_by_kind(some).items():
        smallest = min(results, key=lambda each: (len(each.inputs), each.id))
        named = ", ".join(broken) or "no requirement named"
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for name in broken:
            if (op, name) in rows:
                grid.add_row("  demanded", _said(rows[op, name].text))
        grid.add_row("  given", _said(smallest.inputs))
        grid.add_row("  got", _said(smallest.sentence))
        grid.add_row("  case", smallest.id)
        yield Group(f"[red]{op}[/red] [bold]{named}[/bold]: {reason}, {_cases(len(results))}", grid)


def _findings(report: Report) -> Iterator[RenderableType]:
    for name, sentence, found in (
        (
            "undeclared-unsupported",
            "unsupported, although the backend declares all that they need",
            [each for each in report.results if "undeclared-unsupported" in each.findings],
        ),
        (
            "passes-undeclared",
            "passed, although the backend declares that it cannot do them",
            [each for each in report.results if "passes-undeclared" in each.findings],
        ),
        (
            "fails-undeclared",
            "done and done wrong, although the backend declares that it cannot do them, which does not count",
            [each for each in report.results if "fails-undeclared" in each.findings],
        ),
        (
            "late",
            "refused at run time, and not when the model was built",
            [each for each in report.results if each.late],
        ),
        (
            "other-reason",
            "refused, but for another requirement than the one that is violated",
            [each for each in report.results if each.other_reason is not None],
        ),
    ):
        if found:
            yield _item(f"{name}: {_cases(len(found))} {sentence}, such as {found[0].id}")


def _grouped(report: Report, verdict: str) -> Iterator[RenderableType]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for each in report.results:
        if each.verdict == verdict:
            groups[_CASE.sub("", each.sentence)].append(each)
    for sentence, found in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
        yield _item(f"{_cases(len(found))}, such as {found[0].id}: {sentence[:_LONGEST]}")


def _item(sentence: str) -> RenderableType:
    return Padding(_said(sentence), (0, 0, 0, 2))


def _cases(count: int) -> str:
    return f"{count:,} case" if count == 1 else f"{count:,} cases"
