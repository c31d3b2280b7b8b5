"""`opconform baseline`."""

from collections.abc import Sequence
from pathlib import Path

import click

from opconform_runners.reports.baseline_update import Update, settled_results, update
from opconform_runners.reports.reader import read_report
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.baseline import Baseline, Line, read_baseline, renumbered, write_baseline


@click.group("baseline")
def command() -> None:
    """Keep the failures that are expected in a file, for `opconform run --baseline`."""


@command.command("update")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--baseline", "file", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The baseline."
)
@click.option("--cases", is_flag=True, help="Write a line a case, and no pattern for a whole group.")
@click.option("--prune", is_flag=True, help="Retire lines that are about none of the cases, too.")
def _update(results: Path, file: Path, cases: bool, prune: bool) -> None:
    """Make FILE expect exactly what fails in RESULTS (a run's folder, or its results.jsonl beside its report.json).

    Lines that hold stay as they are. What a person wrote at a line that holds no more stays as a comment.
    """
    before = read_baseline(file) if file.exists() else Baseline(file=str(file))
    changes = update(before, settled_results(read_report(results)), patterns=not cases, prune=prune)
    written = renumbered(changes.baseline)
    if not file.exists() or written.text.encode() != file.read_bytes():
        write_baseline(file, written)
    _tell(changes, written, file)


def _tell(changes: Update, written: Baseline, file: Path) -> None:
    for title, lines in (
        ("added", changes.added),
        ("changed", changes.changed),
        ("retired, since it no longer holds", changes.retired),
        ("removed, since it no longer holds", changes.removed),
    ):
        _list(title, lines)
    if changes.unseen:
        kept = len(changes.unseen)
        click.echo(f"kept: {counted(kept, 'line')} that {'is' if kept == 1 else 'are'} about none of these cases.")
    unexplained = sum(not each.is_explained for each in written.lines)
    note = f", {unexplained:,} of them to be explained" if unexplained else ""
    click.echo(f"{file}: {counted(len(written.lines), 'line')}{note}.")


def _list(title: str, lines: Sequence[Line]) -> None:
    for each in lines:
        click.echo(f"{title}: {each.text}")
