"""What was broken, on a terminal: one row per requirement, or per family of operations where there are many."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from rich.console import Console
from rich.table import Table

from opconform.errors import counted
from opconform.explanation.families import families_of
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import RequirementRow

#: The heading and the colour of each verdict.
_VERDICTS = {
    "pass": ("pass", "green"),
    "fail": ("fail", "red"),
    "unsupported": ("unsup.", "dim"),
    "inconclusive": ("inconcl.", "yellow"),
    "error": ("error", "magenta"),
}
#: The most operations whose broken requirements are listed; of more, each family has one row.
_MOST = 12


def print_requirements(report: Report, console: Console, *, is_verbose: bool) -> None:
    """One row for each requirement that a case breaks or, if `is_verbose`, for each one.

    If requirements of many operations are broken, there is one row for each family of operations.
    """
    rows = report.requirements
    shown = [row for row in rows if is_verbose or row.is_broken or row.counts["error"]]
    operations = dict.fromkeys(row.op for row in shown)
    if not is_verbose and len(operations) > _MOST:
        console.print(_families(report))
        whole = counted(len({row.op for row in rows} - operations.keys()), "operation")
        console.print(f"{whole} without failing cases (`opconform report OUT -v` lists every requirement)")
        return
    if shown:
        console.print(_table(report, shown))
    left_out = [row for row in rows if row not in shown]
    decided = sum(x.counts["pass"] > 0 for x in left_out)
    clauses = [f"{counted(decided, 'requirement')} without failing cases"] if decided else []
    without = sum(not x.cases for x in left_out)
    if open_ones := len(left_out) - decided - without:
        clauses.append(f"{counted(open_ones, 'requirement')} without decided cases")
    if without:
        clauses.append(f"{counted(without, 'requirement')} without cases")
    if clauses:
        console.print(f"{'; '.join(clauses)} (`opconform report OUT -v` lists them)")


def _columns(report: Report, *headings: str) -> tuple[Table, list[str]]:
    """A table with some headings and a column for each verdict of the run, and these verdicts."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    used = [name for name in _VERDICTS if report.summary[name]]
    for name in used:
        table.add_column(_VERDICTS[name][0], justify="right", no_wrap=True)
    return table, used


def _counts(counts: Counter[str], used: Sequence[str]) -> list[str]:
    return [f"[{_VERDICTS[name][1]}]{counts[name]:,}[/]" if counts[name] else "-" for name in used]


def _families(report: Report) -> Table:
    """Each family of operations: its cases by verdict, its broken requirements, and the operation that breaks most."""
    table, used = _columns(report, "operations")
    table.add_column("broken", justify="right", no_wrap=True)
    table.add_column("most of", overflow="ellipsis")
    broken = Counter(row.op for row in report.broken)
    verdicts: Counter[tuple[str, str]] = Counter((result.op, result.verdict) for result in report.results)
    for family, members in families_of(sorted(report.ops)).items():
        counts = Counter({name: sum(verdicts[op, name] for op in members) for name in used})
        worst = max(members, key=lambda op: broken[op])
        number = sum(broken[op] for op in members)
        broken_cells = (f"{number:,}", worst) if number else ("-", "")
        table.add_row(f"[bold]{family}[/bold]", *_counts(counts, used), *broken_cells)
    return table


def _table(report: Report, shown: Sequence[RequirementRow]) -> Table:
    table, used = _columns(report, "requirement", "level")
    for op, of_op in groupby(shown, attrgetter("op")):
        rows = list(of_op)
        if all(not any(count for name, count in row.counts.items() if name != "unsupported") for row in rows):
            table.add_row(f"[bold]{op}[/bold]: not supported")
            continue
        table.add_row(f"[bold]{op}[/bold]")
        for row in rows:
            note = "mapped" if row.is_mapped else row.note
            notes = filter(None, (note, "" if row.cases or row.is_broken else "no case"))
            table.add_row(f"{_mark(row)} {row.id}", ", ".join(notes), *_counts(Counter(row.counts), used))
    return table


def _mark(row: RequirementRow) -> str:
    if row.is_broken:
        return "[red]✗[/red]"
    if row.counts["error"]:
        return "[magenta]![/magenta]"
    return "[green]✓[/green]" if row.counts["pass"] else "·"
