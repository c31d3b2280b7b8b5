"""What `certify`, `judge` and `sign` share: results signed with a key that is read before anything is run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import click

import opconform
from opconform.errors import CertificateError
from opconform.generation.provenance import check_provenance, foreign_specs
from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_files
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import faults_of

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
    from opconform_runners.certificates.certificate import sign
    from opconform_runners.certificates.keys import read_private

    key = read_private(path)

    def signing(out: Path, suite: Path, *, quiet: bool) -> None:
        check_suite_files(suite)
        opened = open_suite(suite)
        check_origin(opened)
        statement = sign(out, opened, key)
        what = f"{statement.predicate.result}, signed with the key {key.public_key.keyid}"
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


def check_origin(suite: Suite) -> None:
    """Check that a suite has the shipped requirements and, where its specs are the shipped ones, their goldens.

    Whichever version of opconform the suite names: what that version would have written is not known here.

    Raises:
        CertificateError: The requirements are others; the suite digest does not cover them.
        SuiteError: The cases or goldens are not what the shipped specs give.
        UsageError: A dialect of the suite cannot be rendered here.
    """
    _check_requirements(suite)
    if not foreign_specs(suite.header.specs):
        check_provenance(suite)


def _check_requirements(suite: Suite) -> None:
    for op in OPERATIONS.keys() & suite.header.requirements.keys():
        notes = suite.header.requirements[op]
        shipped = {each.id: (each.level, each.text) for each in requirements_of(op).requirements}
        if {name: (each.level, each.text) for name, each in notes.items()} != shipped:
            what = f"The requirements of {op} in {suite.store.root}"
            raise CertificateError(f"{what} are not those of opconform {opconform.__version__}.")


def specs_sentence(specs: Mapping[str, str]) -> str:
    """Whether spec files, by name and SHA-256, are those that opconform ships: all of an operation's, or which not."""
    foreign = foreign_specs(specs)
    if foreign:
        return f"NOT THE SHIPPED SPECS: {', '.join(foreign)} of somebody's own, or of another version of opconform"
    left_out = sorted(set(shipped_files()) - set(specs))
    return f"the shipped specs but for {', '.join(left_out)}" if left_out else "the shipped specs"


def _unsigned(out: Path, suite: Path, *, quiet: bool) -> None:
    """Nothing is signed without a key."""
