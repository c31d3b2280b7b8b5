"""The errors of opconform, each one sentence that says what was wrong, where, and what to do."""

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

#: No room on the disk, or no more for this user, or in a file of this process.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: The most characters of a value that a message shows.
_QUOTED = 200


def quoted(value: object) -> str:
    """A value as a message shows it: as Python writes it, with the end of a long one left out."""
    return quoted_text(repr(value[: _QUOTED + 1] if isinstance(value, str) else value))


def quoted_text(text: str) -> str:
    """A text as a message shows it without quotes: the end of a long one is left out."""
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


#: No word that is known is nearly as long as this, and comparing long texts takes time.
_LONGEST_WORD = 200


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that is most like another, ending in a space, or nothing."""
    near = difflib.get_close_matches(word, [*known], n=1) if len(word) <= _LONGEST_WORD else []
    return f"Did you mean {near[0]!r}? " if near else ""


class OpconformError(Exception):
    """Any fault that is told to a person and not shown as a traceback."""

    #: What the command line exits with when this error ends a command.
    exit_code = 2


class UsageError(OpconformError):
    """A command that cannot be carried out as it was given."""


class SpecError(OpconformError):
    """One or more mistakes in specs, each on a line of its own with its place."""


class RenderError(OpconformError):
    """A template which cannot be rendered."""


class SuiteError(OpconformError):
    """A suite, a golden or a results file which is missing, cut short, changed or foreign."""

    exit_code = 1


class MissingError(SuiteError):
    """A path that was named, and where there is no suite, no results or no certificate."""

    exit_code = 2


class OutputError(OpconformError):
    """Standard output that cannot be written, as on a full disk."""

    exit_code = 1


class CertificateError(OpconformError):
    """A certificate which was tampered with, does not belong to what it is shown with, or cannot be signed."""

    exit_code = 1


class HarnessError(OpconformError):
    """A harness which cannot be started or does not speak the protocol."""

    exit_code = 3


class DiskError(OpconformError):
    """A disk which is full, or refuses to be written to in the middle of the work."""

    exit_code = 1

    def __init__(self, path: Path, fault: OSError) -> None:
        super().__init__(f"{path} cannot be written: {fault.strerror}. Make room, or name another place.")

    @staticmethod
    def is_full(fault: OSError) -> bool:
        """Whether a disk refused for want of room."""
        return fault.errno in _FULL
