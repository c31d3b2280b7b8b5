"""`opconform judge`."""

from pathlib import Path

import click

from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.execution import folder_name, force_option, raise_interruption, show_report
from opconform_runners.cli.shared.page import check_place, show_page
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.signature import sign_option, signing_with
from opconform_runners.execution.outputs_archive import open_recorded
from opconform_runners.execution.replay import is_whole, judge
from opconform_runners.reports.report import report_of
from opconform_runners.verdicts.results import PAGE


@click.command("judge")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option(
    "--suite", type=click.Path(path_type=Path), required=True, help="The same suite with its expected outputs."
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder; opconform-out/BACKEND by default.")
@click.option("--strict", is_flag=True, help="Count interpretations as much as normative requirements.")
@force_option
@sign_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    outputs: Path, suite: Path, out: Path | None, strict: bool, force: bool, signer: Path | None, as_json: bool
) -> None:
    """Judge OUTPUTS, the file that `run --outputs` wrote elsewhere, as if the backend were here.

    Writes results.jsonl, report.json and report.html under --out, and certificate.json with --sign. Ends as `run` does.
    """
    signing = signing_with(signer)
    full = open_suite(suite)
    recorded = open_recorded(outputs)
    folder = out or Path("opconform-out") / folder_name(recorded.origin.implementation.name)
    check_place(folder / PAGE)
    with progress("judge", quiet=as_json) as tell:
        run = judge(full, recorded, folder, tell, strict=strict, force=force)
    report = report_of(full.header, run, whole=is_whole(full, recorded), strict=strict)
    code = show_report(report, folder, as_json=as_json)
    raise_interruption(run)
    show_page(folder, suite, quiet=as_json)
    signing(folder, suite, quiet=as_json)
    raise click.exceptions.Exit(code)
