"""Replacing: a file written whole or not at all, whatever stood in its place."""

import os
import stat
from pathlib import Path

from opconform.errors import UsageError


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
