"""Run faulty implementations on the suites: `python -m tests.mutants [SPEC…]`, in the checkout."""

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from opconform.errors import OpconformError, UsageError
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.manifest import Header, RequirementNote
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.harness.environment import cores
from tests.mutants.assessment import Assessment, assessed
from tests.mutants.catalogue import MUTANTS, concerns
from tests.mutants.kills import CORE, Kill, kills_of

#: How wide a matrix is that goes to a file.
_WIDTH = 140
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@click.command("python -m tests.mutants")
@click.argument("specs", nargs=-1, type=click.Path(path_type=Path), metavar="[SPEC]...")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Only this profile (repeatable).")
@click.option("--select", "patterns", multiple=True, metavar="PATTERN", help="Only these mutants (repeatable).")
@click.option("--jobs", type=click.IntRange(min=1), default=cores(), help="Mutants that run at a time; one per core.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="Seconds that a case may take on a mutant with a process of its own.",
)
@click.option("--strict", is_flag=True, help="Also kill what only an interpretation rules out.")
@click.option("--list", "only_list", is_flag=True, help="List the mutants, and where each was seen.")
@click.option("--json", "as_json", is_flag=True, help="Print the kills as JSON.")
def command(
    specs: tuple[Path, ...],
    profiles: tuple[str, ...],
    patterns: tuple[str, ...],
    jobs: int,
    timeout: float,
    strict: bool,
    only_list: bool,
    as_json: bool,
) -> None:
    """Prove that the suites catch bugs: run faulty implementations, and show which requirement's cases kill which.

    Exits with 0 if every mutant is killed, and with 1 otherwise.
    """
    try:
        chosen = [name for name in MUTANTS if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]
        if not chosen:
            raise UsageError(f"No mutant matches {' '.join(patterns)}. `--list` lists them.")
        if only_list:
            _print_list(chosen)
            return
        with tempfile.TemporaryDirectory(prefix="opconform-") as folder:
            loaded = load_specs(specs)
            chosen = _concerned(chosen, sorted({x.op for x in loaded}))
            selection = Selection(profiles=profiles)
            suite = open_suite(
                generate(loaded, Path(folder) / "suite", Options(dialects=(), jobs=jobs, selection=selection)).out
            )
            with progress("mutants", of="mutants", quiet=as_json) as tell:
                killing = kills_of(suite.store.root, chosen, selection, jobs=jobs, timeout=timeout, on_progress=tell)
                kills = {x.name: x for x in killing}
    except OpconformError as error:
        click.echo(f"error: {error}", err=True)
        raise click.exceptions.Exit(error.exit_code) from error
    ran = {entry.profile for entry in suite.entries}
    only_core = profiles == (CORE,)
    rows = [
        assessed(MUTANTS[x], kills[x], suite.header, strict=strict, profiles=ran, only_core=only_core) for x in chosen
    ]
    if as_json:
        click.echo(json.dumps(_document(rows)))
    else:
        _print(suite.header, rows, strict=strict)
    raise click.exceptions.Exit(1 if any(row.faults for row in rows) else 0)


def _concerned(chosen: Sequence[str], operations: Sequence[str]) -> list[str]:
    """The mutants that are faulty for one of the operations.

    Raises:
        UsageError: There are none.
    """
    found = [x for x in chosen if any(concerns(MUTANTS[x], op) for op in operations)]
    if not found:
        raise UsageError(f"None of the selected mutants changes {' or '.join(operations)}. `--list` lists them.")
    return found


def _print_list(chosen: Sequence[str]) -> None:
    for name in chosen:
        row = MUTANTS[name]
        click.echo(f"{name:42} {row.level:14} {row.what} Seen: {row.seen}.")


def _document(rows: Sequence[Assessment]) -> dict[str, object]:
    return {
        "alone": _alone(rows),
        "mutants": {
            row.row.name: {
                "level": row.row.level,
                "what": row.row.what,
                "seen": row.row.seen,
                "core": list(row.kill.core),
                "others": list(row.kill.others),
                "requirements": {f"{op} {name}": count for (op, name), count in sorted(row.kill.caught.items())},
                "refusals": row.kill.refusals,
                "faults": list(row.faults),
            }
            for row in rows
        },
    }


def _alone(rows: Sequence[Assessment]) -> dict[str, str]:
    """The mutants that only one case kills, and the case."""
    return {row.row.name: row.kill.alone for row in rows if row.kill.alone is not None}


def _print(header: Header, rows: Sequence[Assessment], *, strict: bool) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    console.print(_matrix(header, rows))
    for op, notes in header.requirements.items():
        console.print(f"\n[bold]{op}[/bold]")
        legend = [f"[bold]{letter}[/bold] {name}" for letter, name in zip(_LETTERS, notes, strict=False)]
        console.print(Columns(legend, equal=True, column_first=True, padding=(0, 2)))
    console.print("\n█ caught by the cases of a normative requirement, ▒ of an interpretation, · not caught\n")
    for row in rows:
        for fault in row.faults:
            console.print(f"[red]✗[/red] {row.row.name} {escape(fault)}: {escape(row.row.what)}")
    alone = _alone(rows)
    if alone:
        verb = "is" if len(alone) == 1 else "are"
        console.print(f"{len(alone)} of {len(rows)} mutants {verb} killed by one case alone:")
    for name, case in alone.items():
        console.print(f"  {name} {escape(case)}")
    normative = [row for row in rows if row.row.level == "normative"]
    others = [row for row in rows if row.row.level == "interpretation"]
    killed, by_core = sum(x.normative for x in normative), sum(x.by_core for x in normative)
    console.print(
        f"{killed} of {len(normative)} normative mutants are killed, {by_core} of them by the profile core alone."
    )
    caught, asked = sum(bool(other.kill.caught) for other in others), "" if strict else ", which count with --strict"
    console.print(f"{caught} of {len(others)} mutants that only an interpretation rules out are caught{asked}.")


def _matrix(header: Header, rows: Sequence[Assessment]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("mutant", no_wrap=True)
    table.add_column("core", justify="right", no_wrap=True)
    table.add_column("all", justify="right", no_wrap=True)
    for op, notes in header.requirements.items():
        table.add_column(f"{op}\n{_LETTERS[: len(notes)]}", no_wrap=True)
    for row in rows:
        kill = row.kill
        mark = "[red]✗[/red]" if row.faults else "[green]✓[/green]" if kill.caught else "·"
        cells = [_cells(op, notes, kill) for op, notes in header.requirements.items()]
        counts = (f"{len(kill.core):,}", f"{len(kill.core) + len(kill.others):,}")
        table.add_row(f"{mark} {row.row.name}", *counts, *cells)
    return table


def _cells(op: str, notes: Mapping[str, RequirementNote], kill: Kill) -> str:
    return "".join(
        "·" if (op, name) not in kill.caught else "█" if note.level == "normative" else "▒"
        for name, note in notes.items()
    )


if __name__ == "__main__":
    command()
