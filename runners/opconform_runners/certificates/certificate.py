"""Certificates: statements in signed DSSE envelopes, written beside the results of a run, and read.

DSSE allows unknown keys, several signatures and two alphabets of base64, which no signature covers. Comparing the whole
file with its own spelling finds any changed byte.

Every function raises CertificateError where a check fails, and SuiteError if a file is missing, cut short or changed.
"""

import contextlib
import json
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from opconform.errors import CertificateError, UsageError, counted, quoted
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import check_no_link
from opconform.system.files import json_of, replace_file
from opconform_runners.certificates.certified_results import evidence_of, read_file
from opconform_runners.certificates.statement import Statement, statement_bytes, statement_from, statement_of
from opconform_runners.verdicts.results import CERTIFICATE, RESULTS

try:
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import Error, VerificationError
    from securesystemslib.signer import CryptoSigner, SSlibKey
except ImportError as error:
    raise UsageError(
        'Certificates need the package securesystemslib: pip install "opconform[certificates]".'
    ) from error

#: The type of a certificate's payload.
PAYLOAD_TYPE = "application/vnd.in-toto+json"
#: The most bytes of an envelope.
_LIMIT = 1 << 24


def sign(out: Path, suite: Suite, key: CryptoSigner, *, witnessed: bool = False) -> Statement:
    """Write `certificate.json` beside the results of a complete run of whole profiles, conformant or not.

    `witnessed` says that this process gave all the verdicts. A certificate in the folder that was signed with another
    key is not overwritten. The suite must have been verified.
    """
    report, digests = evidence_of(out, suite)
    if errors := report.summary["error"]:
        cases = counted(errors, "case")
        raise CertificateError(f"{cases} in {out / RESULTS} ended in a harness error: the results cannot be signed.")
    if report.conformant is None:
        why = "; ".join(report.incomplete)
        raise CertificateError(f"The verdict of {out / RESULTS} is incomplete: {why}. It cannot be certified.")
    timestamp = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    statement = statement_of(report, suite.header, digests, timestamp, witnessed=witnessed)
    path = out / CERTIFICATE
    check_no_link(path)
    signers: Collection[str] = ()
    with contextlib.suppress(CertificateError):  # another file
        signers = envelope_of(path).signatures if path.exists() else [key.public_key.keyid]
    if key.public_key.keyid not in signers:
        raise CertificateError(f"{path} was not signed with this key, and is not overwritten. Move it first.")
    replace_file(path, signed(statement_bytes(statement), key))
    return statement


def read_certificate(path: Path, key: SSlibKey) -> Statement:
    """The statement of a certificate, which has a valid signature and does not contradict itself."""
    return statement_from(_opened(path, key), str(path))


def signed(payload: bytes, signer: CryptoSigner) -> bytes:
    """A payload as it is written: in an envelope, signed."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return _spelling(envelope)


def _spelling(envelope: Envelope) -> bytes:
    return f"{json.dumps(envelope.to_dict(), indent=1)}\n".encode()


def envelope_of(path: Path) -> Envelope:
    """The envelope in a file."""
    content = read_file(path, _LIMIT + 1)
    if len(content) > _LIMIT:
        raise CertificateError(f"{path} has {len(content):,} bytes. A certificate has at most {_LIMIT:,}.")
    try:
        envelope = Envelope.from_dict(json_of(content))
        written = _spelling(envelope)
    except (AttributeError, Error, KeyError, RecursionError, TypeError, ValueError) as error:
        raise CertificateError(f"{path} is not a certificate: it is not a DSSE envelope.") from error
    if written != content:
        why = "it is not in the form that opconform writes"
        raise CertificateError(f"{path} was changed outside the signed payload: {why}.")
    if envelope.payload_type != PAYLOAD_TYPE:
        raise CertificateError(f"{path} has a payload of type {quoted(envelope.payload_type)}, not {PAYLOAD_TYPE}.")
    if len(envelope.signatures) != 1:
        raise CertificateError(f"{path} has {len(envelope.signatures)} signatures. A certificate has one.")
    return envelope


def _opened(path: Path, key: SSlibKey) -> bytes:
    """The payload of a file that was signed with a key and not changed since."""
    envelope = envelope_of(path)
    if (signer := str(next(iter(envelope.signatures)))) != key.keyid:
        raise CertificateError(f"{path} was signed with the key {quoted(signer)}, not with {key.keyid}.")
    try:
        envelope.verify([key], threshold=1)
    except VerificationError as error:
        raise CertificateError(f"{path} was changed after it was signed: its signature is not valid.") from error
    payload: bytes = envelope.payload
    return payload
