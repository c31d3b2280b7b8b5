"""`opconform run`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared import options
from opconform_runners.cli.shared.options import PATH
from opconform_runners.cli.shared.output import print_result
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.steps import execute_shown, folder_of
from opconform_runners.execution.recorder import record
from opconform_runners.execution.runner import RunOptions
from opconform_runners.harness.command import Command
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.baseline import read_baseline


@click.command("run")
@click.argument("suite", type=PATH)
@options.backend_options
@options.selection_options
@click.option("--baseline", type=PATH, metavar="FILE", help="A file of expected failures; only other failures count.")
@click.option("--outputs", type=PATH, metavar="FILE.zip", help="Write the outputs to this file without judging them.")
@options.result_options()
@options.jobs_option("Number of harness processes.", 1)
def command(
    suite: Path,
    backend: options.BackendOptions,
    selection: Selection,
    results: options.ResultOptions,
    jobs: int,
    **files: Path | None,
) -> None:
    """Run a backend on SUITE (a folder or a zip file) and compare every bit of its outputs.

    With --outputs nothing is compared, so SUITE may be blind: each case is executed twice, and the outputs are written
    to one file for `opconform judge`.

    The same command continues an interrupted run. The results of another run are replaced only with --force.

    Exit code: 0 if the backend is conformant, 1 if it is not or the run is incomplete, 3 if the backend cannot be
    started. With --baseline: 0 if nothing differs from the file, 1 for an unexpected failure, an unexpected pass, or a
    line that matches no case.
    """
    baseline, outputs = files["baseline"], files["outputs"]
    expected = None if baseline is None else read_baseline(baseline)
    started = backend.command()
    running = RunOptions(
        jobs=jobs, timeout=backend.timeout, selection=selection, strict=results.strict, force=results.force
    )
    if outputs is not None:
        if results.out is not None or results.strict:
            raise UsageError("--out and --strict cannot be used with --outputs, which gives no verdicts.")
        code = _record(open_suite(suite), started, outputs, running, as_json=results.as_json)
    else:
        folder = results.out or folder_of(started.name)
        code = execute_shown(open_suite(suite), started, folder, running, expected, as_json=results.as_json)
    raise click.exceptions.Exit(code)


def _record(suite: Suite, command: Command, out: Path, running: RunOptions, *, as_json: bool) -> int:
    """Write the outputs of a suite, and return 1 if the harness failed on some cases, else 0."""
    with progress("run twice", of="executions", quiet=as_json) as on_progress:
        digest, origin = record(suite, command, out, running, on_progress)
    counts = dict(origin.counts)
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    who = f"{origin.implementation.name} {origin.implementation.version}"
    print_result(
        {"out": str(out), "sha256": digest, "suite": origin.suite, "counts": counts},
        [f"{out}: {who}, {counted(sum(counts.values()), 'case')} ({kinds})", f"SHA-256 {digest}"],
        as_json=as_json,
    )
    return 1 if counts.get("error") else 0
