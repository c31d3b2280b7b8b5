"""`opconform run`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.execution import Execution, execute_shown, folder_of
from opconform_runners.cli.shared.options import (
    PATH,
    BackendOptions,
    ResultOptions,
    backend_options,
    result_options,
    selection_options,
)
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.recorder import record
from opconform_runners.execution.runner import RunOptions
from opconform_runners.harness.command import Command
from opconform_runners.verdicts.baseline import read_baseline


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    suite: Path
    backend: BackendOptions
    selection: Selection
    results: ResultOptions
    baseline: Path | None
    outputs: Path | None
    jobs: int


@click.command("run")
@click.argument("suite", type=PATH)
@backend_options
@selection_options
@click.option("--baseline", type=PATH, metavar="FILE", help="A file of expected failures; only other failures count.")
@result_options
@click.option(
    "--outputs", type=PATH, metavar="FILE.zip", help="Write the outputs to this file instead of judging them."
)
@click.option("--jobs", type=int, default=1, show_default=True, help="Number of harness processes.")
def command(**given: Any) -> None:
    """Run a backend on SUITE (a folder or a zip file) and compare every bit of its outputs.

    With --outputs nothing is compared, so SUITE may be blind: each case is executed twice, and the outputs are written
    to one file for `opconform judge`.

    The same command continues an interrupted run. The results of another run are replaced only with --force.

    Exit code: 0 if the backend is conformant, 1 if it is not or the run is incomplete, 3 if the backend cannot be
    started. With --baseline: 0 if nothing differs from the file, 1 for an unexpected failure, an unexpected pass, or a
    line that matches no case.
    """
    options = _Options(**given)
    results = options.results
    baseline = None if options.baseline is None else read_baseline(options.baseline)
    started = options.backend.command()
    running = RunOptions(
        jobs=options.jobs,
        timeout=options.backend.timeout,
        selection=options.selection,
        strict=results.strict,
        force=results.force,
    )
    if options.outputs is not None:
        if results.out is not None or results.strict:
            raise UsageError("--out and --strict need verdicts, and --outputs gives none.")
        suite = open_suite(options.suite)
        raise click.exceptions.Exit(_record(suite, started, options.outputs, running, as_json=results.as_json))
    execution = Execution(
        suite=open_suite(options.suite),
        command=started,
        out=results.out or folder_of(started.name),
        options=running,
        baseline=baseline,
    )
    raise click.exceptions.Exit(execute_shown(execution, as_json=results.as_json))


def _record(suite: Suite, command: Command, out: Path, options: RunOptions, *, as_json: bool) -> int:
    """Write the outputs of a suite, and return 1 if the harness failed on some cases, else 0."""
    if options.jobs < 1:
        raise UsageError("--jobs must be 1 or more.")
    with progress("run twice", of="executions", quiet=as_json) as on_progress:
        recording = record(suite, command, out, options, on_progress)
    origin = recording.origin
    counts = dict(origin.counts)
    if as_json:
        document = {"out": str(out), "sha256": recording.digest, "suite": origin.suite, "counts": counts}
        print_document(json.dumps(document))
    else:
        counted = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        who = f"{origin.implementation.name} {origin.implementation.version}"
        click.echo(f"{out}: {who}, {sum(counts.values()):,} cases ({counted})")
        click.echo(f"SHA-256 {recording.digest}")
    return 1 if counts.get("error") else 0
