"""Which part of a campaign over all cases, mutants and findings CI runs."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

import pytest

#: The last hexadecimal digits of what is run, as a pattern: one in 64, or `*` for all, before a release.
DIGITS = os.environ.get("OPCONFORM_SAMPLE", "[0-3]0")
#: The pattern of the cases.
SAMPLE = f"*/*/*{DIGITS}"
WHOLE = DIGITS == "*"


def sampled(names: Iterable[str]) -> list[str]:
    """The sample of other names, in which their digests decide."""
    return [name for name in names if fnmatchcase(sha256(name.encode()).hexdigest(), f"*{DIGITS}")]


def in_line(values: Iterable[Any], *kept: Any, of: int = 1) -> list[Any]:
    """The parameters of a test; all but these are tried in CI alone, where one in `of`, and before a release all."""
    others = [value for value in values if value not in kept]
    return [*kept, *(pytest.param(value, marks=pytest.mark.ci_only) for value in others[:: 1 if WHOLE else of])]


@contextlib.contextmanager
def subject(name: str) -> Iterator[None]:
    """Say what a loop over a table was about when it failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"about {name}")
        raise
