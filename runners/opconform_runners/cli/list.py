"""`opconform list`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from opconform.errors import UsageError
from opconform.explanation.case_list import CaseList
from opconform.generation.options import LIMITS
from opconform.operations import installed_operations
from opconform.specs.loader import named_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Case, Reject
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, json_option, selection_options
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.verdicts.description import description_of


@click.command("list", cls=HelpCommand, example="list\nlist --cases -k 'Split-1/axis-range/*'")
@click.argument("sources", nargs=-1, type=SOURCE, metavar="[SPEC|SUITE]...")
@selection_options
@click.option("--cases", "by_case", is_flag=True, help="Print one line per case, with its inputs.")
@click.option("--requirements", "by_requirement", is_flag=True, help="Print one row per requirement.")
@json_option("the list")
def command(
    sources: tuple[Path, ...], selection: Selection, by_case: bool, by_requirement: bool, as_json: bool
) -> None:
    """List the groups of cases of SPECs or of a SUITE (by default, of the shipped specs).

    Prints one line per group: its number of cases, what is expected of a backend, and its title.
    """
    selection = replace(selection, operations=named_operations(sources))
    listed = CaseList(sources).selected(selection, LIMITS)
    if not listed:
        raise UsageError("No cases to list.")
    if not sources and (installed := installed_operations()):
        click.echo(
            f"note: Name an operation to list the cases of an installed package: {', '.join(installed)}.", err=True
        )
    if by_requirement:
        rows = list(_rows([x.case for x in listed]))
        print_result(rows, [_table(rows)], as_json=as_json, width=160)
    elif by_case:
        lines = (f"{x.case.id}  {_expectation(x.case)}: {description_of(x.case, x.feeds())}" for x in listed)
        print_result([_document(x.case) for x in listed], lines, as_json=as_json)
    else:
        groups = [_group([*members]) for _, members in groupby((x.case for x in listed), key=_group_of)]
        width = max(len(group["id"]) for group in groups)
        lines = (
            f"{group['id']:{width}}  {group['cases']:>4}  {_expected(group)}: {group['title']}" for group in groups
        )
        print_result(groups, lines, as_json=as_json)


def _expectation(case: Case) -> str:
    return f"rejected for {case.expect.reject}" if isinstance(case.expect, Reject) else "accepted"


def _group_of(case: Case) -> str:
    return case.id.rpartition("/")[0]


def _group(cases: Sequence[Case]) -> dict[str, Any]:
    first = cases[0]
    document = {"id": _group_of(first), "profile": first.profile, "title": first.title, "cases": len(cases)}
    return document | {"expect": dict(Counter(map(_expectation, cases)))}


def _expected(group: Mapping[str, Any]) -> str:
    expected = group["expect"]
    return ", ".join(f"{count} {text}" for text, count in expected.items()) if len(expected) > 1 else "".join(expected)


def _document(case: Case) -> dict[str, object]:
    return {
        "id": case.id,
        "profile": case.profile,
        "title": case.title,
        "requirements": list(case.requirements),
        "expect": {"reject": case.expect.reject} if isinstance(case.expect, Reject) else "accept",
        "twin": case.twin,
    }


def _rows(cases: Sequence[Case]) -> Iterator[dict[str, Any]]:
    """One row per requirement: its source, and its cases; `rejecting` is None if it cannot be violated."""
    accepting: Counter[tuple[str, str]] = Counter()
    rejecting: Counter[tuple[str, str]] = Counter()
    for case in cases:
        if isinstance(case.expect, Reject):
            rejecting[case.op, case.expect.reject] += 1
        else:
            accepting.update((case.op, requirement) for requirement in case.requirements)
    for op in sorted({case.op for case in cases}):
        for item in requirements_of(op).requirements:
            yield {
                "op": op,
                "id": item.id,
                "level": item.level,
                "source": "; ".join(f"{source.clause} ({', '.join(source.revisions)})" for source in item.sources),
                "accepting": accepting[op, item.id],
                "rejecting": rejecting[op, item.id] if item.violable else None,
            }


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1))
    for name in ("requirement", "level"):
        table.add_column(name, no_wrap=True)
    for name in ("accept", "reject"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    for op, group in groupby(rows, key=lambda x: x["op"]):
        table.add_row(f"[bold]{op}[/bold]")
        for row in group:
            counts = ("-" if x is None else f"{x:,}" for x in (row["accepting"], row["rejecting"]))
            table.add_row(row["id"], row["level"], *counts, row["source"])
    return table
