"""`opconform diff`."""

import json
from pathlib import Path

import click

from opconform_runners.cli.shared.options import PATH, json_option
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.reports.diff import changes_between, changes_document, changes_lines
from opconform_runners.reports.report_file import read_report


@click.command("diff")
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@json_option("the changes")
def command(old: Path, new: Path, as_json: bool) -> None:
    """Show what changed from the run OLD to the run NEW (each a folder, or a results.jsonl beside its report.json).

    Exit code: 0 if nothing got worse, 1 if a case newly fails or no longer passes, or if a run is incomplete.
    """
    changes = changes_between(read_report(old), read_report(new))
    if as_json:
        print_document(json.dumps(changes_document(changes), ensure_ascii=False))
    else:
        for line in changes_lines(changes):
            click.echo(line)
    raise click.exceptions.Exit(1 if changes.is_worse else 0)
