"""`opconform sign`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform_runners.cli.shared.options import PATH
from opconform_runners.cli.shared.signature import signing_with


@click.command("sign")
@click.argument("results", type=PATH)
@click.option("--key", type=PATH, required=True, help="The private key. See `opconform keygen`.")
@click.option("--suite", type=PATH, help="The suite that was run; RESULTS/suite by default.")
def command(results: Path, key: Path, suite: Path | None) -> None:
    """Sign RESULTS, the folder that a complete `certify` or `judge` wrote, as their --sign would have done.

    Writes certificate.json to that folder. The certificate of a backend that is not conformant says so.
    """
    signing = signing_with(key)
    place = suite or results / "suite"
    if suite is None and not place.exists():
        raise UsageError(f"There is no suite at {place}. Name the one that was run with --suite.")
    signing(results, place, quiet=False)
