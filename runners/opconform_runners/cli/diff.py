"""`opconform diff`."""

from pathlib import Path

import click

from opconform_runners.cli.shared.help import Command
from opconform_runners.cli.shared.options.general import SOURCE, json_option
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.reports.diff import changes_between, changes_lines
from opconform_runners.reports.report_file import read_report


@click.command("diff", cls=Command, example="diff before after")
@click.argument("old", type=SOURCE)
@click.argument("new", type=SOURCE)
@json_option("the changes")
def command(old: Path, new: Path, as_json: bool) -> None:
    """Show what changed from the run OLD to the run NEW.

    OLD and NEW are the folders that `run` or `certify` wrote, or their results.jsonl files.

    Exit code: 0 if nothing got worse, 1 if a case newly fails or no longer passes, if a process crashes or hangs that
    did not before, or if a run is incomplete.
    """
    changes = changes_between(read_report(old), read_report(new))
    print_result(changes, changes_lines(changes), as_json=as_json)
    raise click.exceptions.Exit(1 if changes["is_worse"] else 0)
