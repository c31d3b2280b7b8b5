"""`opconform judge`."""

from pathlib import Path

import click

from opconform.files import check_ours
from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.options import PATH, PrivateKey, ResultOptions, result_options, sign_option
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.steps import folder_of, publish, show_report
from opconform_runners.execution.outputs_archive import open_recorded
from opconform_runners.execution.replay import judge
from opconform_runners.reports.report import report_of
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING


@click.command("judge")
@click.argument("outputs", type=PATH)
@click.option("--suite", type=PATH, required=True, help="The suite that was run, with its expected outputs.")
@result_options()
@sign_option
def command(outputs: Path, suite: Path, results: ResultOptions, key: "PrivateKey | None") -> None:
    """Judge OUTPUTS, a file that `opconform run --outputs` wrote, without running the backend.

    Writes results.jsonl, report.json and report.html to --out, and certificate.json with --sign. The exit codes are
    those of `opconform run`.
    """
    full, recorded, quiet = open_suite(suite), open_recorded(outputs), results.as_json
    folder = results.out or folder_of(recorded.origin.implementation.name)
    check_ours(folder / PAGE, PAGE_BEGINNING)
    with progress("judge", quiet=quiet) as on_progress:
        run = judge(full, recorded, folder, on_progress, strict=results.strict, force=results.force)
    report = report_of(run.header, run.results, missing=run.missing, gave_up=run.gave_up)
    code = show_report(report, folder, as_json=quiet)
    if run.interrupted is not None:
        raise run.interrupted
    publish(folder, suite, key, quiet=quiet)
    raise click.exceptions.Exit(code)
