"""The simplest conditions that separate failing cases from passing ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The most facts of a condition, and the most conditions for one group of failures.
_FACTS = 3
_CONDITIONS = 8
#: The bits that a condition must save, so that few are chance.
_MARGIN = 8
#: How many conditions that do not separate yet are tried with one more fact.
_TRIED = 40

#: Facts, and the mask of the cases that have all of them.
_Found = tuple[tuple[str, ...], int]
_NONE: _Found = ((), -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """Facts that no passing case has together.

    Attributes:
        facts: At most three.
        failing: How many cases with these facts fail, in all groups.
        others: How many comparable cases do not have these facts.
        passing: How many of those pass.
    """

    facts: tuple[str, ...]
    failing: int
    others: int
    passing: int


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
    wanted, unwanted = (1 << len(group)) - 1, (1 << len(order)) - (1 << len(group))
    bits = math.log2(len(order) / len(group)) if group else 0.0
    found: list[Condition] = []
    while wanted and len(found) < _CONDITIONS:
        best, mask = _best(masks, wanted, unwanted, bits)
        if not best:
            break
        meeting = sum(facts[each].issuperset(best) for each in failing)
        others = len(failing) - meeting + len(passing)
        found.append(Condition(facts=best, failing=meeting, others=others, passing=len(passing)))
        wanted &= ~mask
    return tuple(found)


def _best(masks: Mapping[str, int], wanted: int, unwanted: int, bits: float) -> _Found:
    """The facts that save the most bits among those that no unwanted case has together, and which cases have them.

    In the masks of cases, each case has one binary digit. Naming a wanted case takes so many `bits`. Facts are added to
    those that hold for many wanted cases and few others.
    """
    distinct: dict[int, str] = {}
    for name in sorted(masks, key=_preference):
        if masks[name] & wanted:
            distinct.setdefault(masks[name], name)
    per_fact = math.log2(len(distinct) + 1)
    best, most = _NONE, float(_MARGIN)
    tried = [_NONE]
    for size in range(1, _FACTS + 1):
        longer: dict[int, tuple[str, ...]] = {}
        for facts, held in tried:
            for mask, name in distinct.items():
                both = held & mask
                if both != held and both & wanted:
                    longer.setdefault(both, (*facts, name))
        for mask, facts in longer.items():
            saved = (mask & wanted).bit_count() * bits - size * per_fact
            if not mask & unwanted and saved > most:
                best, most = (facts, mask), saved
        mixed = [(facts, mask) for mask, facts in longer.items() if mask & unwanted]
        tried = sorted(mixed, key=lambda each: -_promise(each[1], wanted, unwanted))[:_TRIED]
    return best


def _preference(name: str) -> tuple[int, list[int]]:
    """The order of facts that the same cases have: the shortest first, and then the one with the highest number."""
    return len(name), [-ord(each) for each in name]


def _promise(mask: int, wanted: int, unwanted: int) -> float:
    """How many wanted cases facts hold for, times their share of the cases."""
    count = (mask & wanted).bit_count()
    return count * count / (mask & (wanted | unwanted)).bit_count()
