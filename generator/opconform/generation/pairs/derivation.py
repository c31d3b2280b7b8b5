"""The pairs of operations of a pattern: their graphs as the keys of cases, and why others cannot be paired."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from opconform.generation.pairs.graphs import Rotation, keys_of
from opconform.generation.pairs.search import NO_DATA, NO_TYPE, ONE_INPUT, OPEN_SHAPE, REASONS, Paired, Search
from opconform.generation.pairs.templates import data_places, is_open, templates_of
from opconform.operations import OPERATIONS
from opconform.specs.index import sample_files
from opconform.specs.schema.graph import Pattern

#: The element types of data: of each of these, a pair has the first that both operations take. Every second pair begins
#: with the second one.
KINDS = (("f32",), ("f16", "bf16"), ("i32", "i64", "u8", "i8", "boolean", "string"))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a pattern: the keys of each case, and how many pairs are left out, by reason."""

    cases: Sequence[Mapping[str, Any]]
    left_out: Mapping[str, int]


@cache
def pairs_of(pattern: Pattern, last: str | None = None, ops: tuple[str, ...] = ()) -> Pairs:
    """The pairs of a pattern of some operations with samples, by default of all that are shipped.

    `last` is the operation that joins results.
    """
    shipped = {path.parent.name for path in sample_files()}
    rotation, left_out = Rotation(), Counter[str]()
    cases = []
    for first, second in _ordered(pattern, ops or [op for op in OPERATIONS if op in shipped and templates_of(op)]):
        number = int(hashlib.sha256(f"{first} {second}".encode()).hexdigest()[:8], 16)  # not changed by other pairs
        for types in KINDS if pattern in ("behind", "twice") else (KINDS[number % len(KINDS)],):
            turned = (*types[1::-1], *types[2:]) if number % 2 else types
            paired = _paired(pattern, (first, second), turned, number, last)
            if isinstance(paired, str):
                left_out[paired] += 1
            else:
                outputs = (0, 1) if pattern == "beside" else (len(paired.steps) - 1,)
                cases.append(keys_of(paired.data, paired.steps, rotation, outputs))
    return Pairs(cases, {reason: left_out[reason] for reason in REASONS if left_out[reason]})


def _ordered(pattern: Pattern, ops: Sequence[str]) -> Iterator[tuple[str, str]]:
    if pattern == "twice":
        return ((op, op) for op in ops)
    if pattern == "beside":
        return ((a, b) for number, a in enumerate(ops) for b in ops[number + 1 :])
    return ((a, b) for a in ops for b in ops)


def _paired(
    pattern: Pattern, ops: tuple[str, str], types: Sequence[str], number: int, last: str | None
) -> Paired | str:
    """Two operations on data of the first type that fits, or why there is none."""
    if any(map(is_open, ops)):
        return OPEN_SHAPE
    if not all(map(data_places, ops)):
        return NO_DATA
    if pattern == "residual" and not data_places(ops[1])[1:]:
        return ONE_INPUT
    for element_type in types:
        search = Search(pattern, ops, element_type, number=number, last=last)
        if (paired := search.found()) is not None:
            return paired
        if search.reason != NO_TYPE:
            return search.reason
    return NO_TYPE
