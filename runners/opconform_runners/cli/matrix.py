"""`opconform matrix`."""

import asyncio
import itertools
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import click

from opconform.errors import HarnessError, UsageError
from opconform.files import check_ours, replace_file, replace_ours
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared import options
from opconform_runners.cli.shared.output import print_result
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.steps import folder_name, generate_shown, page_of_runs
from opconform_runners.execution.runner import RunOptions, run_suite
from opconform_runners.harness.command import Command, backend_command, harness_command, memory_limit
from opconform_runners.harness.connection import described
from opconform_runners.harness.registry import names
from opconform_runners.reports.matrix import Column, Matrix, matrix_document, matrix_markdown, matrix_view
from opconform_runners.reports.report import report_of
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING

#: The written files, and a mark among the first bytes of each.
_FILES: Mapping[str, bytes] = MappingProxyType(
    {"matrix.json": b'{\n "format"', "matrix.md": b"\n| backend | verdict |", PAGE: PAGE_BEGINNING}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Backends:
    """The options that name the backends and limit their harnesses."""

    backends: tuple[str, ...]
    harnesses: tuple[str, ...]
    pythons: tuple[str, ...]
    timeout: float
    memory: float | None

    def commands(self) -> dict[str, Command]:
        """The command of each backend and harness, by name."""
        interpreters = {name: path for name, _, path in (each.partition("=") for each in self.pythons)}
        for each in self.pythons:
            if not each.partition("=")[2]:
                raise UsageError(f"--python {each!r} must be NAME=PATH, as in --python torch=venv/bin/python.")
        wanted = self.backends or names()
        unused = set(interpreters) - {each.partition(":")[0] for each in wanted} - set(wanted)
        if unused:
            raise UsageError(f"--python names {min(unused)!r}, which is not one of the backends: {', '.join(wanted)}.")
        commands = {}
        for each in wanted:
            python = interpreters.get(each) or interpreters.get(each.partition(":")[0])
            commands[each] = backend_command(each, Path(python) if python else None)
        for each in self.harnesses:
            started = harness_command(each)
            commands[_free(started.name, commands)] = started
        return {name: replace(each, memory=memory_limit(self.memory)) for name, each in commands.items()}


class _Started(NamedTuple):
    """The commands of the backends that can be started, the dialects that they read, and why the others cannot."""

    commands: dict[str, Command]
    dialects: set[str]
    absent: dict[str, str]


@click.command("matrix")
@options.spec_arguments
@options.collected(
    "chosen",
    _Backends,
    click.option(
        "--backend",
        "backends",
        multiple=True,
        metavar="NAME[:DEVICE]",
        help="Run this backend; all installed backends by default. Can be repeated.",
    ),
    click.option(
        "--harness", "harnesses", multiple=True, metavar="COMMAND", help="Also run this harness. Can be repeated."
    ),
    click.option(
        "--python",
        "pythons",
        multiple=True,
        metavar="NAME=PATH",
        help="The Python interpreter, in another virtual environment, that runs the backend NAME. Can be repeated.",
    ),
    options.timeout_option,
    options.memory_option,
)
@options.profile_option
@options.generation_options(options.RUN_JOBS)
@options.result_options("opconform-out/matrix", "the matrix")
def command(
    specs: tuple[Path, ...],
    chosen: _Backends,
    profiles: tuple[str, ...],
    generation: options.GenerationOptions,
    results: options.ResultOptions,
) -> None:
    """Run every installed backend on one suite, and print one row per requirement and one column per backend.

    Writes suite/, one folder per backend, matrix.json, matrix.md and report.html to --out. Lists the reason for each
    backend that cannot be started.

    Exit code: 0 if all backends are conformant, 1 otherwise, 3 if no backend can be started, or one named by
    --backend cannot be started.
    """
    out, quiet = results.out or Path("opconform-out/matrix"), results.as_json
    selection = Selection(profiles=profiles)
    started = _started(chosen.commands(), is_named=bool(chosen.backends))
    generating = generation.options(selection, read=started.dialects)
    for name, mark in _FILES.items():
        check_ours(out / name, mark)
    suite = open_suite(generate_shown(specs, out / "suite", generating, quiet=quiet, force=results.force).out)
    running = RunOptions(
        jobs=generation.jobs or 1,
        timeout=chosen.timeout,
        selection=selection,
        whole=True,
        strict=results.strict,
        force=results.force,
    )
    columns = [_column(name, each, suite, out, running, quiet=quiet) for name, each in started.commands.items()]
    matrix = Matrix(columns=columns, absent=started.absent)
    document = matrix_document(matrix)
    replace_file(out / "matrix.json", (json.dumps(document, indent=1) + "\n").encode())
    replace_file(out / "matrix.md", matrix_markdown(matrix).encode())
    runs = [finished(out / folder_name(name)) for name in started.commands]
    replace_ours(out / PAGE, page_of_runs(runs, suite.store.root).encode(), PAGE_BEGINNING)
    place = f"Results: {out}/matrix.json, {out}/matrix.md, {out}/{PAGE}, and one folder per backend"
    print_result(document, [*matrix_view(matrix), place], as_json=quiet)
    raise click.exceptions.Exit(0 if all(each.report.conformant for each in matrix.columns) else 1)


def _started(commands: Mapping[str, Command], *, is_named: bool) -> _Started:
    """Start each backend once; a backend that is named must start."""
    started = _Started({}, set(), {})
    for name, each in commands.items():
        try:
            implementation = asyncio.run(described(each))
        except HarnessError as fault:
            if is_named:
                raise
            started.absent[name] = str(fault)
            continue
        # a harness, or a class in a file, is called by the name of its product
        is_installed = name.partition(":")[0] in names()
        started.commands[name if is_installed else _free(implementation.name, started.commands)] = each
        started.dialects.update(implementation.dialects)
    if not started.commands:
        raise HarnessError("None of the backends can be started: " + " ".join(started.absent.values()))
    return started


def _free(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the next free number if it is taken."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _column(name: str, command: Command, suite: Suite, out: Path, running: RunOptions, *, quiet: bool) -> Column:
    folder = out / folder_name(name)
    with progress(name, then=f"{name}: rerun failures", quiet=quiet) as on_progress:
        run = run_suite(suite, command, folder, running, on_progress)
    report = report_of(run.header, run.results, missing=run.missing, gave_up=run.gave_up)
    write_report(folder, report)
    if run.interrupted is not None:
        raise run.interrupted
    return Column(name=name, report=report)
