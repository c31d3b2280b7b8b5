"""Envelopes: a payload and its signature, as DSSE (version 1.0.2) has them, in the one spelling that is accepted here.

DSSE lets a reader be generous: unknown keys, several signatures, either alphabet of base64. All of these are bytes that
nobody signs. A certificate is accepted only as it was written, so that a byte that is changed anywhere is found.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform.errors import CertificateError, quoted
from opconform_runners.certificates.keys import SIGNATURE_BYTES, PrivateKey, PublicKey

#: What the payload of every certificate is.
PAYLOAD_TYPE = "application/vnd.in-toto+json"
#: The most bytes of an envelope.
LIMIT = 1 << 24

_KEYS = {"payload", "payloadType", "signatures"}
_SIGNATURE_KEYS = {"keyid", "sig"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Envelope:
    """A payload, the signature over it, and the id of the key that is said to have made that."""

    payload: bytes
    signature: bytes
    key: str


def encoded(payload_type: str, payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding of a payload and its type."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sealed(payload: bytes, key: PrivateKey) -> Envelope:
    """An envelope of a payload, signed."""
    return Envelope(payload=payload, signature=key.sign(encoded(PAYLOAD_TYPE, payload)), key=key.public.id)


def envelope_text(envelope: Envelope) -> str:
    """An envelope as it is written."""
    signature = {"keyid": envelope.key, "sig": base64.b64encode(envelope.signature).decode()}
    document = {
        "payload": base64.b64encode(envelope.payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [signature],
    }
    return json.dumps(document, indent=1) + "\n"


def envelope_of(content: bytes, where: str) -> Envelope:
    """The envelope that a file holds.

    Args:
        content: The file's bytes.
        where: What to call it in an error.

    Raises:
        CertificateError: It is not an envelope as it is written here, to the byte.
    """
    if len(content) > LIMIT:
        raise CertificateError(f"{where} takes {len(content):,} bytes, which no certificate does.")
    document = document_of(content, where)
    _has_keys(document, _KEYS, where)
    if document["payloadType"] != PAYLOAD_TYPE:
        raise CertificateError(
            f"{where} holds a payload of the type {quoted(document['payloadType'])}, not {PAYLOAD_TYPE}."
        )
    signatures = document["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        count = len(signatures) if isinstance(signatures, list) else "no list of"
        raise CertificateError(f"{where} has {count} signatures, and a certificate has one.")
    [signature] = signatures
    _has_keys(signature, _SIGNATURE_KEYS, f"The signature of {where}")
    envelope = Envelope(
        payload=_decoded(document["payload"], "payload", where),
        signature=_decoded(signature["sig"], "signature", where),
        key=str(signature["keyid"]),
    )
    if len(envelope.signature) != SIGNATURE_BYTES:
        found = len(envelope.signature)
        raise CertificateError(f"{where} has a signature of {found} bytes, and one of ed25519 has {SIGNATURE_BYTES}.")
    if envelope_text(envelope).encode() != content:
        raise CertificateError(f"{where} is not spelt as it was written: it was changed beside what is signed.")
    return envelope


def opened(envelope: Envelope, key: PublicKey, where: str) -> bytes:
    """The payload of an envelope, once its signature is known to be right.

    Raises:
        CertificateError: It was signed with another key, or changed after it was signed.
    """
    if envelope.key != key.id:
        raise CertificateError(
            f"{where} says that it was signed with the key {quoted(envelope.key)}, and not with {key.id}."
        )
    if not key.verifies(envelope.signature, encoded(PAYLOAD_TYPE, envelope.payload)):
        raise CertificateError(f"{where} was changed after it was signed: its signature does not belong to it.")
    return envelope.payload


def document_of(content: bytes, where: str) -> Mapping[str, Any]:
    """A JSON object in which every key stands once.

    Raises:
        CertificateError: It is anything else.
    """

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for name, value in pairs:
            if name in document:
                raise CertificateError(f"{where} has the key {quoted(name)} twice.")
            document[name] = value
        return document

    def never(name: str) -> None:
        raise CertificateError(f"{where} holds {name}, which is no JSON.")

    try:
        document = json.loads(content.decode(), object_pairs_hook=once, parse_constant=never)
    except (ValueError, RecursionError) as fault:
        raise CertificateError(f"{where} is no JSON.") from fault
    if not isinstance(document, dict):
        raise CertificateError(f"{where} is no JSON object.")
    return document


def _has_keys(document: object, keys: set[str], where: str) -> None:
    if not isinstance(document, dict) or set(document) != keys:
        odd = sorted(set(document) ^ keys) if isinstance(document, dict) else []
        named = f"; look at {quoted(odd[0])}" if odd else ""
        raise CertificateError(f"{where} does not have the keys {', '.join(sorted(keys))} and no other{named}.")


def _decoded(text: object, what: str, where: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (ValueError, binascii.Error):
        content = None
    if content is None or base64.b64encode(content).decode() != text:
        raise CertificateError(f"{where} has a {what} that is no strict base64.")
    return content
