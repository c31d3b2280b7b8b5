"""`opconform merge`."""

from itertools import chain
from pathlib import Path

import click

from opconform.suite.path_kind import check_kind
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import FOLDER_TARGET, SOURCE, ResultOptions, json_option
from opconform_runners.cli.shared.steps import explained, hold, print_next, publish, show_report
from opconform_runners.execution.scale.merge import merge
from opconform_runners.findings.grouping import subgraphs_of, with_named_subgraphs
from opconform_runners.findings.report import report_of
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.results import REPORT


@click.command("merge", cls=HelpCommand, example="merge shard-1 shard-2 --out merged")
@click.argument("shards", nargs=-1, required=True, type=SOURCE, metavar="SHARD...")
@click.option("--out", "-o", type=FOLDER_TARGET, required=True, help="The folder or URL to write.")
@click.option("--suite", type=SOURCE, help="The suite that was run, for the HTML report.")
@click.option("--force", is_flag=True, help="Replace the results of another run in --out.")
@click.option("--quiet", "-q", is_flag=True, help="Print only errors and the verdict.")
@json_option("the report")
def command(shards: tuple[Path, ...], out: Path, suite: Path | None, **values: bool) -> None:
    """Merge the results of all shards of a run, and report the verdict.

    SHARD is a folder or URL that `run --shard` or `certify --shard` wrote. It is an error if a shard is
    missing or repeated, or differs in suite, backend version, device, driver or selection.

    Exit code: 0 conformant, 1 not conformant or incomplete.
    """
    for item in shards:
        check_kind(item, "results")
    shards = tuple(shard.parent if shard.is_file() else shard for shard in shards)  # report.json means its folder
    # results that were changed do not match their report
    reports = [read_report(item) for item in shards if (item / REPORT).is_file()]
    hold(out)
    header, results, opened = merge(shards, out, force=values["force"], place=suite)
    options = ResultOptions(
        out=out,
        force=values["force"],
        strict=header.strict,
        least_accuracy=header.least_accuracy,
        quiet=values["quiet"],
        verbose=False,
        as_json=values["as_json"],
    )
    report = explained(report_of(header, results), opened, out, options)
    report = with_named_subgraphs(report, chain.from_iterable(map(subgraphs_of, reports)))
    code = show_report(report, out, options)
    if opened is not None:
        publish(report, out, Path(opened.store.root), None, options)
    else:
        click.echo("note: No shard has a suite, so no HTML report was written. Name one with --suite.", err=True)
        print_next(report, out, Path("SUITE"), options)
    raise click.exceptions.Exit(code)
