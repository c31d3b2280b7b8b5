"""A suite executed with its progress shown, and its report written and printed."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import click

from opconform.errors import DiskError, UsageError
from opconform.suite.reader import Suite
from opconform_runners.cli.shared.console import console_of
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.runner import Run, RunOptions, run_suite
from opconform_runners.harness.command import Command
from opconform_runners.reports.report import Report, report_of
from opconform_runners.reports.report_file import report_document, write_report
from opconform_runners.reports.terminal import print_summary
from opconform_runners.verdicts.baseline import Baseline
from opconform_runners.verdicts.baseline_check import compare

#: A backend whose device comes from a plugin's library, as in `openvino:MYCPU=path/libplugin.so`.
_PLUGIN = re.compile(r"^([\w-]+:[\w.-]+)=.*$")
_NAMES = str.maketrans(dict.fromkeys(":/\\ ", "-"))


def folder_name(name: str) -> str:
    """The name of the folder for a backend's results."""
    return Path(_PLUGIN.sub(r"\1", name)).name.translate(_NAMES)


def folder_of(name: str) -> Path:
    """The default folder for a backend's results."""
    return Path("opconform-out") / folder_name(name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """A suite to be run on a backend.

    Attributes:
        suite: The suite.
        command: The command that starts the harness.
        out: The folder for the results.
        options: How to run.
        baseline: The expected failures.
    """

    suite: Suite
    command: Command
    out: Path
    options: RunOptions
    baseline: Baseline | None = None


def execute_shown(execution: Execution, *, as_json: bool) -> int:
    """Run a suite, write the results and the report, and print a summary.

    Args:
        execution: What to run.
        as_json: Whether to print the report as JSON instead of the summary and the progress.

    Returns:
        The exit code: 0 if the backend is conformant or does what the baseline expects, 1 otherwise.

    Raises:
        DiskError: The disk is full. Earlier results are written and shown.
        KeyboardInterrupt: The user pressed Ctrl-C. Earlier results are written and shown.
    """
    suite, out, options = execution.suite, execution.out, execution.options
    if options.jobs < 1:
        raise UsageError("--jobs must be 1 or more.")
    with progress("run", then="rerun failures", quiet=as_json) as on_progress:
        run = run_suite(suite, execution.command, out, options, on_progress)
    if run.continued:
        counted = f"{run.continued:,} of {len(run.results) + len(run.missing):,} cases"
        click.echo(f"note: the interrupted run in {out} was continued; {counted} had been executed before.", err=True)
    comparison = None
    if execution.baseline is not None:
        expects = {each.id: "accept" if each.expect == "accept" else "reject" for each in suite.entries}
        comparison = compare(execution.baseline, run.results, expects)
    report = report_of(
        suite.header,
        run,
        whole=options.whole,
        strict=options.strict,
        started=execution.command.options,
        baseline=comparison,
    )
    code = show_report(report, out, as_json=as_json)
    raise_interruption(run)
    return code


def raise_interruption(run: Run) -> None:
    """Raise what interrupted a run, once its report is written.

    Raises:
        DiskError: The disk was full.
        KeyboardInterrupt: The user pressed Ctrl-C.
    """
    if run.interrupted is not None:
        raise run.interrupted


def show_report(report: Report, out: Path, *, as_json: bool) -> int:
    """Write a report and print it, even if the disk is full.

    Returns:
        The exit code: 0 if the backend is conformant or does what the baseline expects, 1 otherwise.

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
        console = console_of()
        print_summary(report, console)
        console.print(f"Results: {out}/results.jsonl, {out}/report.json", soft_wrap=True)
    if full is not None:
        raise full
    if report.baseline is None:
        return 0 if report.conformant else 1
    return 0 if report.conformant is not None and report.baseline.is_as_expected else 1
