"""The errors of opconform. Each is one sentence: what is wrong, where, and what to do."""

import difflib
import errno
from collections.abc import Iterable, Mapping
from pathlib import Path

#: The disk is full, or the quota or the file size limit is reached.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: The most characters of a value that a message shows.
_QUOTED = 200


def quoted(value: object) -> str:
    """A value in a message: its `repr`, truncated."""
    return quoted_text(repr(value[: _QUOTED + 1] if isinstance(value, str) else value))


def quoted_text(text: str) -> str:
    """A text in a message, without quotes, truncated."""
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


def nearest(word: str, known: Iterable[str], meant: Mapping[str, str] | None = None) -> str:
    """A hint at the known word nearest to another, or at what is `meant` by it, with a trailing space, or nothing."""
    near = difflib.get_close_matches(word, [*known], n=1) if len(word) <= _QUOTED else []  # long texts are slow
    return f"Did you mean {(meant[near[0]] if meant else near[0])!r}? " if near else ""


class OpconformError(Exception):
    """An error that is reported without a traceback."""

    #: The exit code of a command that ends with this error.
    exit_code = 2


class UsageError(OpconformError):
    """A command line or a request that cannot be executed as given."""


class SpecError(OpconformError):
    """One or more mistakes in specs, one line each, with their places."""


class RenderError(OpconformError):
    """A template that cannot be rendered."""


class SuiteError(OpconformError):
    """A suite, golden or results file that is missing, truncated, changed or foreign."""

    exit_code = 1


class MissingError(SuiteError):
    """A path without the suite, results or certificate that it should have."""

    exit_code = 2


class OutputError(OpconformError):
    """Standard output that cannot be written."""

    exit_code = 1


class CertificateError(OpconformError):
    """A certificate that was changed, does not match its results, or cannot be signed."""

    exit_code = 1


class HarnessError(OpconformError):
    """A harness that cannot be started or violates the protocol."""

    exit_code = 3


class DiskError(OpconformError):
    """A disk that is full, or fails during the work."""

    exit_code = 1

    def __init__(self, path: Path, fault: OSError) -> None:
        super().__init__(f"{path} cannot be written: {fault.strerror}. Free some space, or use another location.")

    @staticmethod
    def is_full(fault: OSError) -> bool:
        """Whether an error means that the disk is full."""
        return fault.errno in _FULL
