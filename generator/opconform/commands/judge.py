"""`opconform judge`."""

from pathlib import Path

import click

from opconform.commands.progress import progress
from opconform.commands.reporting import check_place, show_page
from opconform.commands.running import folder_name, show_report
from opconform.commands.signing import sign_option, signing_with
from opconform.suite import Suite, open_suite
from opconform_runners.recorded import Recorded, open_recorded
from opconform_runners.replaying import judge
from opconform_runners.report import report_of
from opconform_runners.results import PAGE


@click.command("judge")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option(
    "--suite", type=click.Path(path_type=Path), required=True, help="The same suite with its expected outputs."
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder; opconform-out/BACKEND by default.")
@click.option("--strict", is_flag=True, help="Count interpretations as much as normative requirements.")
@sign_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(outputs: Path, suite: Path, out: Path | None, strict: bool, signer: Path | None, as_json: bool) -> None:
    """Judge OUTPUTS, the file that `run --outputs` wrote elsewhere, as if the backend were here.

    Writes results.jsonl, report.json and report.html under --out, and certificate.json with --sign. Ends as `run` does.
    """
    signing = signing_with(signer)
    full = open_suite(suite)
    recorded = open_recorded(outputs)
    folder = out or Path("opconform-out") / folder_name(recorded.origin.implementation.name)
    check_place(folder / PAGE)
    with progress("judge", quiet=as_json) as tell:
        run = judge(full, recorded, folder, tell)
    report = report_of(full.header, run, whole=_is_whole(full, recorded), strict=strict)
    code = show_report(report, folder, as_json=as_json)
    show_page(folder, suite, quiet=as_json)
    signing(folder, suite, quiet=as_json)
    raise click.exceptions.Exit(code)


def _is_whole(suite: Suite, recorded: Recorded) -> bool:
    """Whether there are outputs of all cases of each profile of which there are any."""
    profiles = {each.profile for each in suite.entries if each.id in recorded.answers}
    held = {each.id for each in suite.entries if each.profile in profiles}
    return not suite.header.select and held == set(recorded.answers)
