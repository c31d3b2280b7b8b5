"""`opconform run`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.execution import backend_options, command_of, execute_shown, folder_of, force_option
from opconform_runners.cli.shared.options import selection_options
from opconform_runners.cli.shared.recording import record_shown
from opconform_runners.execution.runner import RunOptions
from opconform_runners.verdicts.baseline import read_baseline


@click.command("run")
@click.argument("suite", type=click.Path(path_type=Path))
@backend_options
@selection_options
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Failures that are expected: fail on others only.",
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder; opconform-out/BACKEND by default.")
@click.option(
    "--outputs", type=click.Path(path_type=Path), metavar="FILE.zip", help="Write outputs to be judged elsewhere."
)
@force_option
@click.option("--jobs", type=int, default=1, show_default=True, help="Harness processes.")
def command(
    suite: Path,
    backend: str | None,
    harness: str | None,
    python: Path | None,
    timeout: float,
    memory: float | None,
    strict: bool,
    as_json: bool,
    profiles: tuple[str, ...],
    patterns: tuple[str, ...],
    baseline: Path | None,
    out: Path | None,
    outputs: Path | None,
    force: bool,
    jobs: int,
) -> None:
    """Run a backend on SUITE (a folder or a zip file) and compare every bit.

    With --outputs nothing is compared, so that the suite may be blind: each case is executed twice, and what comes of
    it is written to one file, for `opconform judge` elsewhere.

    The same command goes on where it was interrupted. Results of another run are replaced only with --force.

    Ends with 0 where the backend is conformant, 1 where it is not or the run is incomplete, 3 where the backend cannot
    be started. With a baseline, 0 where nothing is new, and 1 for a failure that it does not expect, a pass that it
    does not expect, or a line of it that is about no case.
    """
    expected = None if baseline is None else read_baseline(baseline)
    started = command_of(backend, harness, python, memory)
    selection = Selection(profiles=profiles, patterns=patterns)
    options = RunOptions(jobs=jobs, timeout=timeout, selection=selection, strict=strict, force=force)
    if outputs is not None:
        if out is not None or strict:
            raise UsageError("--out and --strict go with verdicts, and with --outputs there are none.")
        raise click.exceptions.Exit(record_shown(open_suite(suite), started, outputs, options, as_json=as_json))
    code = execute_shown(
        open_suite(suite),
        started,
        out or folder_of(started),
        options,
        as_json=as_json,
        baseline=expected,
    )
    raise click.exceptions.Exit(code)
