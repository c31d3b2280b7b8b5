"""The names of the operations that have specs, found without importing the semantics of the shipped ones."""

from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from opconform.errors import MissingError, near_word
from opconform.specs.index import specified_operations
from opconform.suite.case import GRAPH
from opconform.system.resources import NAME, OPERATIONS_GROUP


def tested_operations() -> list[str]:
    """The operations that have specs: the shipped ones, and the operations of installed distributions; no graph."""
    return [*(op for op in specified_operations() if op != GRAPH), *installed_operation_names()]


def installed_operation_names() -> tuple[str, ...]:
    """The operations of installed distributions."""
    if not entry_points(group=OPERATIONS_GROUP):
        return ()
    from opconform.operations import installed_operations  # it takes long to import

    return installed_operations()


def check_named(paths: Sequence[Path]) -> None:
    """Raise `MissingError` for a path that does not exist and is nearly the name of an operation."""
    for path in paths:
        if path.exists() or named_operations([path]):
            continue
        if near := near_word(str(path), tested_operations()):
            raise MissingError(f"Spec not found: {path}. Did you mean {near!r}?")


def named_operations(paths: Sequence[Path]) -> tuple[str, ...]:
    """The operations among paths, whose names stand for their specs."""
    named = [str(path) for path in paths if NAME.fullmatch(str(path)) and not path.exists()]
    return tuple(op for op in named if op in specified_operations() or op in installed_operation_names())


def operations_of(patterns: Sequence[str]) -> list[Path]:
    """The operations whose cases patterns can match, if each begins with the name of one, and else none."""
    named = [Path(pattern.partition("/")[0]) for pattern in patterns if "/" in pattern]
    found = named_operations(named)
    return [Path(op) for op in dict.fromkeys(found)] if len(found) == len(patterns) else []
