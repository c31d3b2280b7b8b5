"""Certificates: signs the results of a run, and reads a signed certificate.

Every function raises CertificateError where a check fails, and SuiteError if a file is missing, cut short or changed.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import CertificateError
from opconform.files import replace_file
from opconform.suite.reader import Suite
from opconform_runners.certificates.consistency import check_consistency
from opconform_runners.certificates.envelope import LIMIT, envelope_of, envelope_text, key_id, opened, sealed
from opconform_runners.certificates.evidence import evidence_of, read_file
from opconform_runners.certificates.statement import Statement, statement_bytes, statement_from, statement_of
from opconform_runners.reports.report_file import read_report
from opconform_runners.reports.text import counted
from opconform_runners.verdicts.results import CERTIFICATE, REPORT, RESULTS, read_results

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey


def sign(out: Path, suite: Suite, key: "CryptoSigner") -> Statement:
    """Write `certificate.json` beside the results of a complete run of whole profiles, conformant or not.

    A certificate in the folder that was signed with another key is not overwritten. The suite must have been verified.
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
