"""`opconform list`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opconform.errors import UsageError, counted, quoted
from opconform.explanation.shipped_groups import ListedGroup, ShippedGroups, counted_kinds, shipped_operations_in
from opconform.specs.index import CaseKind
from opconform.specs.operation_names import check_named, installed_operation_names, named_operations
from opconform.suite.selection.selection import Selection
from opconform.system.resources import NAME
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, json_option, selection_options
from opconform_runners.cli.shared.output.printer import print_result

if TYPE_CHECKING:
    from rich.table import Table

    from opconform.explanation.case_list import ListedCase


@click.command("list", cls=HelpCommand, example="list\nlist --cases -k 'Split-1/axis-far-out-of-range/*'")
@click.argument("sources", nargs=-1, type=SOURCE, metavar="[SPEC|SUITE]...")
@selection_options
@click.option("--cases", "by_case", is_flag=True, help="Print one line per case, with its inputs.")
@click.option("--requirements", "by_requirement", is_flag=True, help="Print one row per requirement.")
@click.option(
    "--house",
    "by_rule",
    is_flag=True,
    help="Print what operations that opconform ships lack.",
)
@json_option("the list")
def command(
    sources: tuple[Path, ...],
    selection: Selection,
    by_case: bool,
    by_requirement: bool,
    by_rule: bool,
    as_json: bool,
) -> None:
    """List the groups of cases of SPECs or of a SUITE (by default, of the shipped specs).

    Prints one line per group: its number of cases, what is expected of a backend, and its title.

    With --house, prints one line for everything that an operation of opconform still lacks: the place, and what to do.
    The exit code is then 1.
    """
    if by_rule:
        if by_case or by_requirement or selection != Selection():
            raise UsageError("--house lists no cases. Leave out the other options.")
        _print_lacks(sources, as_json=as_json)
        return
    selection = replace(selection, operations=named_operations(sources))
    check_named(sources)
    ops = shipped_operations_in(sources)
    if by_case:
        listed = _listed_cases(sources, selection)
        print_result([_document(x) for x in listed], map(_case_line, listed), as_json=as_json)
        return
    groups = _groups_of(_listed_cases(sources, selection)) if ops is None else ShippedGroups(ops).selected(selection)
    _check_any(groups)
    if not sources and (installed := installed_operation_names()):
        click.echo(
            f"note: Name an operation to list the cases of an installed package: {', '.join(installed)}.", err=True
        )
    if by_requirement:
        rows = list(_rows(groups))
        print_result(rows, () if as_json else [_table(rows)], as_json=as_json, width=160)
    else:
        width = max(len(group.id) for group in groups)
        lines = (f"{x.id:{width}}  {_count(x.kinds):>4}  {_expected(x.kinds)}: {x.title}" for x in groups)
        unpaired = (f"{x.id}: {_unpaired(x.left_out)}" for x in groups if x.left_out)
        print_result([_group_document(x) for x in groups], (*lines, *unpaired), as_json=as_json)


def _print_lacks(sources: Sequence[Path], *, as_json: bool) -> None:
    """Print what operations lack; the exit code is 1 if they lack something."""
    from opconform_runners.tools.house import RULES, lacks_of
    from opconform_runners.tools.house.repository import checkout

    ops = [_house_name(source) for source in sources]
    if not ops:
        raise UsageError("Name an operation, as in `opconform list --house Split-1`.")
    lacks = [lack for op in ops for lack in lacks_of(op)]
    lines = map(str, lacks) if lacks else [_nothing(ops, len(RULES))]
    print_result([asdict(lack) for lack in lacks], lines, as_json=as_json)
    if checkout() is None:
        click.echo("note: This is not a checkout, so its tests and pages were not looked at.", err=True)
    raise click.exceptions.Exit(1 if lacks else 0)


def _nothing(ops: Sequence[str], rules: int) -> str:
    whole = f"{', '.join(ops)}: nothing is lacking, by {rules} rules"
    return f"{whole}. `opconform adequacy {' '.join(ops)} --strict` measures the cases."


def _house_name(source: Path) -> str:
    """The operation that a source names, which has to be one of the house, or may become one."""
    if NAME.fullmatch(str(source)) and str(source) not in installed_operation_names():
        return str(source)
    raise UsageError(
        f"{quoted(str(source))} is not the name of an operation that opconform ships, and the rules of the house are "
        "about these alone. `opconform adequacy` measures the cases of any other."
    )


def _listed_cases(sources: Sequence[Path], selection: Selection) -> "list[ListedCase]":
    """The selected cases; expanding them is slow."""
    from opconform.explanation.case_list import CaseList
    from opconform.generation.options import LIMITS

    listed = CaseList(sources).selected(selection, LIMITS)
    _check_any(listed)
    return listed


def _check_any(listed: Sequence[object]) -> None:
    if not listed:
        raise UsageError("No cases to list.")


def _groups_of(listed: "Sequence[ListedCase]") -> list[ListedGroup]:
    cases = (x.case for x in listed)
    groups = [(id_, [*members]) for id_, members in groupby(cases, key=lambda x: x.id.rpartition("/")[0])]
    return [
        ListedGroup(
            id=id_,
            profile=members[0].profile,
            title=members[0].title,
            kinds=counted_kinds((case.id, case.rejected_for, case.requirements) for case in members),
        )
        for id_, members in groups
    ]


def _expectation(violated: str | None) -> str:
    return "accepted" if violated is None else f"rejected for {violated}"


def _case_line(listed: "ListedCase") -> str:
    from opconform_runners.verdicts.description import description_of

    return f"{listed.case.id}  {_expectation(listed.case.rejected_for)}: {description_of(listed.case, listed.feeds())}"


def _expectations(kinds: Iterable[CaseKind]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind in kinds:
        counts[_expectation(kind.violated)] += kind.cases
    return counts


def _count(kinds: Iterable[CaseKind]) -> int:
    return sum(kind.cases for kind in kinds)


def _group_document(group: ListedGroup) -> dict[str, Any]:
    document = {"id": group.id, "profile": group.profile, "title": group.title, "cases": _count(group.kinds)}
    left_out = {"left_out": dict(group.left_out)} if group.left_out else {}
    return document | {"expect": dict(_expectations(group.kinds))} | left_out


def _unpaired(left_out: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in left_out.items())
    return f"{counted(sum(left_out.values()), 'pair')} left out: {reasons}"


def _expected(kinds: Iterable[CaseKind]) -> str:
    expected = _expectations(kinds)
    return ", ".join(f"{count} {text}" for text, count in expected.items()) if len(expected) > 1 else "".join(expected)


def _document(listed: "ListedCase") -> dict[str, object]:
    case = listed.case
    return {
        "id": case.id,
        "profile": case.profile,
        "title": case.title,
        "requirements": list(case.requirements),
        "expect": "accept" if case.rejected_for is None else {"reject": case.rejected_for},
        "twin": case.twin,
    }


def _rows(groups: Sequence[ListedGroup]) -> Iterator[dict[str, Any]]:
    """One row per requirement: its source, and its cases; `rejecting` is None if it cannot be violated."""
    from opconform.specs.requirements import requirements_of

    accepting: Counter[tuple[str, str]] = Counter()
    rejecting: Counter[tuple[str, str]] = Counter()
    for group in groups:
        op = group.id.partition("/")[0]
        for kind in group.kinds:
            if kind.violated is not None:
                rejecting[op, kind.violated] += kind.cases
                continue
            for requirement in kind.requirements:
                accepting[op, requirement] += kind.cases
    for op in sorted({group.id.partition("/")[0] for group in groups}):
        for item in requirements_of(op).requirements:
            yield {
                "op": op,
                "id": item.id,
                "level": item.level,
                "text": item.text,
                "source": "; ".join(f"{source.clause} ({', '.join(source.revisions)})" for source in item.sources),
                "accepting": accepting[op, item.id],
                "rejecting": rejecting[op, item.id] if item.violable else None,
            }


def _table(rows: Sequence[Mapping[str, Any]]) -> "Table":
    from rich.table import Table  # it takes long to import

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
