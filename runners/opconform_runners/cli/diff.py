"""`opconform diff`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.suite.path_kind import kinds_of
from opconform.suite.reader import open_suite
from opconform.suite.storage.ownership import replace_ours
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, TARGET, json_option
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.reports.diff import changes_between, changes_lines
from opconform_runners.reports.report_file import finished, read_report
from opconform_runners.reports.suite_diff import suite_changes, suite_changes_lines
from opconform_runners.verdicts.page import PAGE_BEGINNING


@click.command("diff", cls=HelpCommand, example="diff before after\ndiff opconform-suite-2.0.0.zip opconform-suite")
@click.argument("old", type=SOURCE)
@click.argument("new", type=SOURCE)
@click.option("--html", type=TARGET, metavar="FILE", help="Write the HTML report of NEW, with what is new and fixed.")
@json_option("the changes")
def command(old: Path, new: Path, html: Path | None, as_json: bool) -> None:
    """Show what changed from the run OLD to the run NEW, or from one suite to another.

    OLD and NEW are the folders that `run` or `certify` wrote, or their results.jsonl files; or two suites, of which the
    cases that came, went and changed are listed.

    Exit code: 0 if nothing got worse, 1 if a case newly fails or no longer passes, if a process newly crashes or
    hangs, or if a run is incomplete. Of suites: 1 if the versions promise less change than there is.
    """
    if "suite" in kinds_of(old):
        if html is not None:
            raise UsageError("--html is a report of runs. Leave it out to compare suites.")
        changes = suite_changes(open_suite(old), open_suite(new))
        lines = suite_changes_lines(changes)
    else:
        changes = changes_between(read_report(old), read_report(new))
        lines = changes_lines(changes)
        if html is not None:
            from opconform_runners.cli.shared.steps import page_of_runs  # it takes long to import

            page = page_of_runs([finished(new)], None, [finished(old)], quiet=as_json)
            replace_ours(html, page.encode(), PAGE_BEGINNING)
            click.echo(f"HTML report: {html}", err=as_json)
    print_result(changes, lines, as_json=as_json)
    raise click.exceptions.Exit(1 if changes["is_worse"] else 0)
