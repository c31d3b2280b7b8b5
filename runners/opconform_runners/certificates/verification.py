"""The verification of a certificate against results, suite and outputs, and of a suite against the shipped specs."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import opconform
from opconform.errors import CertificateError, UsageError, counted
from opconform.generation.identity.provenance import check_goldens, check_provenance, foreign_specs
from opconform.operations import OPERATIONS
from opconform.specs.requirements import requirements_of
from opconform.suite.file_names import HEADER
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import problems_of
from opconform.system.temporary import TemporaryFolder
from opconform_runners.certificates.certificate import read_certificate
from opconform_runners.certificates.certified_results import evidence_of, file_digest
from opconform_runners.certificates.keys import read_public
from opconform_runners.certificates.statement import OUTPUTS, Resource, Statement, statement_of
from opconform_runners.execution.log.record import Record, open_record
from opconform_runners.execution.log.replay import judge
from opconform_runners.execution.plan import RunOptions
from opconform_runners.verdicts.results import CERTIFICATE, OUTCOMES, RESULTS, read_written


def verified(
    certificate: Path,
    key: Path,
    *,
    results: Path | None = None,
    suite: Path | None = None,
    outputs: Path | None = None,
    profiles: Sequence[str] = (),
) -> tuple[Statement, list[str], list[str]]:
    """Check the signature of a certificate, and its claims as far as the evidence for them is given.

    `key` is the file of the signer's public key, and the certificate must cover the profiles.

    Returns:
        The statement, what was checked, and what was not.
    """
    public = read_public(key)
    if certificate.is_dir():
        certificate /= CERTIFICATE
    if not certificate.is_file():
        raise UsageError(f"Certificate not found: {certificate}. `opconform certificate sign` writes one.")
    check_kind(certificate, "certificate")
    statement = read_certificate(certificate, public)
    checked = [f"the signature, made with the key {public.keyid}"]
    check_profiles(statement, profiles)
    if results is not None:
        check_results(statement, results)
        checked.append(f"the digests of {results}")
    if outputs is not None:
        if file_digest(outputs) != _digests(statement.subject).get(OUTPUTS):
            raise CertificateError(f"{outputs} is not the file of outputs that was judged for this certificate.")
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
            checked.append("every verdict and conclusion, derived again from the log")
            if outputs is not None:
                check_verdicts(results, opened, open_record(outputs))
                checked.append("every verdict, judged again from the outputs")
    return statement, checked, unchecked


def _unchecked(statement: Statement, results: Path | None, suite: Path | None, outputs: Path | None) -> Iterator[str]:
    if results is None:
        yield "the results, which need --results"
    if suite is None:
        yield "the suite, which needs --suite"
    if results is None or suite is None:
        yield "the conclusions, which need both"
    if not statement.predicate.opconform.judged:
        yield "the verdicts, which need another run of the backend"
    elif outputs is None or results is None or suite is None:
        yield "the verdicts, which need --record as well"


def intact_suite(path: Path) -> Suite:
    """A suite that has exactly the files that were generated; raises CertificateError for any other."""
    problems = list(problems_of(path))
    if problems:
        more = f" {counted(len(problems) - 1, 'more problem')}." if len(problems) > 1 else ""
        raise CertificateError(f"The suite {path} does not verify: {problems[0]}{more}")
    return open_suite(path)


def check_origin(suite: Suite) -> None:
    """Check that a suite has the shipped requirements, and goldens that the reference semantics give.

    The check is made against this version of opconform, whichever version the suite names. The suite digest does not
    cover the requirements.
    """
    for op in OPERATIONS.keys() & suite.header.requirements.keys():
        notes = {
            name: (requirement.level, requirement.text) for name, requirement in suite.header.requirements[op].items()
        }
        if notes != {
            requirement.id: (requirement.level, requirement.text) for requirement in requirements_of(op).requirements
        }:
            what = f"The requirements of {op} in {suite.store.root}"
            raise CertificateError(
                f"{what} are not those of opconform {opconform.__version__}. Generate the suite again."
            )
    if foreign_specs(suite.header.specs):
        check_goldens(suite)
    else:
        check_provenance(suite)


def check_profiles(statement: Statement, wanted: Sequence[str]) -> None:
    """Check that a certificate covers all the wanted profiles."""
    covered = statement.predicate.opconform.profiles
    lacking = [name for name in wanted if name not in covered]
    if lacking:
        raise CertificateError(f"The certificate covers {', '.join(covered)}, but not {', '.join(lacking)}.")


def check_results(statement: Statement, out: Path) -> None:
    """Check that results are the certified ones."""
    claimed = _digests(statement.subject)
    for name in (RESULTS, OUTCOMES):
        if file_digest(out / name) != claimed.get(name):
            raise CertificateError(f"{out / name} is not the file that was certified: its digest differs.")


def check_verdicts(out: Path, suite: Suite, recorded: Record) -> None:
    """Check that recorded outputs, judged again, give the results."""
    with TemporaryFolder() as folder:
        again = Path(folder) / "again"
        header = read_written(out / RESULTS).header
        judge(suite, recorded, again, options=RunOptions(strict=header.strict, least_accuracy=header.least_accuracy))
        if file_digest(again / RESULTS) != file_digest(out / RESULTS):
            raise CertificateError(f"{recorded.path}, judged again, does not produce the verdicts in {out / RESULTS}.")


def check_suite(statement: Statement, suite: Suite) -> None:
    """Check that a suite is the certified one, with the certified number of cases."""
    claimed, place = statement.predicate.opconform, suite.store.root
    if suite.header.digest != claimed.suite.digest:
        raise CertificateError(
            f"{place} is not the suite that was certified: its digest is {suite.header.digest[:16]}, "
            f"not {claimed.suite.digest[:16]}."
        )
    header = hashlib.sha256(suite.store.read(HEADER)).hexdigest()
    if _digests(statement.predicate.configuration).get(HEADER) != header:
        raise CertificateError(f"{place}/{HEADER} is not that of the suite that was certified.")
    cases = sum(entry.profile in claimed.profiles for entry in suite.entries)
    if cases != claimed.cases:
        raise CertificateError(
            f"The certificate counts {claimed.cases:,} cases of its profiles, but {place} has {cases:,}."
        )


def check_claims(statement: Statement, out: Path, suite: Suite) -> None:
    """Check that a certificate follows from results and suite, with everything computed again."""
    report, digests = evidence_of(out, suite)
    predicate = statement.predicate.opconform
    true = statement_of(report, suite.header, digests, predicate.timestamp, witnessed=predicate.witnessed)
    if true != statement:
        pairs: list[tuple[Any, Any]] = [(true, statement), (true.predicate, statement.predicate)]
        pairs.append((true.predicate.opconform, statement.predicate.opconform))
        every = ((field.name, true_part, part) for true_part, part in pairs for field in fields(true_part))
        differing = [name for name, true_part, part in every if getattr(true_part, name) != getattr(part, name)]
        named = ", ".join(x for x in differing if x not in ("predicate", "opconform"))
        raise CertificateError(f"The certificate does not match {out / RESULTS} and the suite: {named}.")


def _digests(files: Sequence[Resource]) -> dict[str, str]:
    return {file.name: file.digest["sha256"] for file in files}
