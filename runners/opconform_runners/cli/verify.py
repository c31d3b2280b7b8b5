"""`opconform verify`."""

from pathlib import Path

import click

from opconform.errors import counted
from opconform.suite.reader import open_suite
from opconform.suite.verification import problems_of
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, json_option
from opconform_runners.cli.shared.output.printer import print_result


@click.command("verify", cls=HelpCommand, example="verify suite")
@click.argument("suite", type=SOURCE)
@json_option("the problems")
def command(suite: Path, as_json: bool) -> None:
    """Find every missing, changed or unexpected file of SUITE (a folder, a zip file or a URL).

    Exit code: 0 if the suite is intact, 1 otherwise.
    """
    problems = list(problems_of(suite))
    if problems:
        last = f"{counted(len(problems), 'problem')}: {suite} differs from the suite that was generated."
    else:
        opened = open_suite(suite)
        last = f"{suite} is intact: {counted(len(opened.entries), 'case')}, suite digest {opened.header.digest}"
    print_result({"suite": str(suite), "whole": not problems, "problems": problems}, [*problems, last], as_json=as_json)
    raise click.exceptions.Exit(1 if problems else 0)
