"""`opconform sign`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform_runners.cli.shared.options import PATH, PrivateKey, key_option
from opconform_runners.cli.shared.steps import sign_results


@click.command("sign")
@click.argument("results", type=PATH)
@key_option
@click.option("--suite", type=PATH, help="The suite that was run; RESULTS/suite by default.")
def command(results: Path, key: PrivateKey, suite: Path | None) -> None:
    """Sign the results in RESULTS, the folder that a complete `certify` or `judge` wrote.

    Writes certificate.json to that folder, as `certify --sign` and `judge --sign` do, whether or not the backend is
    conformant.
    """
    place = suite or results / "suite"
    if suite is None and not place.exists():
        raise UsageError(f"There is no suite at {place}. Name the one that was run with --suite.")
    sign_results(results, place, key, quiet=False)
