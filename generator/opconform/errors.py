"""The errors of opconform. Each is one sentence: what is wrong, where, and what to do."""

import difflib
import errno
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Self

#: The disk is full, or the quota or the file size limit is reached.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: The most characters of a value that a message shows.
_QUOTED = 200
#: How much of two words must be the same for one to be a suggestion for the other, from 0 to 1: `concat` and `convert`
#: have 0.62.
_ALIKE = 0.7
#: What `float32` and `int8` have besides `f32` and `i8`.
_SHORT = re.compile(r"(?<=^[a-z])[a-z]+(?=\d)")


def quoted(value: object) -> str:
    """A value in a message: its `repr`, truncated."""
    return quoted_text(repr(value[: _QUOTED + 1] if isinstance(value, str) else value))


def quoted_text(text: str) -> str:
    """A text in a message, without quotes, truncated."""
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun, as in `1 case` and `2 cases`."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def near_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that another one is probably meant to be: nearly the same, or the same letters; or None."""
    if len(word) > _QUOTED:  # long texts are slow
        return None
    folded = {x.casefold(): x for x in known}
    typed = word.casefold()
    alike = (difflib.get_close_matches(x, folded, n=1, cutoff=_ALIKE) for x in (typed, _SHORT.sub("", typed)))
    swapped = (x for x in folded if sorted(x) == sorted(typed))
    nearest_folded = next(chain(*alike, swapped), None)
    return None if nearest_folded is None else folded[nearest_folded]


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that another one is probably meant to be, with a trailing space, or nothing."""
    near = near_word(word, known)
    return "" if near is None else f"Did you mean {near!r}? "


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


class ClusterError(OpconformError):
    """A cluster that cannot be reached, has no fitting workers, or whose workers differ."""

    exit_code = 3


class KilledWorkersError(ClusterError):
    """A task whose workers ended, one after another, while they executed it."""


class DiskError(OpconformError):
    """A disk that is full, or fails during the work."""

    exit_code = 1

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path} cannot be written: {error.strerror}. Free some space, or use another location.")
        self._given = path, error

    def __reduce__(self) -> tuple[type[Self], tuple[Path, OSError]]:
        """The error with its arguments, since a process may send it to another one."""
        return type(self), self._given

    @staticmethod
    def is_full(error: OSError) -> bool:
        """Whether an error means that the disk is full."""
        return error.errno in _FULL
