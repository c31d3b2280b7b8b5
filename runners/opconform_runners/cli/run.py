"""`opconform run`."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError, counted
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.defaults import completed
from opconform_runners.cli.shared.earlier_run import complete_run
from opconform_runners.cli.shared.expected import Expected, ExpectedOptions, expected_options
from opconform_runners.cli.shared.help import WORDS, HelpCommand, rare_option
from opconform_runners.cli.shared.last_failed import FOLDER as AGAIN
from opconform_runners.cli.shared.last_failed import is_failure, last_failed
from opconform_runners.cli.shared.matrix_run import FOLDER, hold_matrix, run_matrix, start
from opconform_runners.cli.shared.options.backends import BackendOptions, backend_options, complete_backends
from opconform_runners.cli.shared.options.cluster import ClusterOptions, cluster_options
from opconform_runners.cli.shared.options.general import (
    SOURCE,
    TARGET,
    ResultOptions,
    jobs_option,
    result_options,
    selection_options,
    shard_option,
)
from opconform_runners.cli.shared.output.printer import print_lines, print_result
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.steps import (
    executed,
    folder_of,
    hold,
    print_next,
    report_of_run,
    show_command,
    show_report,
)
from opconform_runners.execution.log.recorder import record_outputs
from opconform_runners.execution.plan import RunOptions
from opconform_runners.findings.report import Report
from opconform_runners.harness.command import Command
from opconform_runners.harness.registry import names

#: The most characters of the reason why a run is incomplete.
_LONGEST = 300
_OPERATION = re.compile(r"[A-Z]\w*-\d+")


@click.command("run", cls=HelpCommand, example="run suite numpy\nrun suite openvino -k 'Split-1/*' --out part")
@click.argument("suite", type=SOURCE)
@click.argument("named", nargs=-1, metavar="[BACKEND]...", shell_complete=complete_backends)
@backend_options
@selection_options
@result_options
@expected_options
@rare_option(
    "--last-failed", is_flag=True, help="Run only the cases that failed in --out, and write to --out/last-failed."
)
@rare_option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure. Never continues an earlier run.")
@shard_option
@rare_option("--record", type=TARGET, metavar="FILE.zip", help="Write the outputs without judging them.")
@jobs_option("Harness processes; by default 1, or on a CPU one per core, at most 4.")
@cluster_options
def command(
    suite: Path,
    named: tuple[str, ...],
    backend: BackendOptions,
    selection: Selection,
    results: ResultOptions,
    cluster: ClusterOptions,
    **values: Any,
) -> None:
    """Run backends on SUITE (a folder, a zip file or a URL) and judge their outputs.

    The same command continues an interrupted run. With --record, each case is executed twice, and the outputs are
    written to one file for `opconform certificate judge`. SUITE can then be blind. Exit code: 0 conformant (with
    --baseline: nothing new), 1 otherwise, 3 the backend cannot start.
    """
    backend = replace(backend, backends=(*named, *backend.backends))
    expected: ExpectedOptions = values["expected"]
    record: Path | None = values["record"]
    jobs: int | None = values["jobs"]
    if record is not None and (results.out is not None or results.strict or expected != ExpectedOptions()):
        raise UsageError(
            "--out, --strict, --baseline and --claims cannot be used with --record, which gives no verdicts."
        )
    if record is not None and selection.shard is not None:
        raise UsageError("--shard and --record cannot be used together: a recording must cover whole profiles.")
    if backend.is_several and (record is not None or expected != ExpectedOptions() or values["last_failed"]):
        raise UsageError("--baseline, --claims, --record and --last-failed work with one backend. Name one.")
    if record is not None and (values["last_failed"] or values["exitfirst"]):
        raise UsageError("--last-failed and -x cannot be used with --record, which gives no verdicts.")
    if expected.updates and values["exitfirst"]:
        raise UsageError("-x and an update cannot be used together: an update needs the whole run.")
    if record is not None and cluster.url is not None:
        raise UsageError("--executor and --record cannot be used together. Record on one machine.")
    _check_suite(suite, named)
    is_judged = record is None and not backend.is_several
    backend, selection, defaults = completed(
        backend,
        selection,
        baseline=is_judged and expected.baseline is None,
        claims=is_judged and expected.claims is None,
    )
    baseline, claims = expected.baseline or defaults.baseline, expected.claims or defaults.claims
    expected = replace(expected, baseline=baseline, claims=claims)
    files = expected.read()
    running = RunOptions(
        jobs=jobs,
        timeout=backend.timeout,
        selection=selection,
        strict=results.strict,
        force=results.force,
        resume=not values["exitfirst"],
        stops=is_failure(files.baseline) if values["exitfirst"] else None,
        executor=cluster.executors(jobs).runs,
        claims=files.claims,
    )
    if backend.is_several:
        out = results.out or FOLDER
        opened, started = open_suite(suite), start(backend, running.executor)
        hold_matrix(out, started)
        code = run_matrix(opened, started, out, running, results)
    elif record is not None:
        command = backend.command()
        code = _record(open_suite(suite), command, record, running, results)
    else:
        command, opened = backend.command(), open_suite(suite)
        results = replace(results, out=results.out or folder_of(command.name))
        if values["last_failed"]:
            again = replace(selection, ids=last_failed(opened, results.place, command, files.baseline))
            running = replace(running, selection=again, force=True)
            results = replace(results, out=results.place / AGAIN)
        code = _judged(opened, command, running, results, files)
    raise click.exceptions.Exit(code)


def _check_suite(suite: Path, named: Sequence[str]) -> None:
    """Refuse what is not a suite, or an operation among the backends, and name the command for it."""
    check_kind(suite, "suite")
    if operation := next(filter(_OPERATION.fullmatch, named), None):
        pattern = shlex.quote(f"{operation}/*")
        raise UsageError(f"{operation} is an operation. Use `opconform run {suite} BACKEND --select {pattern}`.")
    if not suite.exists() and (str(suite).partition(":")[0] in names() or ".py:" in str(suite)):
        raise UsageError(f"{suite} is a backend. Use `opconform certify {suite}` or `opconform run SUITE {suite}`.")


def _judged(suite: Suite, command: Command, running: RunOptions, results: ResultOptions, files: Expected) -> int:
    out, place = results.place, Path(suite.store.root)
    hold(out)
    report = complete_run(suite, command, out, running) if files.options.updates else None
    interrupted = None
    if report is None:
        run = executed(suite, command, out, running, results)
        report, interrupted = report_of_run(run, suite, out, quiet=results.is_silent), run.interrupted
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
