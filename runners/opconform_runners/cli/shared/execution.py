"""What `run` and `certify` share: a suite executed with its progress shown, and its report."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import click
import psutil

from opconform.dialects import DIALECTS
from opconform.errors import DiskError, UsageError
from opconform.suite.reader import Suite
from opconform_runners.cli.shared.console import console_of
from opconform_runners.cli.shared.options import Function, positive
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.runner import Run, RunOptions, run_suite
from opconform_runners.harness.command import GIB, Command, backend_command, harness_command
from opconform_runners.harness.process import described
from opconform_runners.reports.report import Report, report_of
from opconform_runners.reports.terminal import print_summary
from opconform_runners.reports.writer import report_document, write_report
from opconform_runners.verdicts.baseline import Baseline
from opconform_runners.verdicts.baseline_check import compare

#: A backend whose device comes from a plugin's library, as in `openvino:MYCPU=path/libplugin.so`.
_PLUGIN = re.compile(r"^([\w-]+:[\w.-]+)=.*$")
_NAMES = str.maketrans(dict.fromkeys(":/\\ ", "-"))


#: Whether results of another run are replaced.
force_option = click.option("--force", is_flag=True, help="Replace the results of another run in --out; start over.")
#: How much memory a harness may take.
memory_option = click.option(
    "--memory", type=positive, metavar="GIB", help="Memory that a harness may take; three quarters of all by default."
)


def backend_options(function: Function) -> Function:
    """What decides which backend is run, and how."""
    options = (
        click.option("--backend", metavar="NAME[:DEVICE]", help="A backend, or path/file.py:ClassName."),
        click.option("--harness", metavar="COMMAND", help="A harness in any language that speaks the protocol."),
        click.option(
            "--python",
            type=click.Path(path_type=Path),
            help="The interpreter of another virtual environment to run the backend in.",
        ),
        click.option(
            "--timeout", type=positive, metavar="SECONDS", default=20.0, show_default=True, help="What a case may take."
        ),
        memory_option,
        click.option("--strict", is_flag=True, help="Count interpretations as much as normative requirements."),
        click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
    )
    for each in reversed(options):
        function = each(function)
    return function


def command_of(backend: str | None, harness: str | None, python: Path | None, memory: float | None) -> Command:
    """How the harness is started.

    Raises:
        UsageError: Not exactly one of the two is named, or it cannot be.
    """
    if backend is not None and harness is not None:
        raise UsageError("Name one backend: both --backend and --harness are given.")
    if backend is None and harness is None:
        raise UsageError("Name the backend with either --backend NAME or --harness COMMAND. See `opconform backends`.")
    if harness is not None and python is not None:
        raise UsageError("--python goes with --backend; a --harness names its own interpreter.")
    command = backend_command(backend, python) if backend is not None else harness_command(harness or "")
    return replace(command, memory=memory_of(memory))


def memory_of(gib: float | None) -> int:
    """The most bytes that a harness may take: as many GiB as given, or three quarters of the machine's memory."""
    if gib is None:
        return psutil.virtual_memory().total * 3 // 4
    return int(gib * GIB)


def dialects_of(command: Command) -> tuple[str, ...]:
    """The dialects that a harness reads, of those that can be rendered; none where it executes cases directly.

    Raises:
        HarnessError: It cannot be started.
    """
    return tuple(each for each in asyncio.run(described(command)).dialects if each in DIALECTS)


def folder_of(command: Command) -> Path:
    """Where results go unless the user says otherwise."""
    return Path("opconform-out") / folder_name(command.name)


def folder_name(name: str) -> str:
    """What the folder of a backend's results is called."""
    return Path(_PLUGIN.sub(r"\1", name)).name.translate(_NAMES)


def execute_shown(
    suite: Suite,
    command: Command,
    out: Path,
    options: RunOptions,
    *,
    as_json: bool,
    baseline: Baseline | None = None,
) -> int:
    """Run a suite, write the results and the report, and show what came of it.

    Args:
        suite: The suite.
        command: How the harness is started.
        out: The folder for the results.
        options: How to run.
        as_json: Whether to print the report as JSON, and nothing else.
        baseline: The failures that are expected.

    Returns:
        The exit code: 0 where the backend is conformant or, with a baseline, does what that says; 1 otherwise.

    Raises:
        DiskError: The disk is full; what was found before is written and shown.
        KeyboardInterrupt: The same of Ctrl-C.
    """
    if options.jobs < 1:
        raise UsageError("--jobs must be 1 or more.")
    with progress("run", then="run failures once more", quiet=as_json) as tell:
        run = run_suite(suite, command, out, options, tell)
    if run.continued:
        counted = f"{run.continued:,} of {len(run.results) + len(run.missing):,} cases"
        click.echo(f"note: the interrupted run in {out} was continued; {counted} had been executed before.", err=True)
    expects = {each.id: "accept" if each.expect == "accept" else "reject" for each in suite.entries}
    comparison = None if baseline is None else compare(baseline, run.results, expects)
    whole, strict = options.whole, options.strict
    report = report_of(suite.header, run, whole=whole, strict=strict, started=command.options, baseline=comparison)
    code = show_report(report, out, as_json=as_json)
    raise_interruption(run)
    return code


def raise_interruption(run: Run) -> None:
    """End the command as what interrupted a run would have ended it, now that the report is written.

    Raises:
        DiskError: The disk was full.
        KeyboardInterrupt: It was Ctrl-C.
    """
    if run.interrupted is not None:
        raise run.interrupted


def show_report(report: Report, out: Path, *, as_json: bool) -> int:
    """Write a report and show it; where the disk is full it is shown all the same.

    Returns:
        The exit code: 0 where the backend is conformant or, with a baseline, does what that says; 1 otherwise.

    Raises:
        DiskError: The disk is full.
    """
    full = None
    try:
        write_report(out, report)
    except DiskError as fault:
        full = fault
    if as_json:
        print_document(json.dumps(report_document(report), ensure_ascii=False))
    else:
        _print(report, out)
    if full is not None:
        raise full
    if report.baseline is None:
        return 0 if report.conformant else 1
    return 0 if report.conformant is not None and report.baseline.is_as_expected else 1


def _print(report: Report, out: Path) -> None:
    console = console_of()
    print_summary(report, console)
    console.print(f"Results: {out}/results.jsonl, {out}/report.json", soft_wrap=True)
