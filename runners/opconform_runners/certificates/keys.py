"""Pairs of ed25519 keys in PEM files; only the owner can read the private one."""

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from opconform.errors import CertificateError, DiskError, UsageError
from opconform.suite.storage.ownership import check_outside_suites
from opconform.system.files import read_regular

try:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from securesystemslib.signer import CryptoSigner, SSlibKey
except ImportError as error:
    package = (error.name or "cryptography").partition(".")[0]
    raise UsageError(f'Certificates need the package {package}: pip install "opconform[certificates]".') from error

_PRIVATE_MODE = 0o600
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
#: The points of small order, without the sign of x: for such a key, anyone can make a valid signature.
_SMALL_ORDER = frozenset(
    bytes.fromhex(name)
    for name in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
#: The most bytes of a key file.
_LIMIT = 1 << 16


def public_pem(key: Ed25519PublicKey) -> bytes:
    """A public key as its file has it."""
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _public(key: Ed25519PublicKey) -> SSlibKey:
    """A public key with its id in envelopes: the SHA-256 of the key in DER."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return SSlibKey.from_crypto(key, keyid=hashlib.sha256(der).hexdigest())


def write_pair(name: Path) -> tuple[Path, Path, str]:
    """Make a pair and write it to `NAME.key`, which only its owner can read, and `NAME.pub`, or neither.

    Returns both paths and the id of the public key.
    """
    if not name.name or name.suffix in (".key", ".pub"):
        raise UsageError(
            f"Name the pair without a file extension, as in `opconform certificate keygen me`, not {str(name)!r}."
        )
    private, public = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.pub")
    check_outside_suites(private)
    taken = next((x for x in (private, public) if os.path.lexists(x)), None)
    if taken is not None:
        raise UsageError(f"{taken} exists, and keys are never overwritten. Use another name.")
    key = Ed25519PrivateKey.generate()
    signer = CryptoSigner(key, _public(key.public_key()))
    try:
        name.absolute().parent.mkdir(parents=True, exist_ok=True)
        _write_new(private, signer.private_bytes, _PRIVATE_MODE)
        try:
            _write_new(public, public_pem(key.public_key()), 0o644)
        except OSError:
            private.unlink()
            raise
    except OSError as error:
        if DiskError.is_full(error):
            raise DiskError(name.absolute().parent, error) from error
        raise UsageError(f"{name}.key and {name}.pub cannot be written: {error.strerror}.") from error
    return private, public, signer.public_key.keyid


def read_private(path: Path) -> CryptoSigner:
    """The signer with the private ed25519 key in a file, which only its owner can read."""
    content = _read(path)
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except TypeError as error:
        raise UsageError(
            f"{path} is encrypted. Decrypt it first, for example with `openssl pkey -in {path}`."
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if b"-----BEGIN PUBLIC KEY-----" in content:
            raise UsageError(f"{path} is a public key. Name the private one.") from error
        advice = "Generate one with `opconform certificate keygen NAME`."
        raise UsageError(f"{path} does not contain a private key in PEM format. {advice}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is not an ed25519 key. Generate one with `opconform certificate keygen NAME`.")
    if os.name == "posix" and path.stat().st_mode & _FOR_OTHERS:
        raise UsageError(f"Other users can read or write {path}. Run `chmod 600 {path}`.")
    return CryptoSigner(key, _public(key.public_key()))


def read_public(path: Path) -> SSlibKey:
    """The public key in a file, which contains nothing else."""
    content = _read(path)
    with contextlib.suppress(TypeError, ValueError, UnsupportedAlgorithm):
        serialization.load_pem_private_key(content, password=None)
        raise CertificateError(f"{path} is a private key. Keep it secret, and name the public one.")
    try:
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise CertificateError(f"{path} does not contain a public key in PEM format.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise CertificateError(f"{path} is not an ed25519 key. Certificates need an ed25519 key.")
    point = key.public_bytes_raw()
    if point[:-1] + bytes([point[-1] & 0x7F]) in _SMALL_ORDER:
        raise CertificateError(f"{path} is a weak key: anyone can make a valid signature for it.")
    if public_pem(key) != content:
        raise CertificateError(
            f"{path} is not in the form that `opconform certificate keygen` and `openssl pkey -pubout` write."
        )
    return _public(key)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _LIMIT, follow_links=True)
    except FileNotFoundError as error:
        raise UsageError(f"Key not found: {path}. `opconform certificate keygen NAME` writes a pair.") from error
    except OSError as error:
        raise UsageError(f"The key {path} cannot be read: {error.strerror}.") from error


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a new file completely or not at all; it has its mode from the beginning."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        path.unlink()
        raise
