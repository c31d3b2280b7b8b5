"""Results signed with a key, which is read before anything is run."""

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


class Signing(Protocol):
    """Signs the results in a folder."""

    def __call__(self, out: Path, suite: Path, *, quiet: bool) -> None:
        """Write `certificate.json` to the folder of the results, and print its place.

        Args:
            out: The folder of the results.
            suite: The suite that was run.
            quiet: Whether to print to standard error.
        """


def signing_with(path: Path | None) -> Signing:
    """A function that signs with the private key in a file, or does nothing if there is no file.

    Raises:
        UsageError: The file holds no private key.
    """
    if path is None:
        return lambda *_, **__: None
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
    """Check that a suite has exactly the files that were generated.

    Raises:
        CertificateError: A file is missing, changed or foreign.
    """
    faults = list(faults_of(suite))
    if faults:
        more = f" There are {len(faults) - 1:,} more faults." if len(faults) > 1 else ""
        raise CertificateError(f"The suite {suite} does not verify: {faults[0]}{more}")


def check_origin(suite: Suite) -> None:
    """Check that a suite has the shipped requirements and, if its specs are the shipped ones, their goldens.

    The check is made against this version of opconform, whichever version the suite names.

    Raises:
        CertificateError: The requirements differ; the suite digest does not cover them.
        SuiteError: The cases or goldens differ from those of the shipped specs.
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
    """A sentence on whether spec files, by name and SHA-256, are the shipped ones, and which differ or are left out."""
    foreign = foreign_specs(specs)
    if foreign:
        return f"NOT THE SHIPPED SPECS: {', '.join(foreign)} (custom, or of another version of opconform)"
    left_out = sorted(set(shipped_files()) - set(specs))
    return f"the shipped specs but for {', '.join(left_out)}" if left_out else "the shipped specs"
