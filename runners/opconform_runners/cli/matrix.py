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
from opconform_runners.cli.shared.execution import folder_name, raise_interruption
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.options import (
    GenerationOptions,
    ResultOptions,
    generation_options,
    memory_of,
    memory_option,
    profile_option,
    result_options_for,
    spec_arguments,
    timeout_option,
)
from opconform_runners.cli.shared.page import subjects_of, write_page
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.runner import RunOptions, run_suite
from opconform_runners.harness.command import Command, backend_command, harness_command
from opconform_runners.harness.connection import described
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
from opconform_runners.reports.report import report_of
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING

#: The written files, and a mark among the first bytes of each.
_FILES: Mapping[str, bytes] = MappingProxyType(
    {"matrix.json": b'{\n "format"', "matrix.md": b"\n| backend | verdict |", PAGE: PAGE_BEGINNING}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    specs: tuple[Path, ...]
    backends: tuple[str, ...]
    harnesses: tuple[str, ...]
    pythons: tuple[str, ...]
    profiles: tuple[str, ...]
    generation: GenerationOptions
    results: ResultOptions
    timeout: float
    memory: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entrant:
    """A backend that was started: its name in the matrix, its command and its description."""

    name: str
    command: Command
    implementation: Implementation


@click.command("matrix")
@spec_arguments
@click.option(
    "--backend",
    "backends",
    multiple=True,
    metavar="NAME[:DEVICE]",
    help="Run this backend; repeatable; all installed backends by default.",
)
@click.option("--harness", "harnesses", multiple=True, metavar="COMMAND", help="Run this harness as well; repeatable.")
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="NAME=PATH",
    help="The Python interpreter, in another virtual environment, that runs the backend NAME; repeatable.",
)
@profile_option
@generation_options
@result_options_for("opconform-out/matrix", "the matrix")
@timeout_option
@memory_option
def command(**given: Any) -> None:
    """Run every installed backend on one suite, and print one row per requirement and one column per backend.

    Writes suite/, one folder per backend, matrix.json, matrix.md and report.html to --out. A backend that cannot be
    started is listed with the reason.

    Exit code: 0 if all backends are conformant, 1 otherwise.
    """
    options = _Options(**given)
    results, quiet = options.results, options.results.as_json
    out = results.out or Path("opconform-out/matrix")
    selection = Selection(profiles=options.profiles)
    entrants, absent = _entrants(_commands(options), is_named=bool(options.backends))
    if not entrants:
        raise HarnessError("None of the backends can be started: " + " ".join(absent.values()))
    dialects = options.generation.dialects or _dialects_of(entrants)
    generation = replace(options.generation, dialects=dialects).options(selection)
    for name, mark in _FILES.items():
        check_ours(out / name, mark)
    suite = open_suite(generate_shown(options.specs, out / "suite", generation, quiet=quiet).out)
    running = RunOptions(
        jobs=options.generation.jobs or 1,
        timeout=options.timeout,
        selection=selection,
        whole=True,
        strict=results.strict,
        force=results.force,
    )
    columns = [_column(each, suite, out, running, quiet=quiet) for each in entrants]
    matrix = matrix_of(columns, absent)
    replace_file(out / "matrix.json", (json.dumps(matrix_document(matrix), indent=1) + "\n").encode())
    replace_file(out / "matrix.md", matrix_markdown(matrix).encode())
    runs = [finished(out / folder_name(each.name)) for each in entrants]
    write_page(out / PAGE, subjects_of(runs, suite.store.root))
    if results.as_json:
        print_document(json.dumps(matrix_document(matrix)))
    else:
        _print(matrix, out, console_of())
    raise click.exceptions.Exit(0 if all(each.report.conformant for each in columns) else 1)


def _interpreters(pythons: Sequence[str]) -> dict[str, Path]:
    wrong = [each for each in pythons if not each.partition("=")[2]]
    if wrong:
        raise UsageError(f"--python {wrong[0]!r} must be NAME=PATH, as in --python torch=venv/bin/python.")
    return {name: Path(path) for name, _, path in (each.partition("=") for each in pythons)}


def _commands(options: _Options) -> dict[str, Command]:
    """The command of each backend and harness, by name."""
    interpreters = _interpreters(options.pythons)
    wanted = options.backends or names()
    unused = set(interpreters) - {each.partition(":")[0] for each in wanted} - set(wanted)
    if unused:
        raise UsageError(f"--python names {min(unused)!r}, which is not one of the backends: {', '.join(wanted)}.")
    commands = {
        each: backend_command(each, interpreters.get(each) or interpreters.get(each.partition(":")[0]))
        for each in wanted
    }
    for each in options.harnesses:
        started = harness_command(each)
        commands[_free(started.name, commands)] = started
    memory = memory_of(options.memory)
    return {name: replace(each, memory=memory) for name, each in commands.items()}


def _entrants(commands: Mapping[str, Command], *, is_named: bool) -> tuple[list[_Entrant], dict[str, str]]:
    """The backends that can be started, and the reasons of the others; a backend that is named must start."""
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
            if is_named:
                raise
            absent[name] = str(fault)
    return entrants, absent


def _called(name: str, implementation: Implementation, taken: Collection[str]) -> str:
    """The name of a column: the name on the command line, or the product's for a harness or a class in a file."""
    if name.partition(":")[0] in names():
        return name
    return _free(implementation.name, taken)


def _free(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the next free number if it is taken."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _dialects_of(entrants: Sequence[_Entrant]) -> tuple[str, ...]:
    read = {dialect for each in entrants for dialect in each.implementation.dialects}
    return tuple(each for each in DIALECTS if each in read)


def _column(entrant: _Entrant, suite: Suite, out: Path, options: RunOptions, *, quiet: bool) -> Column:
    folder = out / folder_name(entrant.name)
    with progress(entrant.name, then=f"{entrant.name}: rerun failures", quiet=quiet) as on_progress:
        run = run_suite(suite, entrant.command, folder, options, on_progress)
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
        console.print(f"{left_out} requirements are not shown: no backend has a verdict for them.")
    console.print(
        f"Results: {out}/matrix.json, {out}/matrix.md, {out}/{PAGE}, and one folder per backend", soft_wrap=True
    )
