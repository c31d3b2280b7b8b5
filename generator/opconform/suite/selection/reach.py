"""How far a selection reaches into groups, as far as their names, profiles and requirements say."""

import re
from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from opconform.errors import UsageError
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Known, Matches, can_match
from opconform.suite.selection.selection import Selection

#: Whether every case of a group is wanted, none, or those with some ids.
Reach = Literal["all", "none", "some"]
#: The parts of a shell pattern: a wildcard, or what matches one character.
_TOKEN = re.compile(r"\*|\[!?\]?[^\]]*\]|.", re.DOTALL)
_HEX = "0123456789abcdef"
#: The number of digits of a case.
_DIGITS = 10


def reach_of(selection: Selection, group: str, profile: str, requirements: Collection[str]) -> Reach:
    """Which cases of a group are wanted that all list the same requirements, given the group's full name."""
    if not selection.wants(group, profile):
        return "none"
    if selection.ids is not None or selection.shard is not None:
        return "some"
    reach = pattern_reach(selection.patterns, group, requirements)
    return "some" if reach == "all" and not selection.wants_profile(profile) else reach


def pattern_reach(patterns: Collection[str], group: str, requirements: Collection[str]) -> Reach:
    """Which cases of a group match one of some patterns; without patterns, all of them."""
    if not patterns:
        return "all"
    reaches = {_pattern_reach(x, group) for x in patterns if can_match(x, f"{group}/", requirements)}
    if "all" in reaches or any(x in requirements for x in patterns):
        return "all"
    return "some" if "some" in reaches else "none"


def check_groups(selection: Selection, groups: Mapping[str, str], known: Callable[[], Known]) -> None:
    """Check a selection of groups, given with their profiles by full name, or raise `UsageError`.

    Patterns are not checked, since only cases show whether they match.
    """
    selection.check_profiles(groups, "in the specs")
    wanted = {name: profile for name, profile in groups.items() if selection.wants(name, profile)}
    if not wanted:
        profiles = " --profile ".join(sorted({*groups.values()}))
        raise UsageError(f"All groups are in profiles that are not run by default. Add --profile {profiles}.")
    if not selection.patterns:
        matches = Matches(selection)
        for name, profile in wanted.items():
            matches.wants(name, profile, ())
        check_matches(matches, known)


@cache
def _pattern_reach(pattern: str, group: str) -> Reach:
    op = group.partition("/")[0]
    if fnmatchcase(group, pattern) or fnmatchcase(op, pattern):
        return "all"
    if pattern.endswith("*") and fnmatchcase(f"{group}/", pattern):
        return "all"
    return "some" if _is_possible(pattern, f"{group}/") else "none"


def _is_possible(pattern: str, beginning: str) -> bool:
    """Whether a pattern matches a beginning that is followed by some digits of a case."""
    tokens = _tokens(pattern)
    places = _beside(tokens, {0})
    for characters in (*beginning, *[_HEX] * _DIGITS):
        next_places = {place for place in places if tokens[place : place + 1] == ("*",)}
        next_places |= {
            place + 1
            for place in places
            if place < len(tokens) and tokens[place] != "*" and _matches(tokens[place], characters)
        }
        places = _beside(tokens, next_places)
    return len(tokens) in places


def _beside(tokens: tuple[str, ...], places: set[int]) -> set[int]:
    """The places in a pattern with those behind wildcards, which may match nothing."""
    reached = set(places)
    for place in range(min(places, default=0), len(tokens)):
        if place in reached and tokens[place] == "*":
            reached.add(place + 1)
    return reached


@cache
def _matches(token: str, characters: str) -> bool:
    return any(fnmatchcase(x, token) for x in characters)


@cache
def _tokens(pattern: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(pattern))
