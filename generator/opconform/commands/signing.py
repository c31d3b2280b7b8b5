"""What `certify`, `judge` and `sign` share: results signed with a key that is read before anything is run."""

from pathlib import Path
from typing import Protocol

import click

from opconform.errors import CertificateError
from opconform.suite import open_suite
from opconform.verifying import faults_of

sign_option = click.option(
    "--sign",
    "signer",
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="Write certificate.json too, signed with this private key; see `opconform keygen`.",
)


class Signing(Protocol):
    """What signs the results in a folder."""

    def __call__(self, out: Path, suite: Path, *, quiet: bool) -> None:
        """Write `certificate.json` beside results, and say so.

        Args:
            out: The folder of the results.
            suite: The suite that was run.
            quiet: Say it on standard error.
        """


def signing_with(path: Path | None) -> Signing:
    """What signs with the key in a file; without one, nothing is signed.

    Raises:
        UsageError: The file holds no key to sign with.
    """
    if path is None:
        return _unsigned
    from opconform_runners.certificate import sign
    from opconform_runners.keys import read_private

    key = read_private(path)

    def signing(out: Path, suite: Path, *, quiet: bool) -> None:
        check_suite_files(suite)
        statement = sign(out, open_suite(suite), key)
        what = f"{statement.predicate.result}, signed with the key {key.public.id}"
        click.echo(f"Certificate: {out}/certificate.json, {what}", err=quiet)

    return signing


def check_suite_files(suite: Path) -> None:
    """Check that every file of a suite is the one that was generated, and that there is no other.

    Raises:
        CertificateError: One is not.
    """
    faults = list(faults_of(suite))
    if faults:
        more = f" There are {len(faults) - 1:,} faults more." if len(faults) > 1 else ""
        raise CertificateError(f"The suite {suite} does not verify: {faults[0]}{more}")


def _unsigned(out: Path, suite: Path, *, quiet: bool) -> None:
    """Nothing is signed without a key."""
