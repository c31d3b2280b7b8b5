"""`opconform matrix`."""

import asyncio
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from rich.console import Console

from opconform.dialects import DIALECTS
from opconform.errors import HarnessError, UsageError
from opconform.files import check_ours, replace_file
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.backends.backend import Implementation
from opconform_runners.cli.shared.console import console_of
from opconform_runners.cli.shared.execution import (
    folder_name,
    force_option,
    memory_of,
    memory_option,
    raise_interruption,
)
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.options import generation_options, options_of, positive, spec_arguments
from opconform_runners.cli.shared.page import subjects_of, write_page
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.runner import RunOptions, run_suite
from opconform_runners.harness.command import Command, backend_command, harness_command
from opconform_runners.harness.process import described
from opconform_runners.harness.registry import names
from opconform_runners.reports.matrix import (
    LEGEND,
    Column,
    Matrix,
    decided_rows,
    matrix_document,
    matrix_lines,
    matrix_markdown,
    matrix_of,
    matrix_table,
)
from opconform_runners.reports.reader import finished
from opconform_runners.reports.report import report_of
from opconform_runners.reports.writer import write_report
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING

#: The files that are written, and what is among the first bytes of each.
_FILES: Mapping[str, bytes] = MappingProxyType(
    {"matrix.json": b'{\n "format"', "matrix.md": b"\n| backend | verdict |", PAGE: PAGE_BEGINNING}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entrant:
    """A backend that answered: what it is called, how it is started, and what it says of itself."""

    name: str
    command: Command
    implementation: Implementation


@click.command("matrix")
@spec_arguments
@click.option(
    "--backend", "backends", multiple=True, metavar="NAME[:DEVICE]", help="This backend; repeatable; all by default."
)
@click.option("--harness", "harnesses", multiple=True, metavar="COMMAND", help="A harness too; repeatable.")
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="NAME=PATH",
    help="The interpreter of another virtual environment for one of the backends; repeatable.",
)
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Only this profile; repeatable.")
@generation_options
@click.option("--out", type=click.Path(path_type=Path), default=Path("opconform-out/matrix"), show_default=True)
@click.option("--jobs", type=int, help="Processes that generate, one a core by default; and harnesses, one by default.")
@click.option(
    "--timeout", type=positive, metavar="SECONDS", default=20.0, show_default=True, help="What a case may take."
)
@memory_option
@force_option
@click.option("--strict", is_flag=True, help="Count interpretations as much as normative requirements.")
@click.option("--json", "as_json", is_flag=True, help="Print the matrix as JSON.")
def command(
    specs: tuple[Path, ...],
    backends: tuple[str, ...],
    harnesses: tuple[str, ...],
    pythons: tuple[str, ...],
    profiles: tuple[str, ...],
    dialects: tuple[str, ...],
    out: Path,
    jobs: int | None,
    timeout: float,
    memory: float | None,
    force: bool,
    strict: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Run every installed backend on one suite, and print a row a requirement and a column a backend.

    Writes suite/, a folder a backend, matrix.json, matrix.md and the page report.html under --out. A backend that
    cannot be started is listed with the reason. Ends with 0 where all are conformant, 1 otherwise.
    """
    selection = Selection(profiles=profiles)
    entrants, absent = _entrants(
        _commands(backends, harnesses, _interpreters(pythons), memory_of(memory)), asked=bool(backends)
    )
    if not entrants:
        raise HarnessError("None of the backends can be started: " + " ".join(absent.values()))
    wanted = dialects or _read_by(entrants)
    options = options_of(selection, jobs=jobs, dialects=wanted, **limits)
    for name, mark in _FILES.items():
        check_ours(out / name, mark)
    suite = open_suite(generate_shown(specs, out / "suite", options, quiet=as_json).out)
    running = RunOptions(jobs=jobs or 1, timeout=timeout, selection=selection, whole=True, strict=strict, force=force)
    columns = [_column(each, suite, out, running, quiet=as_json) for each in entrants]
    matrix = matrix_of(columns, absent)
    replace_file(out / "matrix.json", (json.dumps(matrix_document(matrix), indent=1) + "\n").encode())
    replace_file(out / "matrix.md", matrix_markdown(matrix).encode())
    runs = [finished(out / folder_name(each.name)) for each in entrants]
    write_page(out / PAGE, subjects_of(runs, suite.store.root))
    if as_json:
        print_document(json.dumps(matrix_document(matrix)))
    else:
        _print(matrix, out, console_of())
    raise click.exceptions.Exit(0 if all(each.report.conformant for each in columns) else 1)


def _interpreters(pythons: Sequence[str]) -> dict[str, Path]:
    wrong = [each for each in pythons if not each.partition("=")[2]]
    if wrong:
        raise UsageError(f"--python {wrong[0]!r} is to be NAME=PATH, as in --python torch=venv/bin/python.")
    return {name: Path(path) for name, _, path in (each.partition("=") for each in pythons)}


def _commands(
    backends: Sequence[str], harnesses: Sequence[str], interpreters: Mapping[str, Path], memory: int
) -> dict[str, Command]:
    """How each is started, by its name."""
    wanted = backends or names()
    unused = set(interpreters) - {each.partition(":")[0] for each in wanted} - set(wanted)
    if unused:
        raise UsageError(f"--python names {min(unused)!r}, which is none of the backends: {', '.join(wanted)}.")
    commands = {
        each: backend_command(each, interpreters.get(each) or interpreters.get(each.partition(":")[0]))
        for each in wanted
    }
    for each in harnesses:
        started = harness_command(each)
        commands[_free(started.name, commands)] = started
    return {name: replace(each, memory=memory) for name, each in commands.items()}


def _entrants(commands: Mapping[str, Command], *, asked: bool) -> tuple[list[_Entrant], dict[str, str]]:
    """Those that answer, and why the others do not; one that was asked for has to."""
    entrants: list[_Entrant] = []
    absent: dict[str, str] = {}
    for name, each in commands.items():
        try:
            implementation = asyncio.run(described(each))
            taken = {other.name for other in entrants}
            entrants.append(
                _Entrant(name=_called(name, implementation, taken), command=each, implementation=implementation)
            )
        except HarnessError as fault:
            if asked:
                raise
            absent[name] = str(fault)
    return entrants, absent


def _called(name: str, implementation: Implementation, taken: Collection[str]) -> str:
    """What a column is called: as it was named, or as a harness or a class in a file calls itself."""
    if name.partition(":")[0] in names():
        return name
    return _free(implementation.name, taken)


def _free(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: itself, or itself with the next number."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _read_by(entrants: Sequence[_Entrant]) -> tuple[str, ...]:
    read = {dialect for each in entrants for dialect in each.implementation.dialects}
    return tuple(each for each in DIALECTS if each in read)


def _column(entrant: _Entrant, suite: Suite, out: Path, options: RunOptions, *, quiet: bool) -> Column:
    folder = out / folder_name(entrant.name)
    with progress(entrant.name, then=f"{entrant.name}: failures once more", quiet=quiet) as tell:
        run = run_suite(suite, entrant.command, folder, options, tell)
    report = report_of(suite.header, run, whole=True, strict=options.strict, started=entrant.command.options)
    write_report(folder, report)
    raise_interruption(run)
    return Column(name=entrant.name, report=report)


def _print(matrix: Matrix, out: Path, console: Console) -> None:
    for line in matrix_lines(matrix):
        console.print(line)
    console.print()
    console.print(matrix_table(matrix))
    console.print(f"\n{LEGEND}.")
    left_out = len(matrix.rows) - len(decided_rows(matrix))
    if left_out:
        console.print(f"{left_out} requirements are not shown, since no backend has a case that says anything of them.")
    console.print(f"Results: {out}/matrix.json, {out}/matrix.md, {out}/{PAGE}, and a folder a backend", soft_wrap=True)
