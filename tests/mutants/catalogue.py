"""Every mutant."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

from opconform.errors import UsageError
from tests.mutants.every import acceptances, contexts, credit, data, outputs, readings, refusals, settings, state
from tests.mutants.every.untold import untold
from tests.mutants.operations import (
    arithmetic,
    concat,
    crash,
    gather,
    gather_nd,
    layout,
    lengths,
    pad,
    reshape,
    slicing,
    split,
    squeeze,
    strided_slice,
    transpose,
    unsqueeze,
)
from tests.mutants.row import MutantRow

#: The modules whose rows derive from the declarations of operations, and those whose rows are written by hand.
EVERY = (settings, acceptances, refusals, outputs, data, state, contexts, readings, credit)
OPERATIONS = (
    split,
    lengths,
    layout,
    concat,
    reshape,
    slicing,
    strided_slice,
    transpose,
    gather,
    gather_nd,
    pad,
    squeeze,
    unsqueeze,
    arithmetic,
    crash,
)
MODULES = (*EVERY, *OPERATIONS)
_ROWS: Mapping[str, MutantRow] = {x.name: x for x in chain.from_iterable(module.ROWS for module in MODULES)}
#: The derived mutants that no case tells from a right implementation, by name.
UNTOLD: Mapping[str, MutantRow] = MappingProxyType({name: row for name, row in _ROWS.items() if untold(name)})
#: All other mutants by name, class by class.
MUTANTS: Mapping[str, MutantRow] = MappingProxyType({name: row for name, row in _ROWS.items() if name not in UNTOLD})


def row_of(name: str) -> MutantRow:
    """The mutant of a name.

    Raises:
        UsageError: There is none.
    """
    if name not in _ROWS:
        raise UsageError(f"Unknown mutant {name!r}. `python -m tests.mutants --list` lists them.")
    row: MutantRow = _ROWS[name]
    return row


def concerns(row: MutantRow, op: str) -> bool:
    """Whether a mutant is faulty where an operation is tested."""
    return not row.ops or op in row.ops
