"""`opconform baseline`."""

from pathlib import Path

import click

from opconform.files import replace_named
from opconform_runners.cli.shared.options import PATH
from opconform_runners.reports.baseline_update import settled_results, update
from opconform_runners.reports.report_file import read_report
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.baseline import Baseline, read_baseline


@click.group("baseline")
def command() -> None:
    """Maintain a file of expected failures for `opconform run --baseline`."""


@command.command("update")
@click.argument("results", type=PATH)
@click.option("--baseline", "file", type=PATH, required=True, metavar="FILE", help="The baseline file.")
@click.option("--cases", is_flag=True, help="Write one line per case, and no patterns for whole groups.")
@click.option("--prune", is_flag=True, help="Also remove lines that match none of the cases.")
def _update(results: Path, file: Path, cases: bool, prune: bool) -> None:
    """Update FILE so that it lists exactly the failures in RESULTS.

    RESULTS is the folder that `run`, `certify` or `judge` wrote, or the file results.jsonl in it.

    Lines that still hold are unchanged, with the comments above them. Lines that no longer hold are removed.
    """
    before = read_baseline(file) if file.exists() else Baseline(file=str(file))
    written, changes = update(before, settled_results(read_report(results)), patterns=not cases, prune=prune)
    if not file.exists() or written.text.encode() != file.read_bytes():
        replace_named(file, written.text.encode())
    for name, why in (("added", ""), ("changed", ""), ("removed", ", since it no longer holds")):
        for each in changes[name]:
            click.echo(f"{name}{why}: {each.text}")
    if changes["unseen"]:
        click.echo(f"kept: {counted(len(changes['unseen']), 'line')} without a case in this run.")
    unexplained = sum(not each.is_explained for each in written.lines)
    note = f", {unexplained:,} of them to be explained" if unexplained else ""
    click.echo(f"{file}: {counted(len(written.lines), 'line')}{note}.")
