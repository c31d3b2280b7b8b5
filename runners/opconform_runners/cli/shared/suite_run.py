"""A run of backends on a suite, judged or recorded."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opconform.errors import UsageError, counted
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.earlier_run import complete_run
from opconform_runners.cli.shared.expected import Expected, expected_of
from opconform_runners.cli.shared.help import WORDS
from opconform_runners.cli.shared.last_failed import FOLDER as AGAIN
from opconform_runners.cli.shared.last_failed import is_failure, last_failed
from opconform_runners.cli.shared.matrix_run import FOLDER, hold_matrix, run_matrix, start
from opconform_runners.cli.shared.options.backends import BackendOptions
from opconform_runners.cli.shared.options.cluster import ClusterOptions
from opconform_runners.cli.shared.options.expected import ExpectedOptions
from opconform_runners.cli.shared.options.general import (
    ResultOptions,
)
from opconform_runners.cli.shared.output.printer import print_lines, print_result
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.steps import (
    executed,
    folder_of,
    hold,
    launch_of,
    print_next,
    report_of_run,
    show_command,
    show_report,
)
from opconform_runners.execution.log.recorder import record_outputs
from opconform_runners.execution.plan import RunOptions
from opconform_runners.findings.known.release import known_release
from opconform_runners.findings.report import Report
from opconform_runners.harness.command import Command
from opconform_runners.verdicts.baseline import Baseline


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteRun:
    """What is run, and how; a record has the outputs, and no verdicts."""

    suite: Path
    backend: BackendOptions
    selection: Selection
    results: ResultOptions
    expected: ExpectedOptions
    cluster: ClusterOptions
    jobs: int | None
    record: Path | None
    is_first_only: bool
    is_last_failed: bool
    is_alone: bool


def run_suites(request: SuiteRun) -> int:
    """Run one or several backends, and return the exit code."""
    suite, backend, selection, results = request.suite, request.backend, request.selection, request.results
    files = expected_of(request.expected)
    if request.expected.known:
        files = replace(files, baseline=_known_baseline(backend.command(), open_suite(suite)))
    running = RunOptions(
        jobs=request.jobs,
        timeout=backend.timeout,
        selection=selection,
        strict=results.strict,
        least_accuracy=results.least_accuracy,
        force=results.force,
        resume=not request.is_first_only,
        stops=is_failure(files.baseline) if request.is_first_only else None,
        alone=request.is_alone,
        executor=request.cluster.executors(request.jobs).runs,
        claims=files.claims,
    )
    if backend.is_several:
        out = results.out or FOLDER
        opened, started = open_suite(suite), start(backend, running.executor)
        hold_matrix(out, started)
        code = run_matrix(opened, started, out, running, results)
    elif request.record is not None:
        command = backend.command()
        code = _record(open_suite(suite), command, request.record, running, results)
    else:
        command, opened = backend.command(), open_suite(suite)
        results = replace(results, out=results.out or folder_of(command.name))
        if request.is_last_failed:
            again = replace(selection, ids=last_failed(opened, results.place, command, files.baseline))
            running = replace(running, selection=again, force=True)
            results = replace(results, out=results.place / AGAIN)
        code = _judged(opened, command, running, results, files)
    return code


def _known_baseline(command: Command, suite: Suite) -> Baseline:
    """The known failures of a backend's release, or a UsageError if none are known."""
    release = known_release(command.name)
    if release is None:
        raise UsageError(f"No failures of {command.name} are known. Leave out --known, or use --baseline FILE.")
    return release.baseline(suite.by_id)


def _judged(suite: Suite, command: Command, running: RunOptions, results: ResultOptions, files: Expected) -> int:
    out, place = results.place, Path(suite.store.root)
    hold(out)
    report = complete_run(suite, command, out, running) if files.options.updates else None
    interrupted = None
    if report is None:
        run = executed(suite, command, out, running, results)
        report = report_of_run(run, suite, out, results, launch_of(command, running))
        interrupted = run.interrupted
    report = files.compared(report, suite, lambda line: None if results.is_silent else print_lines([line]))
    code = show_report(report, out, results)
    if interrupted is not None:
        raise interrupted
    ended = [result.id for result in report.results if result.verdict == "error"]
    files.check_updated(
        report, f"Look at `opconform {show_command(ended[0], out, place)}`." if ended else "Repeat the run."
    )
    print_next(report, out, place, results, [] if files.options.updates else _updating(report))
    return code


def _updating(report: Report) -> list[str]:
    """The command that updates the baseline after a run in which only expected failures are gone, or nothing."""
    comparison = report.baseline
    if (
        comparison is None
        or comparison.is_as_expected
        or comparison.regressions
        or comparison.lost
        or not report.is_finished
    ):
        return []
    words = click.get_current_context().meta[WORDS]
    return [shlex.join(["run", *words, "--update-baseline"])]


def _record(suite: Suite, command: Command, out: Path, running: RunOptions, results: ResultOptions) -> int:
    """Write the outputs of a suite, and return 1 if the harness failed on some cases, else 0."""
    with progress("run twice", of="executions", quiet=results.is_silent) as on_progress:
        digest, header, counts = record_outputs(suite, command, out, running, on_progress)
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    who = f"{header.implementation.name} {header.implementation.version}"
    print_result(
        {"out": str(out), "sha256": digest, "suite": header.suite.digest, "counts": counts},
        [f"{out}: {who}, {counted(sum(counts.values()), 'case')} ({kinds})", f"SHA-256 {digest}"],
        as_json=results.as_json,
    )
    return 1 if counts.get("error") else 0
