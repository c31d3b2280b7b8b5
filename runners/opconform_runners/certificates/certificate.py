"""Certificates: signs the results of a run, and checks a certificate against results, outputs and suite.

Every function raises CertificateError where a check fails, and SuiteError if a file is missing, cut short or changed.
"""

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opconform.errors import CertificateError
from opconform.files import replace_file
from opconform.suite.manifest import HEADER
from opconform.suite.reader import Suite
from opconform_runners.certificates.consistency import check_consistency
from opconform_runners.certificates.envelope import LIMIT, envelope_of, envelope_text, key_id, opened, sealed
from opconform_runners.certificates.evidence import evidence_of, file_digest, read_file
from opconform_runners.certificates.statement import (
    OUTPUTS,
    Resource,
    Statement,
    statement_bytes,
    statement_from,
    statement_of,
)
from opconform_runners.execution.outputs_archive import Recorded
from opconform_runners.execution.replay import judge
from opconform_runners.reports.report_file import read_report
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.results import CERTIFICATE, REPORT, RESULTS, read_results

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey


def sign(out: Path, suite: Suite, key: "CryptoSigner") -> Statement:
    """Write `certificate.json` beside the results of a complete run of whole profiles, conformant or not.

    Args:
        out: The folder of the results; a certificate in it that was signed with another key is not overwritten.
        suite: The suite that was run; its files must have been verified.
        key: The signer.
    """
    errors = sum(each.verdict == "error" for each in read_results(out / RESULTS))
    if errors:
        cases = counted(errors, "case")
        raise CertificateError(f"{cases} in {out / RESULTS} ended in an error of the harness: it cannot be signed.")
    if not read_report(out).whole:
        raise CertificateError(
            f"{out / REPORT} is of a run that may select cases: only a whole `certify` or `judge` can be signed."
        )
    report, digests = evidence_of(out, suite)
    if report.conformant is None:
        why = "; ".join(report.incomplete)
        raise CertificateError(f"The verdict of {out / RESULTS} is incomplete: {why}. It cannot be certified.")
    statement = statement_of(report, suite.header, digests, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    path = out / CERTIFICATE
    if path.exists() and _key_id_of(path) != key.public_key.keyid:
        raise CertificateError(f"{path} was not signed with this key, and is not overwritten. Move it first.")
    replace_file(path, envelope_text(sealed(statement_bytes(statement), key)).encode())
    return statement


def _key_id_of(path: Path) -> str:
    """The id of the key that a file was signed with; empty if it is not a certificate."""
    try:
        return key_id(envelope_of(read_file(path, LIMIT + 1), str(path)))
    except CertificateError:
        return ""


def read_certificate(path: Path, key: "SSlibKey") -> Statement:
    """The statement of a certificate, which has a valid signature and does not contradict itself."""
    envelope = envelope_of(read_file(path, LIMIT + 1), str(path))
    statement = statement_from(opened(envelope, key, str(path)), str(path))
    check_consistency(statement, str(path))
    return statement


def check_profiles(statement: Statement, wanted: Sequence[str]) -> None:
    """Check that a certificate covers all the wanted profiles."""
    covered = [each.name for each in statement.predicate.opconform.profiles]
    lacking = [each for each in wanted if each not in covered]
    if lacking:
        raise CertificateError(f"The certificate covers {', '.join(covered)}, but not {', '.join(lacking)}.")


def check_results(statement: Statement, out: Path) -> None:
    """Check that results are the certified ones."""
    claimed = _digests(statement.subject)
    for name in (RESULTS, REPORT):
        if file_digest(out / name) != claimed.get(name):
            raise CertificateError(f"{out / name} is not the file that was certified: its digest differs.")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in read_results(out / RESULTS):
        counts[each.profile][each.verdict] += 1
    if counts != {each.name: +Counter(each.counts) for each in statement.predicate.opconform.profiles}:
        raise CertificateError(f"The counts of the certificate are not those of the verdicts in {out / RESULTS}.")


def check_outputs(statement: Statement, path: Path) -> None:
    """Check that a file of outputs is the one that was judged."""
    if file_digest(path) != _digests(statement.subject).get(OUTPUTS):
        raise CertificateError(f"{path} is not the file of outputs that was judged for this certificate.")


def check_verdicts(out: Path, suite: Suite, recorded: Recorded) -> None:
    """Check that recorded outputs, judged again, give the results."""
    with tempfile.TemporaryDirectory(prefix="opconform-") as folder:
        again = Path(folder) / "again"
        judge(suite, recorded, again, strict=read_report(out).strict)
        if file_digest(again / RESULTS) != file_digest(out / RESULTS):
            raise CertificateError(f"{recorded.path}, judged again, does not give the verdicts in {out / RESULTS}.")


def check_suite(statement: Statement, suite: Suite) -> None:
    """Check that a suite is the certified one, with the certified number of cases per profile."""
    claimed, place = statement.predicate.opconform, suite.store.root
    if suite.header.digest != claimed.suite.digest:
        raise CertificateError(
            f"{place} is not the suite that was certified: its digest is {suite.header.digest[:16]}, "
            f"not {claimed.suite.digest[:16]}."
        )
    header = hashlib.sha256(suite.store.read(HEADER)).hexdigest()
    if _digests(statement.predicate.configuration).get(HEADER) != header:
        raise CertificateError(f"{place}/{HEADER} is not that of the suite that was certified.")
    cases = Counter(each.profile for each in suite.entries)
    for each in claimed.profiles:
        certified = sum(each.counts.values())
        if cases[each.name] != certified:
            raise CertificateError(
                f"The certificate counts {certified:,} cases of the profile {each.name}, "
                f"but {place} has {cases[each.name]:,}."
            )


def check_claims(statement: Statement, out: Path, suite: Suite) -> None:
    """Check that a certificate follows from results and suite, with everything computed again."""
    report, digests = evidence_of(out, suite)
    true = statement_of(report, suite.header, digests, statement.predicate.opconform.timestamp)
    if true != statement:
        differing = ", ".join(_differing(true, statement))
        raise CertificateError(f"The certificate does not follow from {out / RESULTS} and the suite: {differing}.")


def _digests(files: Sequence[Resource]) -> dict[str, str]:
    return {each.name: each.digest["sha256"] for each in files}


def _differing(true: Statement, claimed: Statement) -> list[str]:
    """The keys in which two statements differ."""
    pairs: list[tuple[Any, Any]] = [(true, claimed), (true.predicate, claimed.predicate)]
    pairs.append((true.predicate.opconform, claimed.predicate.opconform))
    return [
        each.name
        for one, other in pairs
        for each in fields(one)
        if each.name not in ("predicate", "opconform") and getattr(one, each.name) != getattr(other, each.name)
    ]
