"""The scratch folder of a harness, whose path must not show in results."""

import errno
import os
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from opconform.errors import DiskError
from opconform.system.temporary import TemporaryFolder

_Outcome = TypeVar("_Outcome")
#: The free space below which a disk counts as full, in bytes.
_ROOM = 1 << 16
#: The characters that end the text before a path.
_BEFORE_A_PATH = " \t\n\r\v\f'\"`([<,;:="
#: What follows the folder's name: a file of outputs, a file in the folder of a case, or such a folder.
_OUTPUTS = re.compile(r"/\d+(?P<feed>\.\d+)?\.npz")
_FILE = re.compile(r"/\d+/(?=[\w.])")
_FOLDER = re.compile(r"(?:/\d+)?/?")


def scratch_folder() -> TemporaryFolder:
    """A new temporary folder, which is removed with its content; raises a `DiskError` if none can be made."""
    try:
        return TemporaryFolder()
    except OSError as error:
        raise DiskError(Path(os.environ.get("TMPDIR", "The temporary folder")), error) from error


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
    for field in fields(outcome):  # type: ignore[arg-type]
        text = getattr(outcome, field.name)
        if isinstance(text, str) and scratch.name in text:
            changed[field.name] = _plain(text, scratch)
    return replace(outcome, **changed) if changed else outcome  # type: ignore[type-var]


def _plain(text: str, scratch: Path) -> str:
    """A text without the scratch folder, in time that is linear in its length."""
    *others, last = text.split(scratch.name)
    plain = ""
    for place, part in enumerate(others):
        plain += _before(_after(part) if place else part, scratch)
    return plain + _after(last)


def _before(text: str, scratch: Path) -> str:
    """The text in front of the folder's name without the rest of its path.

    A harness may have resolved a link above the folder, or what it said may have been cut in the middle of the path.
    """
    parent = f"{scratch.parent}/"
    cut = text.removesuffix(parent)
    if cut == text:
        cut = text[: max(map(text.rfind, _BEFORE_A_PATH)) + 1]
    return cut.removesuffix("file:") if text[len(cut) :].startswith("/") else cut


def _after(text: str) -> str:
    """The text from the folder's name on, with the name in the suite instead of the path."""
    if match := _OUTPUTS.match(text):
        return f"outputs{match['feed'] or ''}.npz{text[match.end() :]}"
    if match := _FILE.match(text):
        return text[match.end() :]
    return _FOLDER.sub("the case's folder", text, count=1)
