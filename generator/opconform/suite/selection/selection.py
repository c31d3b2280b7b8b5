"""Selections of cases: by profile, by operation, by patterns that match an id or name a requirement, and by shard."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opconform.errors import UsageError, nearest
from opconform.suite.selection.quick import QUICK, is_quick

#: The profile with the graphs of all pairs of operations, which take minutes to derive.
PAIRS = "pairs"
#: The profiles of the shipped cases, and those that are left out unless named. A spec may name others.
PROFILES = (
    *("core", "types", "dynamic", "context", "robustness", "extended", "graphs"),
    *("transformer", "vision", "exhaustive", "functional", "large", PAIRS),
)
#: The profile with every case within bounds. There are too many of them to list or to keep.
EXHAUSTIVE = "exhaustive"
NOT_BY_DEFAULT = frozenset({"transformer", "vision", EXHAUSTIVE, "functional", "large", PAIRS})
#: The name for all other profiles.
DEFAULT = "default"
#: An id of a case whose digits are shortened.
_SHORTENED = re.compile(r"[^/]+/[^/]+/[0-9a-f]{1,9}")
#: The most cases that an error names.
_NAMED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """One of several parts of a suite, numbered from 1. The SHA-256 of its id decides where a case belongs."""

    number: int
    of: int

    def __post_init__(self) -> None:
        """Check that there is such a shard, or raise a ValueError."""
        if not 1 <= self.number <= self.of:
            raise ValueError(f"shard {self}: the first number must be from 1 to {self.of}")

    def holds(self, identity: str) -> bool:
        """Whether a case belongs to the shard."""
        digest = hashlib.sha256(identity.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """The shard that a text such as `2/8` names, or a ValueError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is not a shard; write I/N, as in 2/8 for the second of eight shards")
    return Shard(number=int(match[1]), of=int(match[2]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The wanted cases: of some profiles, where `default` and none mean all but a few, and matching a pattern.

    The profile `quick` is a list of cases, besides the groups of a spec's own profile of this name.
    Patterns are shell patterns of ids, such as `Split-1/axis-*`, or requirements; without patterns every case matches.
    The operations are those whose specs are named. With ids or a shard, only their cases are wanted.
    """

    profiles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    ids: frozenset[str] | None = None
    shard: Shard | None = None

    def check_profiles(self, groups: Mapping[str, str], where: str) -> None:
        """Check that some groups, given with their profiles by full name, have the profiles, or raise `UsageError`."""
        known = sorted({*groups.values(), *([QUICK] if any(map(is_quick, groups)) else [])})
        unknown = [profile for profile in self.profiles if profile not in (*known, DEFAULT)]
        if unknown or not known:
            name, names = (unknown or [DEFAULT])[0], [DEFAULT, *known]
            raise UsageError(f"Profile {name!r} is not {where}. {nearest(name, names)}Allowed: {', '.join(names)}.")

    def wants(self, name: str, profile: str) -> bool:
        """Whether a case, or one of a group, is of a selected profile, given its id or full name and its profile."""
        return self.wants_profile(profile) or (QUICK in self.profiles and is_quick(name))

    def wants_profile(self, profile: str) -> bool:
        """Whether all cases of a profile are selected."""
        if profile in self.profiles:
            return True
        return (not self.profiles or DEFAULT in self.profiles) and profile not in NOT_BY_DEFAULT


def pattern_of(name: str) -> str:
    """The pattern for the name of one case: its id, its digits or the first of them, or a pattern."""
    if "/" not in name:
        return f"*/{name}*"
    return f"{name}*" if _SHORTENED.fullmatch(name) else name


def check_one(name: str, ids: Sequence[str], *, where: str = "", hint: str = "") -> None:
    """Check that one case matches a name, or raise `UsageError`; `where` and `hint` begin with a space."""
    if not ids:
        raise UsageError(f"No case matches {name!r}{where}.{hint or ' `opconform list` lists them.'}")
    if len(ids) > 1:
        shown = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
        raise UsageError(f"{len(ids):,} cases match {name!r}: {shown}. Name one.")


EVERYTHING = Selection()
