"""A greedy cover: the few cases that find most of what is known to be findable."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")
#: The most cases of the profile, twins included.
MOST = 3_300
#: How often each fault is to be found, where two cases can.
TWICE = 2
#: What a second finder of any fault is worth.
_AGAIN = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something that can be found: a mutant, a row of findings, or a requirement that is to be tested.

    Attributes:
        name: Its kind, and its own name.
        finders: The ids of the cases that find it.
        weight: What it is worth to find it.
    """

    name: str
    finders: tuple[str, ...]
    weight: float = 1.0

    @property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.partition(" ")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreCase:
    """What a cover needs to know of a case: its id, that of its twin if it has one, and its size in bytes."""

    id: str
    twin: str | None
    size: int


def cover(faults: Sequence[Fault], cases: Mapping[str, CoreCase], most: int = MOST) -> list[str]:
    """At most so many ids of cases, sorted; a case with a twin comes with it.

    The case that adds most for its price is taken first, again and again: a fault that is found for the first time
    counts with its weight, one that is found for the second time with little. Of equal cases the smaller one is taken.
    """
    found = Counter[int]()
    finding = _grouped(
        (finder, number) for number, fault in enumerate(faults) for finder in dict.fromkeys(fault.finders)
    )
    with_twin = _grouped((case.twin, case.id) for case in cases.values() if case.twin is not None)
    chosen: set[str] = set()

    def new_cases(id_: str) -> list[str]:
        twin = cases[id_].twin
        return [x for x in (id_, twin) if x is not None and x not in chosen]

    def rank(id_: str) -> tuple[float, int, str]:
        numbers = {number for x in new_cases(id_) for number in finding[x]}
        worth = sum(_AGAIN if found[n] else faults[n].weight for n in numbers if found[n] < TWICE)
        return -worth / len(new_cases(id_)), cases[id_].size, id_

    heap = [rank(id_) for id_ in sorted(finding) if id_ in cases]
    heapq.heapify(heap)
    while heap:
        old = heapq.heappop(heap)
        id_ = old[2]
        added = new_cases(id_)
        if id_ in chosen or len(chosen) + len(added) > most:
            continue
        if (now := rank(id_)) != old:  # others have found its faults meanwhile, or brought its twin
            heapq.heappush(heap, now)
            continue
        if now[0] == 0:
            break
        chosen.update(added)
        found.update(number for x in added for number in finding[x])
        for other in (case for x in added for case in with_twin[x] if case not in chosen and case in finding):
            heapq.heappush(heap, rank(other))
    return sorted(chosen)


def _grouped(pairs: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    """The values of each key; none for another key."""
    values: dict[str, list[Value]] = defaultdict(list)
    for key, value in pairs:
        values[key].append(value)
    return values


def found_by(chosen: Iterable[str], faults: Iterable[Fault]) -> dict[str, tuple[int, int, int]]:
    """By kind of fault: how many there are, and how many of them some cases find, and find twice or as often as can be."""
    ids = frozenset(chosen)
    counts: dict[str, tuple[int, int, int]] = {}
    for fault in faults:
        number, times = len({*fault.finders}), len(ids & {*fault.finders})
        before = counts.get(fault.kind, (0, 0, 0))
        now = (1, int(times > 0), int(times >= min(TWICE, number)))
        counts[fault.kind] = (before[0] + now[0], before[1] + now[1], before[2] + now[2])
    return counts
