"""Signed DSSE envelopes, accepted only as they are written here.

DSSE allows unknown keys, several signatures and two alphabets of base64, which no signature covers. Comparing the whole
file with its own spelling finds any changed byte. A file that differs is a CertificateError.
"""

import json

from opconform.errors import CertificateError, UsageError, quoted

try:
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import Error, VerificationError
    from securesystemslib.signer import CryptoSigner, SSlibKey
except ImportError as fault:
    raise UsageError(
        'Certificates need the package securesystemslib: pip install "opconform[certificates]".'
    ) from fault

#: The type of a certificate's payload.
PAYLOAD_TYPE = "application/vnd.in-toto+json"
#: The most bytes of an envelope.
LIMIT = 1 << 24


def sealed(payload: bytes, signer: CryptoSigner) -> Envelope:
    """A payload in an envelope, signed."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return envelope


def envelope_text(envelope: Envelope) -> str:
    """An envelope as it is written."""
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def key_id(envelope: Envelope) -> str:
    """The id of the key that an envelope claims to be signed with."""
    return str(next(iter(envelope.signatures)))


def envelope_of(content: bytes, where: str) -> Envelope:
    """The envelope in a file's bytes; `where` is its name in errors."""
    if len(content) > LIMIT:
        raise CertificateError(f"{where} has {len(content):,} bytes. A certificate has at most {LIMIT:,}.")
    try:
        envelope = Envelope.from_dict(json.loads(content))
        written = envelope_text(envelope).encode()
    except (AttributeError, Error, KeyError, RecursionError, TypeError, ValueError) as fault:
        raise CertificateError(f"{where} is not a DSSE envelope.") from fault
    if written != content:
        why = "it is not in the form that opconform writes"
        raise CertificateError(f"{where} was changed outside the signed payload: {why}.")
    if envelope.payload_type != PAYLOAD_TYPE:
        raise CertificateError(f"{where} has a payload of type {quoted(envelope.payload_type)}, not {PAYLOAD_TYPE}.")
    if len(envelope.signatures) != 1:
        raise CertificateError(f"{where} has {len(envelope.signatures)} signatures. A certificate has one.")
    return envelope


def opened(envelope: Envelope, key: SSlibKey, where: str) -> bytes:
    """The payload of an envelope that was signed with a key and not changed since."""
    if key_id(envelope) != key.keyid:
        raise CertificateError(f"{where} was signed with the key {quoted(key_id(envelope))}, not with {key.keyid}.")
    try:
        envelope.verify([key], threshold=1)
    except VerificationError as fault:
        raise CertificateError(f"{where} was changed after it was signed: its signature is not valid.") from fault
    payload: bytes = envelope.payload
    return payload
