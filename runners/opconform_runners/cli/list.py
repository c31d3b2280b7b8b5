"""`opconform list`."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.table import Table

from opconform.errors import UsageError
from opconform.generation.options import LIMITS
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Accept, Case, Reject
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.case_list import listed, near_miss_of
from opconform_runners.cli.shared.console import console_of
from opconform_runners.cli.shared.options import PATH, json_option, selection_options
from opconform_runners.cli.shared.terminal import print_document

#: The width of a table that is not printed to a terminal.
_WIDTH = 160


@click.command("list")
@click.argument("sources", nargs=-1, type=PATH, metavar="[SPEC|SUITE]...")
@selection_options
@click.option(
    "--requirements", "by_requirement", is_flag=True, help="Print one row per requirement instead of one per case."
)
@json_option("the list")
def command(sources: tuple[Path, ...], selection: Selection, by_requirement: bool, as_json: bool) -> None:
    """List the cases of SPECs or of a SUITE; of the shipped specs by default."""
    cases = [each.case for each in listed(sources, selection, LIMITS)]
    if not cases:
        named = " ".join((*selection.profiles, *selection.patterns)) or "anything"
        raise UsageError(f"No case matches {named}.{near_miss_of(sources, selection.patterns)}")
    if by_requirement:
        _print_requirements(cases, as_json=as_json)
    elif as_json:
        print_document(json.dumps([_document(each) for each in cases]))
    else:
        for each in cases:
            click.echo(f"{each.id}  {each.profile:10}  {_expectation(each)}")


def _expectation(case: Case) -> str:
    match case.expect:
        case Reject(reject=requirement):
            return f"rejected for {requirement}"
        case Accept(accept=outputs):
            return f"accepted, {len(outputs)} outputs" if len(outputs) != 1 else "accepted, 1 output"
        case None:
            return ""


def _document(case: Case) -> dict[str, object]:
    return {
        "id": case.id,
        "profile": case.profile,
        "title": case.title,
        "requirements": list(case.requirements),
        "expect": {"reject": case.expect.reject} if isinstance(case.expect, Reject) else "accept",
        "twin": case.twin,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A requirement, its source and its cases; `rejecting` is None for a requirement that cannot be violated."""

    op: str
    id: str
    level: str
    source: str
    accepting: int
    rejecting: int | None


def _rows(cases: Sequence[Case]) -> list[_Row]:
    accepting: Counter[tuple[str, str]] = Counter()
    rejecting: Counter[tuple[str, str]] = Counter()
    for case in cases:
        if isinstance(case.expect, Reject):
            rejecting[case.op, case.expect.reject] += 1
        else:
            accepting.update((case.op, each) for each in case.requirements)
    return [
        _Row(
            op=op,
            id=each.id,
            level=each.level,
            source="; ".join(f"{source.clause} ({', '.join(source.revisions)})" for source in each.sources),
            accepting=accepting[op, each.id],
            rejecting=rejecting[op, each.id] if each.violable else None,
        )
        for op in sorted({each.op for each in cases})
        for each in requirements_of(op).requirements
    ]


def _print_requirements(cases: Sequence[Case], *, as_json: bool) -> None:
    rows = _rows(cases)
    if as_json:
        print_document(json.dumps([asdict(each) for each in rows]))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for name in ("requirement", "level"):
        table.add_column(name, no_wrap=True)
    for name in ("accept", "reject"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    op = ""
    for row in rows:
        if row.op != op:
            op = row.op
            table.add_row(f"[bold]{op}[/bold]")
        counts = ["-" if each is None else f"{each:,}" for each in (row.accepting, row.rejecting)]
        table.add_row(row.id, row.level, *counts, row.source)
    console_of(width=_WIDTH).print(table)
