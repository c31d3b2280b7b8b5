"""`opconform judge`."""

from pathlib import Path

import click

from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.execution import folder_of, raise_interruption, show_report
from opconform_runners.cli.shared.options import PATH, ResultOptions, result_options, sign_option
from opconform_runners.cli.shared.page import check_place, show_page
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.signature import signing_with
from opconform_runners.execution.outputs_archive import open_recorded
from opconform_runners.execution.replay import is_whole, judge
from opconform_runners.reports.report import report_of
from opconform_runners.verdicts.results import PAGE


@click.command("judge")
@click.argument("outputs", type=PATH)
@click.option("--suite", type=PATH, required=True, help="The same suite with its expected outputs.")
@result_options
@sign_option
def command(outputs: Path, suite: Path, results: ResultOptions, signer: Path | None) -> None:
    """Judge OUTPUTS, a file that `opconform run --outputs` wrote, without running the backend.

    Writes results.jsonl, report.json and report.html to --out, and certificate.json with --sign. The exit codes are
    those of `opconform run`.
    """
    signing = signing_with(signer)
    full = open_suite(suite)
    recorded = open_recorded(outputs)
    folder = results.out or folder_of(recorded.origin.implementation.name)
    check_place(folder / PAGE)
    with progress("judge", quiet=results.as_json) as on_progress:
        run = judge(full, recorded, folder, on_progress, strict=results.strict, force=results.force)
    report = report_of(full.header, run, whole=is_whole(full, recorded), strict=results.strict)
    code = show_report(report, folder, as_json=results.as_json)
    raise_interruption(run)
    show_page(folder, suite, quiet=results.as_json)
    signing(folder, suite, quiet=results.as_json)
    raise click.exceptions.Exit(code)
