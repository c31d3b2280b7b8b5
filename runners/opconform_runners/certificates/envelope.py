"""Signed DSSE envelopes in the one spelling that is accepted here.

DSSE allows unknown keys, several signatures and two alphabets of base64, which no signature covers. A certificate is
accepted only as it was written, so that any changed byte is found. Anything else is a CertificateError.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from opconform.errors import CertificateError, UsageError, quoted

try:
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import CryptoSigner, SSlibKey
except ImportError as fault:
    raise UsageError(
        'Certificates need the package securesystemslib: pip install "opconform[certificates]".'
    ) from fault

#: The type of a certificate's payload.
PAYLOAD_TYPE = "application/vnd.in-toto+json"
#: The most bytes of an envelope.
LIMIT = 1 << 24

_SIGNATURE_BYTES = 64
_KEYS = {"payload", "payloadType", "signatures"}
_SIGNATURE_KEYS = {"keyid", "sig"}


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
    return next(iter(envelope.signatures))


def envelope_of(content: bytes, where: str) -> Envelope:
    """The envelope in a file's bytes, which must be as they are written here; `where` is its name in errors."""
    if len(content) > LIMIT:
        raise CertificateError(f"{where} has {len(content):,} bytes. A certificate has at most {LIMIT:,}.")
    document = document_of(content, where)
    _check_keys(document, _KEYS, where)
    if document["payloadType"] != PAYLOAD_TYPE:
        raise CertificateError(f"{where} has a payload of type {quoted(document['payloadType'])}, not {PAYLOAD_TYPE}.")
    signatures = document["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        count = len(signatures) if isinstance(signatures, list) else "no list of"
        raise CertificateError(f"{where} has {count} signatures. A certificate has one.")
    [signature] = signatures
    _check_keys(signature, _SIGNATURE_KEYS, f"The signature of {where}")
    _check_base64(document["payload"], f"The payload of {where}")
    found = len(_check_base64(signature["sig"], f"The signature of {where}"))
    if found != _SIGNATURE_BYTES:
        raise CertificateError(f"{where} has a signature of {found} bytes. ed25519 has {_SIGNATURE_BYTES}.")
    if not isinstance(signature["keyid"], str):
        raise CertificateError(f"{where} has a key id that is not a string.")
    envelope = Envelope.from_dict(dict(document))
    if envelope_text(envelope).encode() != content:
        raise CertificateError(f"{where} was changed outside the signed payload: it is not as it was written.")
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


def document_of(content: bytes, where: str) -> Mapping[str, Any]:
    """A JSON object without repeated keys; `where` is the name of its file in errors."""

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for name, value in pairs:
            if name in document:
                raise CertificateError(f"{where} has the key {quoted(name)} twice.")
            document[name] = value
        return document

    def refuse(name: str) -> None:
        raise CertificateError(f"{where} holds {name}, which JSON does not allow.")

    try:
        document = json.loads(content.decode(), object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError) as fault:
        raise CertificateError(f"{where} is not JSON.") from fault
    if not isinstance(document, dict):
        raise CertificateError(f"{where} is not a JSON object.")
    return document


def _check_keys(document: object, keys: set[str], where: str) -> None:
    if not isinstance(document, dict) or set(document) != keys:
        odd = sorted(set(document) ^ keys) if isinstance(document, dict) else []
        named = f": {quoted(odd[0])} is missing or unknown" if odd else ""
        raise CertificateError(f"{where} must have exactly the keys {', '.join(sorted(keys))}{named}.")


def _check_base64(text: object, where: str) -> bytes:
    """The bytes of a text in strict base64."""
    try:
        content = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except ValueError:
        content = None
    if content is None or base64.b64encode(content).decode() != text:
        raise CertificateError(f"{where} is not strict base64.")
    return content
