"""The certification of a backend on a stream of cases, which are too many to keep."""

from collections.abc import Sequence
from pathlib import Path

import click

from opconform.generation.expansion import specs_of
from opconform.generation.header import spec_digests
from opconform.generation.options import Options
from opconform.generation.provenance import foreign_specs
from opconform.generation.stream import Stream
from opconform.generation.writer import check_replaceable
from opconform.specs.attribution import warnings_of
from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.options import ResultOptions
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.steps import check_specs, publish, show_report
from opconform_runners.execution.runner import RunOptions
from opconform_runners.execution.stream import run_stream
from opconform_runners.harness.command import Command
from opconform_runners.reports.report import report_of


def certify_streamed(
    specs: Sequence[Path],
    command: Command,
    folder: Path,
    generating: Options,
    running: RunOptions,
    results: ResultOptions,
) -> int:
    """Certify a backend on a stream, write the results and a suite of the failures, and return the exit code."""
    loaded, place = specs_of(specs, seed=generating.seed, limits=generating.limits), folder / "suite"
    check_replaceable(place)
    if not results.force:
        check_specs(place, spec_digests(loaded))
    for sentence in warnings_of(loaded):
        click.echo(f"warning: {sentence}", err=True)
    if foreign := foreign_specs(spec_digests(loaded)):
        click.echo(f"note: The verdict is on your own specs: {', '.join(foreign)}.", err=True)
    stream = Stream(specs=loaded, options=generating)
    with progress("generate and run", quiet=results.is_silent) as on_progress:
        header, kept = run_stream(stream, command, folder, running, on_progress)
    report = report_of(header, kept)
    code, explained = show_report(report, folder, results, open_suite(place))
    publish(report, folder, place, None, results, explained)
    return code
