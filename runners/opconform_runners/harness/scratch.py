"""The scratch folder of a harness, whose path must not show in results."""

import errno
import os
import re
import tempfile
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from opconform.errors import DiskError

_Outcome = TypeVar("_Outcome")
#: The free space below which a disk counts as full, in bytes.
_ROOM = 1 << 16


def scratch_folder() -> "tempfile.TemporaryDirectory[str]":
    """A new temporary folder, which is removed with its content; raises a `DiskError` if none can be made."""
    try:
        return tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True)
    except OSError as fault:
        raise DiskError(Path(os.environ.get("TMPDIR", "The temporary folder")), fault) from fault


def is_full(folder: Path) -> bool:
    """Whether a folder's disk has no room."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _ROOM or (disk.f_files > 0 and disk.f_favail == 0)


def check_room(folder: Path) -> None:
    """Raise a `DiskError` if a folder's disk is full."""
    if is_full(folder):
        raise DiskError(folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def without_scratch(outcome: _Outcome, scratch: Path) -> _Outcome:
    """An outcome whose texts have the paths of the suite: `onnx/model.onnx`, not `/tmp/opconform-x/7/onnx/model.onnx`.

    The folder has a different name in every run, and the texts of two runs must compare equal. Only the text fields of
    the dataclass are changed.
    """
    changed = {}
    for each in fields(outcome):  # type: ignore[arg-type]
        text = getattr(outcome, each.name)
        if isinstance(text, str) and scratch.name in text:
            changed[each.name] = _plain(text, scratch)
    return replace(outcome, **changed) if changed else outcome  # type: ignore[type-var]


def _plain(text: str, scratch: Path) -> str:
    # A harness may have resolved a link above the folder, or what it said may have been cut in the middle of the path.
    folder = rf"(?:file:(?=/))?(?:{re.escape(str(scratch.parent))}/|[^\s'\"`(\[<,;:=]*){re.escape(scratch.name)}"
    text = re.sub(rf"{folder}/\d+(?P<feed>\.\d+)?\.npz", r"outputs\g<feed>.npz", text)
    text = re.sub(rf"{folder}/\d+/(?=[\w.])", "", text)
    return re.sub(rf"{folder}(?:/\d+)?/?", "the case's folder", text)
