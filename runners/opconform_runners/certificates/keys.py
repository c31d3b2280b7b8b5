"""Keys: ed25519 pairs in PEM files, the private one for its owner alone."""

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from opconform.errors import CertificateError, DiskError, UsageError
from opconform.files import read_regular

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
except ImportError as fault:
    raise UsageError('Certificates need the package cryptography: pip install "opconform[certificates]".') from fault

#: How many bytes an ed25519 signature has.
SIGNATURE_BYTES = 64
_PRIVATE_MODE = 0o600
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
#: The points of small order, without the sign of x: under such a key a signature can be right that nobody made.
_SMALL_ORDER = frozenset(
    bytes.fromhex(each)
    for each in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
#: More than any key file takes.
_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that tells whether a signature was made with its private half."""

    _key: Ed25519PublicKey

    @property
    def id(self) -> str:
        """The SHA-256 of the key in DER, by which envelopes name it."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return hashlib.sha256(self._key.public_bytes(serialization.Encoding.DER, form)).hexdigest()

    @property
    def pem(self) -> bytes:
        """The key as it stands in a file."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self._key.public_bytes(serialization.Encoding.PEM, form)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of a message was made with the private half."""
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A key that signs."""

    _key: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        """Its public half."""
        return PublicKey(self._key.public_key())

    @property
    def pem(self) -> bytes:
        """The key as it stands in a file, not encrypted."""
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return self._key.private_bytes(serialization.Encoding.PEM, form, plain)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key.sign(message)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFiles:
    """Where a new pair was written."""

    private: Path
    public: Path
    id: str


def write_pair(name: Path) -> KeyFiles:
    """Make a pair and write it to `NAME.key`, which its owner alone can read, and `NAME.pub`.

    Raises:
        DiskError: The disk is full; neither file is left.
        UsageError: Either is there, or cannot be written; or the name is none.
    """
    if not name.name or name.suffix in (".key", ".pub"):
        raise UsageError(f"Name the pair without an ending, as in `opconform keygen me`, and not {str(name)!r}.")
    private, public = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.pub")
    taken = next((each for each in (private, public) if os.path.lexists(each)), None)
    if taken is not None:
        raise UsageError(f"{taken} is there, and no key is ever overwritten. Name another.")
    key = PrivateKey(Ed25519PrivateKey.generate())
    try:
        name.absolute().parent.mkdir(parents=True, exist_ok=True)
        _write_new(private, key.pem, _PRIVATE_MODE)
        try:
            _write_new(public, key.public.pem, 0o644)
        except OSError:
            private.unlink()
            raise
    except OSError as fault:
        if DiskError.is_full(fault):
            raise DiskError(name.absolute().parent, fault) from fault
        raise UsageError(f"{name}.key and {name}.pub cannot be written: {fault.strerror}.") from fault
    return KeyFiles(private=private, public=public, id=key.public.id)


def read_private(path: Path) -> PrivateKey:
    """The private key in a file.

    Raises:
        UsageError: There is none, or others can read it, or it is encrypted.
    """
    content = _read(path)
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError as fault:
        raise UsageError(f"{path} is encrypted. Decrypt it first, as with `openssl pkey -in {path}`.") from fault
    except (ValueError, UnsupportedAlgorithm) as fault:
        raise UsageError(f"{path} holds no private key in PEM. Make one with `opconform keygen NAME`.") from fault
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is no ed25519 key. Make one with `opconform keygen NAME`.")
    if os.name == "posix" and path.stat().st_mode & _FOR_OTHERS:
        raise UsageError(f"{path} can be read or written by others, so what it signs proves nothing. chmod 600 {path}")
    return PrivateKey(key)


def read_public(path: Path) -> PublicKey:
    """The public key in a file, which holds it and nothing else.

    Raises:
        CertificateError: The file holds anything else.
        UsageError: It cannot be read.
    """
    content = _read(path)
    with contextlib.suppress(TypeError, ValueError, UnsupportedAlgorithm):
        serialization.load_pem_private_key(content, password=None)
        raise CertificateError(f"{path} holds a private key. Keep it to yourself, and name the public one.")
    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm) as fault:
        raise CertificateError(f"{path} holds no public key in PEM.") from fault
    if not isinstance(key, Ed25519PublicKey):
        raise CertificateError(f"{path} is no ed25519 key, with which certificates are signed.")
    if _is_weak(key):
        raise CertificateError(f"{path} holds a key that proves nothing: signatures that nobody made are right for it.")
    if PublicKey(key).pem != content:
        raise CertificateError(f"{path} is not spelt as `opconform keygen` and `openssl pkey -pubout` write a key.")
    return PublicKey(key)


def _is_weak(key: Ed25519PublicKey) -> bool:
    """Whether a key is one of the few for which anybody can sign."""
    point = key.public_bytes_raw()
    return point[:-1] + bytes([point[-1] & 0x7F]) in _SMALL_ORDER


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _LIMIT, follow_links=True)
    except OSError as fault:
        raise UsageError(f"The key {path} cannot be read: {fault.strerror}.") from fault


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that is not there, whole or not at all; from its first byte on it has its mode."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        path.unlink()
        raise
