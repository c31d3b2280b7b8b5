"""`opconform sign`."""

from pathlib import Path

import click

from opconform.errors import UsageError
from opconform_runners.cli.shared.signature import signing_with


@click.command("sign")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--key", type=click.Path(path_type=Path), required=True, help="The private key, as of `opconform keygen`."
)
@click.option("--suite", type=click.Path(path_type=Path), help="The suite that was run; RESULTS/suite by default.")
def command(results: Path, key: Path, suite: Path | None) -> None:
    """Sign RESULTS, the folder that a whole `certify` or `judge` wrote: the same as their --sign, afterwards.

    Writes certificate.json beside them. A backend that is not conformant gets a certificate that says so.
    """
    signing = signing_with(key)
    place = suite or results / "suite"
    if suite is None and not place.exists():
        raise UsageError(f"There is no suite at {place}. Name the one that was run with --suite.")
    signing(results, place, quiet=False)
