"""The verification of a certificate against results, suite and outputs, and of a suite against the shipped specs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import opconform
from opconform.errors import CertificateError, UsageError
from opconform.generation.provenance import check_goldens, check_provenance, foreign_specs
from opconform.operations import OPERATIONS
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import faults_of
from opconform_runners.certificates.certificate import (
    check_claims,
    check_outputs,
    check_profiles,
    check_results,
    check_suite,
    check_verdicts,
    read_certificate,
)
from opconform_runners.certificates.keys import read_public
from opconform_runners.certificates.statement import Statement
from opconform_runners.execution.outputs_archive import open_recorded


class Verified(NamedTuple):
    """The statement of a certificate, what was checked, and what was not."""

    statement: Statement
    checked: list[str]
    unchecked: list[str]


def verified(
    certificate: Path,
    key: Path,
    *,
    results: Path | None = None,
    suite: Path | None = None,
    outputs: Path | None = None,
    profiles: Sequence[str] = (),
) -> Verified:
    """Check the signature of a certificate, and its claims as far as the evidence for them is given.

    Args:
        certificate: The `certificate.json`.
        key: The file of the signer's public key.
        results: The folder of the certified results.
        suite: The suite that was run.
        outputs: The outputs that were judged.
        profiles: The profiles that the certificate must cover.

    Raises:
        CertificateError: The signature or a claim is wrong.
        SuiteError: A file is missing, cut short or changed.
        UsageError: There is no certificate or no key.
    """
    public = read_public(key)
    if not certificate.is_file():
        raise UsageError(f"There is no certificate at {certificate}. Name the certificate.json that `--sign` wrote.")
    statement = read_certificate(certificate, public)
    checked = [f"the signature, made with the key {public.keyid}"]
    check_profiles(statement, profiles)
    if results is not None:
        check_results(statement, results)
        checked.append(f"the digests and counts of {results}")
    if outputs is not None:
        check_outputs(statement, outputs)
        checked.append(f"the digest of {outputs}")
    unchecked = [*_unchecked(statement, results, suite, outputs)]
    if suite is not None:
        opened = intact_suite(suite)
        check_suite(statement, opened)
        check_origin(opened)
        checked.append(f"the suite {suite}")
        if foreign_specs(opened.header.specs):
            checked.append("every golden, evaluated again from the suite's inputs")
            unchecked.append("the suite's specs and IR, since opconform does not ship its specs")
        else:
            checked.append("every golden, evaluated again from the shipped specs")
        if results is not None:
            check_claims(statement, results, opened)
            checked.append("every count and conclusion, derived again from the verdicts")
            if outputs is not None:
                check_verdicts(results, opened, open_recorded(outputs))
                checked.append("every verdict, judged again from the outputs")
    return Verified(statement, checked, unchecked)


def _unchecked(statement: Statement, results: Path | None, suite: Path | None, outputs: Path | None) -> Iterator[str]:
    """What is not checked, and what the check needs."""
    if results is None:
        yield "the results, which need --results"
    if suite is None:
        yield "the suite, which needs --suite"
    if results is None or suite is None:
        yield "the counts and conclusions, which need both"
    if not statement.predicate.opconform.judged:
        yield "the verdicts, which need another run of the backend"
    elif outputs is None or results is None or suite is None:
        yield "the verdicts, which need --outputs as well"


def intact_suite(path: Path) -> Suite:
    """A suite that has exactly the files that were generated.

    Raises:
        CertificateError: A file is missing, changed or foreign.
    """
    faults = list(faults_of(path))
    if faults:
        more = f" There are {len(faults) - 1:,} more faults." if len(faults) > 1 else ""
        raise CertificateError(f"The suite {path} does not verify: {faults[0]}{more}")
    return open_suite(path)


def check_origin(suite: Suite) -> None:
    """Check that a suite has the shipped requirements, and goldens that the reference semantics give.

    The check is made against this version of opconform, whichever version the suite names.

    Raises:
        CertificateError: The requirements differ; the suite digest does not cover them.
        SuiteError: A golden differs, or a case of the shipped specs.
        UsageError: A dialect of the suite cannot be rendered here.
    """
    for op in OPERATIONS.keys() & suite.header.requirements.keys():
        notes = {name: (each.level, each.text) for name, each in suite.header.requirements[op].items()}
        if notes != {each.id: (each.level, each.text) for each in requirements_of(op).requirements}:
            what = f"The requirements of {op} in {suite.store.root}"
            raise CertificateError(
                f"{what} are not those of opconform {opconform.__version__}. Generate the suite again."
            )
    if foreign_specs(suite.header.specs):
        check_goldens(suite)
    else:
        check_provenance(suite)
