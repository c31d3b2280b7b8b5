"""`opconform baseline`."""

from pathlib import Path

import click

from opconform_runners.cli.shared.options import PATH
from opconform_runners.reports.baseline_update import Update, settled_results, update
from opconform_runners.reports.reader import read_report
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.baseline import Baseline, read_baseline, renumbered, write_baseline


@click.group("baseline")
def command() -> None:
    """Maintain a file of expected failures for `opconform run --baseline`."""


@command.command("update")
@click.argument("results", type=PATH)
@click.option("--baseline", "file", type=PATH, required=True, metavar="FILE", help="The baseline file.")
@click.option("--cases", is_flag=True, help="Write one line per case, and no patterns for whole groups.")
@click.option("--prune", is_flag=True, help="Also retire lines that match none of the cases.")
def _update(results: Path, file: Path, cases: bool, prune: bool) -> None:
    """Make FILE expect exactly what fails in RESULTS (a run's folder, or its results.jsonl beside its report.json).

    Lines that still hold are unchanged. A comment on a line that no longer holds is kept.
    """
    before = read_baseline(file) if file.exists() else Baseline(file=str(file))
    changes = update(before, settled_results(read_report(results)), patterns=not cases, prune=prune)
    written = renumbered(changes.baseline)
    if not file.exists() or written.text.encode() != file.read_bytes():
        write_baseline(file, written)
    _print(changes, written, file)


def _print(changes: Update, written: Baseline, file: Path) -> None:
    for title, lines in (
        ("added", changes.added),
        ("changed", changes.changed),
        ("retired, since it no longer holds", changes.retired),
        ("removed, since it no longer holds", changes.removed),
    ):
        for each in lines:
            click.echo(f"{title}: {each.text}")
    if changes.unseen:
        kept = len(changes.unseen)
        click.echo(f"kept: {counted(kept, 'line')} that {'is' if kept == 1 else 'are'} about none of these cases.")
    unexplained = sum(not each.is_explained for each in written.lines)
    note = f", {unexplained:,} of them to be explained" if unexplained else ""
    click.echo(f"{file}: {counted(len(written.lines), 'line')}{note}.")
