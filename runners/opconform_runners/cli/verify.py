"""`opconform verify`."""

import json
from pathlib import Path

import click

from opconform.suite.reader import open_suite
from opconform.suite.verification import faults_of
from opconform_runners.cli.shared.options import PATH, json_option
from opconform_runners.cli.shared.terminal import print_document


@click.command("verify")
@click.argument("suite", type=PATH)
@json_option("the faults")
def command(suite: Path, as_json: bool) -> None:
    """Find every missing, changed or foreign file of SUITE (a folder or a zip file).

    Exit code: 0 if the suite is intact, 1 otherwise.
    """
    faults = list(faults_of(suite))
    if as_json:
        print_document(json.dumps({"suite": str(suite), "whole": not faults, "faults": faults}))
    else:
        for each in faults:
            click.echo(each)
        count = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        click.echo(f"{count}: {suite} differs from the suite that was generated." if faults else _whole(suite))
    raise click.exceptions.Exit(1 if faults else 0)


def _whole(path: Path) -> str:
    suite = open_suite(path)
    return f"{path} is whole: {len(suite.entries):,} cases, suite digest {suite.header.digest}"
