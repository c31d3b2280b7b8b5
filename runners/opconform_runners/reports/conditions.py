"""The simplest conditions that separate failing cases from passing ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

#: The most facts of a condition, and the most conditions for one group of failures.
_FACTS = 3
_CONDITIONS = 8
#: The bits that a condition must save at least: it would else be met by chance.
_MARGIN = 8
#: How many conditions that do not separate yet are tried with one more fact.
_TRIED = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """Facts that no passing case has together.

    Attributes:
        facts: At most three.
        failing: How many cases with these facts fail, in all groups.
        others: How many cases without these facts pass.
    """

    facts: tuple[str, ...]
    failing: int
    others: int


def conditions_of(
    group: Sequence[str], failing: Sequence[str], passing: Sequence[str], facts: Mapping[str, frozenset[str]]
) -> tuple[Condition, ...]:
    """The conditions that explain most cases of a group, each of which no passing case meets; possibly none.

    A condition must explain more cases than a random one would: describing the cases by it takes fewer bits than
    naming them among all.

    Args:
        group: The ids of the failing cases to explain.
        failing: The ids of all failing cases that are comparable, with those of the group.
        passing: The ids of the passing cases that are comparable.
        facts: The facts about each case, by its id.
    """
    order = [*group, *passing]
    masks: dict[str, int] = {}
    for number, case in enumerate(order):
        for each in facts[case]:
            masks[each] = masks.get(each, 0) | 1 << number
    left = (1 << len(group)) - 1
    found: list[Condition] = []
    while left and len(found) < _CONDITIONS:
        best = _best(masks, left, len(group), len(order))
        if best is None:
            break
        having = sum(facts[each].issuperset(best) for each in failing)
        found.append(Condition(facts=best, failing=having, others=len(passing)))
        left &= ~_mask(best, masks)
    return tuple(found)


def _best(masks: Mapping[str, int], wanted: int, failing: int, whole: int) -> tuple[str, ...] | None:
    """The facts that no passing case has together and that save the most bits, or None."""
    passing = (1 << whole) - (1 << failing)
    alike: dict[int, str] = {}
    for name in sorted(
        masks, key=lambda each: (-len(each), each), reverse=True
    ):  # the shortest, then the highest number
        if masks[name] & wanted:
            alike.setdefault(masks[name], name)
    useful = {name: mask for mask, name in alike.items()}
    per_fact, per_case = math.log2(len(useful) + 1), math.log2(whole / failing)

    def saved(mask: int, facts: int) -> float:
        return (mask & wanted).bit_count() * per_case - facts * per_fact

    best: tuple[float, tuple[str, ...]] | None = None
    tried: list[tuple[str, ...]] = [()]
    for size in range(1, _FACTS + 1):
        next_tried: dict[int, tuple[tuple[float, int], tuple[str, ...]]] = {}
        for facts in tried:
            start = _mask(facts, masks) if facts else -1
            for name, mask in useful.items():
                both = start & mask
                if both == start or not both & wanted or both in next_tried:
                    continue
                gain = saved(both, size)
                if not both & passing:
                    if gain > _MARGIN and (best is None or gain > best[0]):
                        best = (gain, (*facts, name))
                else:
                    share = (both & wanted).bit_count() / (both & (wanted | passing)).bit_count()
                    next_tried[both] = ((share * (both & wanted).bit_count(), -size), (*facts, name))
        ranked = sorted(next_tried.values(), key=lambda each: (each[0], each[1]), reverse=True)
        tried = [facts for _, facts in islice(ranked, _TRIED)]
    return best[1] if best else None


def _mask(facts: Sequence[str], masks: Mapping[str, int]) -> int:
    mask = -1
    for each in facts:
        mask &= masks[each]
    return mask
