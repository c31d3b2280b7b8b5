"""`opconform mutants`."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.columns import Columns
from rich.markup import escape
from rich.table import Table

from opconform.commands.console import console_of
from opconform.commands.generating import generate_shown
from opconform.commands.options import cores, positive, spec_arguments
from opconform.commands.progress import progress
from opconform.commands.terminal import print_document
from opconform.errors import UsageError
from opconform.generating import Options
from opconform.kills import Kills, MutantKills, kills_text, suite_of
from opconform.selecting import Selection
from opconform.suite import Header, RequirementNote, Suite, open_suite
from opconform_runners.mutants.catalogue import mutants
from opconform_runners.mutants.killing import Kill, implementations, kill_all
from opconform_runners.mutants.variants import VARIANTS
from opconform_runners.mutants.weighing import Weighed, right_faults, weighed

#: How wide a matrix is that goes to a file.
_WIDTH = 140
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@click.command("mutants")
@spec_arguments
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Only this profile; repeatable.")
@click.option("--select", "patterns", multiple=True, metavar="PATTERN", help="Only these mutants; repeatable.")
@click.option("--jobs", type=int, help="Mutants that run at a time; one a core by default.")
@click.option(
    "--timeout", type=positive, metavar="SECONDS", default=5.0, show_default=True, help="What a case may take."
)
@click.option("--strict", is_flag=True, help="Kill what only an interpretation rules out, too.")
@click.option("--list", "only_list", is_flag=True, help="List the mutants, and where each was seen.")
@click.option("--json", "as_json", is_flag=True, help="Print the kills as JSON.")
@click.option("--record", type=click.Path(path_type=Path), help="Write the kills to a file, as cases/kills.json.")
def command(
    specs: tuple[Path, ...],
    profiles: tuple[str, ...],
    patterns: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    strict: bool,
    only_list: bool,
    as_json: bool,
    record: Path | None,
) -> None:
    """Prove that the suite catches bugs: run faulty implementations, and show which requirement's cases kill which.

    Ends with 0 where every mutant is killed and every right variant passes, and with 1 otherwise.
    """
    names = [each for each in implementations() if not patterns or any(fnmatchcase(each, one) for one in patterns)]
    if not names:
        raise UsageError(f"No mutant matches {' '.join(patterns)}. `opconform mutants --list` lists them.")
    if only_list:
        _print_list(names)
        return
    if jobs is not None and jobs < 1:
        raise UsageError("--jobs must be 1 or more.")
    selection = Selection(profiles=profiles)
    with tempfile.TemporaryDirectory(prefix="opconform-") as folder:
        options = Options(dialects=(), jobs=jobs or cores(), selection=selection)
        suite = open_suite(generate_shown(specs, Path(folder) / "suite", options, quiet=as_json).out)
        with progress("mutants", of="mutants", quiet=as_json) as tell:
            killing = kill_all(suite.store.root, names, selection, jobs=jobs or cores(), timeout=timeout, tell=tell)
            found = {each.name: each for each in killing}
    ran = {each.profile for each in suite.entries}
    rows = [
        weighed(each, found[name], suite.header, strict=strict, profiles=ran)
        for name, each in mutants().items()
        if name in found
    ]
    right = [each for each in VARIANTS if each in found]
    wrong = right_faults(found, right)
    if record is not None:
        record.write_text(kills_text(_kills(suite, rows)), encoding="utf-8")
    if as_json:
        print_document(json.dumps(_document(rows, wrong)))
    else:
        _print(suite.header, rows, len(right), wrong, strict=strict)
    raise click.exceptions.Exit(1 if wrong or any(each.faults for each in rows) else 0)


def _print_list(names: Sequence[str]) -> None:
    for name in names:
        if name in mutants():
            each = mutants()[name]
            click.echo(f"{name:42} {each.level:14} {each.what} Seen: {each.seen}.")
        else:
            click.echo(f"{name:42} {'right':14} {str(VARIANTS[name].__doc__).splitlines()[0]}")


def _kills(suite: Suite, rows: Sequence[Weighed]) -> Kills:
    return Kills(
        suite=suite_of(each.id for each in suite.entries),
        mutants={
            each.mutant.name: MutantKills(
                level=each.mutant.level,
                cases=len(each.kill.core) + len(each.kill.others),
                core=len(each.kill.core),
                requirements={
                    op: {name: count for (where, name), count in sorted(each.kill.caught.items()) if where == op}
                    for op in sorted({op for op, _ in each.kill.caught})
                },
            )
            for each in rows
        },
    )


def _document(rows: Sequence[Weighed], wrong: Sequence[str]) -> dict[str, object]:
    return {
        "right": list(wrong),
        "mutants": {
            each.mutant.name: {
                "level": each.mutant.level,
                "what": each.mutant.what,
                "seen": each.mutant.seen,
                "core": list(each.kill.core),
                "others": list(each.kill.others),
                "requirements": {f"{op} {name}": count for (op, name), count in sorted(each.kill.caught.items())},
                "refusals": each.kill.refusals,
                "faults": list(each.faults),
            }
            for each in rows
        },
    }


def _print(header: Header, rows: Sequence[Weighed], right: int, wrong: Sequence[str], *, strict: bool) -> None:
    console = console_of(width=_WIDTH)
    console.print(_matrix(header, rows))
    for op, notes in header.requirements.items():
        console.print(f"\n[bold]{op}[/bold]")
        legend = [f"[bold]{letter}[/bold] {name}" for letter, name in zip(_LETTERS, notes, strict=False)]
        console.print(Columns(legend, equal=True, column_first=True, padding=(0, 2)))
    console.print("\n█ caught by the cases of a normative requirement, ▒ of an interpretation, · not caught\n")
    for each in wrong:
        console.print(f"[red]✗[/red] {escape(each)}")
    for row in rows:
        for fault in row.faults:
            console.print(f"[red]✗[/red] {row.mutant.name} {escape(fault)}: {escape(row.mutant.what)}")
    for sentence in _sentences(rows, right, wrong, strict=strict):
        console.print(sentence)


def _matrix(header: Header, rows: Sequence[Weighed]) -> Table:
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
        table.add_row(f"{mark} {row.mutant.name}", *counts, *cells)
    return table


def _cells(op: str, notes: Mapping[str, RequirementNote], kill: Kill) -> str:
    return "".join(
        "·" if (op, name) not in kill.caught else "█" if note.level == "normative" else "▒"
        for name, note in notes.items()
    )


def _sentences(rows: Sequence[Weighed], right: int, wrong: Sequence[str], *, strict: bool) -> list[str]:
    normative = [each for each in rows if each.mutant.level == "normative"]
    others = [each for each in rows if each.mutant.level == "interpretation"]
    killed, by_core = sum(each.normative for each in normative), sum(each.by_core for each in normative)
    read = sum(bool(each.kill.caught) for each in others)
    asked = "" if strict else ", which count with --strict"
    return [
        *([f"{right - len(wrong)} of {right} right variants pass."] if right else []),
        f"{killed} of {len(normative)} normative mutants are killed, {by_core} of them by the profile core alone.",
        f"{read} of {len(others)} mutants that only an interpretation rules out are caught{asked}.",
    ]
