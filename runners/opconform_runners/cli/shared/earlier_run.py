"""A complete run in the folder of a command, which need not be executed again."""

from pathlib import Path

from opconform.suite.reader import Suite
from opconform_runners.execution.plan import RunOptions, selected
from opconform_runners.execution.scale.remote import implementation_of
from opconform_runners.findings.report import Report
from opconform_runners.harness.command import Command
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.results import RESULTS, read_written


def complete_run(suite: Suite, command: Command, out: Path, running: RunOptions) -> Report | None:
    """The report of a complete run of the same cases on the same backend; None if the folder has none."""
    path = out / RESULTS
    if running.force or not path.is_file() or not path.stat().st_size:
        return None
    written = read_written(path)
    past = written.header
    claims = None if running.claims is None else running.claims.text
    same = (
        command.options,
        command.program,
        running.whole,
        running.strict,
        running.least_accuracy,
        claims,
        suite.header.digest,
    )
    was = (past.backend, past.program, past.whole, past.strict, past.least_accuracy, past.claims, past.suite.digest)
    if was != same or not written.is_complete:
        return None
    report = read_report(out)
    cases = {entry.id for entry in selected(suite, running.selection)}
    if {result.id for result in report.results} != cases:
        return None
    return report if past.implementation.title == implementation_of(command, running.executor).title else None
