"""The dialect that a backend is given a case in."""

import re

from opconform.errors import UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation

#: The version in the name of a dialect, as in `onnx-13`.
_VERSION = re.compile(r"-\d+$")


def plain_dialect(name: str) -> str:
    """The dialect that a backend declares to read a version of it."""
    return _VERSION.sub("", name)


def check_dialects(suite: Suite, implementation: Implementation) -> None:
    """Check that a suite holds a dialect that a backend reads."""
    reads, written = implementation.dialects, suite.header.dialects
    if reads and {*written, *map(plain_dialect, written)}.isdisjoint(reads):
        has = f"has models for {', '.join(written)}" if written else "has no models"
        wanted = " ".join(f"--dialect {read}" for read in reads)
        raise UsageError(
            f"{suite.store.root} {has}, but {implementation.name} reads {', '.join(reads)}. Generate it with {wanted}."
        )


def dialect_of(suite: Suite, entry: Entry, case: Case, implementation: Implementation) -> tuple[str | None, str | None]:
    """The dialect to give a backend a case in, and why the case cannot be given to it.

    It is the first that the backend reads, or a version of one: a backend that reads `onnx` reads `onnx-13`.
    """
    if not implementation.dialects:
        why = "the case is a graph of several operations, and this backend neither reads a dialect nor executes graphs"
        return None, None if case.is_bare or implementation.graphs else why
    written = suite.header.dialects
    versions = (x for read in implementation.dialects for x in written if read == plain_dialect(x) != x)
    dialects = tuple(dict.fromkeys((*implementation.dialects, *versions)))
    for dialect in dialects:
        if written.get(dialect) in entry.files:
            return dialect, None
    reasons: dict[str, list[str]] = {}
    for dialect in dialects:
        if dialect in entry.left_out:
            reasons.setdefault(entry.left_out[dialect], []).append(dialect)
    if reasons:
        clauses = "; ".join(f"{', '.join(dialects)}: {reason}" for reason, dialects in reasons.items())
        return None, f"the case cannot be expressed in {clauses}"
    return None, f"the suite has no model of the case in the backend's dialects: {', '.join(implementation.dialects)}"
