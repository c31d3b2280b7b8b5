"""Replacing: a file written whole or not at all, whatever stood in its place."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from opconform.errors import UsageError

#: Enough of a file to tell whose it is.
_HEAD = 300


def replace_file(path: Path, content: bytes) -> None:
    """Put content in the place of a file, or of none; a reader sees the old file or the new one, and never a part.

    Raises:
        OSError: The disk refuses; what stood there still does.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def replace_named(path: Path, content: bytes) -> None:
    """The same for a file that a user named: folders are made for it, and a pipe or a device is written to as it is.

    Raises:
        UsageError: The disk refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(content)
        else:
            replace_file(path, content)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}. Name another file.") from fault


def replace_ours(path: Path, content: bytes, mark: bytes) -> None:
    """The same, but nothing is overwritten that opconform did not write.

    Args:
        path: The file.
        content: Its new content.
        mark: What stands among the first bytes of every such file.

    Raises:
        UsageError: The file is somebody else's, or the disk refuses.
    """
    check_ours(path, mark)
    replace_named(path, content)


def check_ours(path: Path, mark: bytes) -> None:
    """Refuse a file that opconform did not write.

    Raises:
        UsageError: It is somebody else's, or cannot be read.
    """
    try:
        ours = is_ours(path, [mark])
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}. Name another file.") from fault
    if not ours:
        raise UsageError(f"{path} was not written by opconform, and nothing is overwritten. Name another file.")


def is_ours(path: Path, marks: Sequence[bytes]) -> bool:
    """Whether one of some marks stands among a file's first bytes.

    What is empty, a pipe or a device is as good as no file: nothing would be lost.

    Raises:
        OSError: It cannot be read.
    """
    if not path.is_file():
        return True
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return not head or any(each in head for each in marks)
