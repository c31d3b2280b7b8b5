"""Files: safe reading of untrusted ones, and atomic writing."""

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

_BYTES = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_BINARY"))
_FLAGS = os.O_RDONLY | _BYTES | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY"))
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BYTES
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
#: Files below this size are read without a buffer, which takes half the time.
_SMALL = 1 << 20


class FileTooLargeError(OSError):
    """A file that is larger than its reader allows."""

    def __init__(self, path: Path | str, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size:,} bytes; at most {limit:,} are allowed", str(path))
        self.size = size


def open_regular(path: Path, *, follow_links: bool = False) -> BufferedReader:
    """A regular file, opened for reading. Pipes, devices and, unless followed, links raise `OSError` without a read."""
    descriptor, _ = _opened(path, follow_links=follow_links)
    return os.fdopen(descriptor, "rb")


def json_of(content: bytes | str) -> Any:
    """The value of a JSON document from outside; `ValueError` for another text, or one that is nested too deeply."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_regular(path: Path | str, limit: int, *, follow_links: bool = False) -> bytes:
    """The bytes of a file opened as by `open_regular`; `FileTooLargeError` if there are more than `limit`."""
    descriptor, size = _opened(path, follow_links=follow_links)
    if size < _SMALL:
        try:
            content = os.read(descriptor, size + 1)
        finally:
            os.close(descriptor)
    else:
        with os.fdopen(descriptor, "rb") as file:
            content = b"" if size > limit else file.read(size + 1)
    if max(size, len(content)) > limit:
        raise FileTooLargeError(path, max(size, len(content)), limit)
    return content


def _opened(path: Path | str, *, follow_links: bool) -> tuple[int, int]:
    """The descriptor of a regular file, and its size."""
    try:
        descriptor = os.open(path, _FLAGS if follow_links else _FLAGS | _NO_LINKS)
    except OSError as error:
        if error.errno == errno.ELOOP and Path(path).is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from error
        if error.errno == errno.ENXIO:  # a socket, or a missing device
            raise _irregular(path) from error
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _irregular(path)
    return descriptor, status.st_size


def _irregular(path: Path | str) -> OSError:
    return OSError(errno.EINVAL, "it is not a regular file", str(path))


def write_file(path: str, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file in parts, without the buffer of `open`, which would take as long as a small file."""
    descriptor = os.open(path, _WRITE, 0o666)
    try:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Replace or create a file atomically; an earlier file is unchanged if that raises `OSError`."""
    with replacement(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """A new file that replaces another when the block ends, unless the block raises.

    A folder in its place, such as one that a harness made, is kept under another name.
    """
    token = secrets.token_hex(8)
    beside = path.with_name(f".{path.name}.opconform-{token}")
    try:
        with beside.open("xb") as file:
            yield file
        try:
            beside.replace(path)
        except IsADirectoryError:
            path.rename(path.with_name(f"{path.name}.moved-{token}"))
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
