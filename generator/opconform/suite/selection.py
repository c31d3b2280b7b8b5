"""Selections of cases: by profile, by patterns that match an id or name a requirement, and by shard."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from opconform.errors import UsageError, near_word, nearest

#: The profiles of the shipped cases, and those that are left out unless named. A spec may name others.
PROFILES = ("core", "types", "dynamic", "context", "robustness", "extended", "exhaustive", "functional", "large")
#: The profile with every case within bounds, of which there are too many to list or to keep.
EXHAUSTIVE = "exhaustive"
NOT_BY_DEFAULT = frozenset({EXHAUSTIVE, "functional", "large"})
#: The name for all other profiles.
DEFAULT = "default"
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
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if found is None:
        raise ValueError(f"{text!r} is not a shard; write one as in 2/8, the second of eight")
    return Shard(number=int(found[1]), of=int(found[2]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The wanted cases: of some profiles, where `default` and none mean all but a few, and matching a pattern.

    Patterns are shell patterns of ids, such as `Split-1/axis-*`, or requirements; without patterns every case matches.
    With a shard, only its cases are wanted.
    """

    profiles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    shard: Shard | None = None

    def of(self, known: Sequence[str], where: str) -> "Selection":
        """The same selection, checked against the known profiles; all of them if it names none."""
        unknown = [each for each in self.profiles if each not in (*known, DEFAULT)]
        if unknown or not known:
            name, names = (unknown or [DEFAULT])[0], [DEFAULT, *known]
            raise UsageError(f"Profile {name!r} is not {where}. {nearest(name, names)}Allowed: {', '.join(names)}.")
        return self if self.profiles else replace(self, profiles=tuple(known))

    def wants_profile(self, profile: str) -> bool:
        """Whether cases of a profile are selected."""
        if profile in self.profiles:
            return True
        return (not self.profiles or DEFAULT in self.profiles) and profile not in NOT_BY_DEFAULT

    def wants(self, identity: str, requirements: Sequence[str]) -> bool:
        """Whether a case of a selected profile is selected."""
        if self.shard is not None and not self.shard.holds(identity):
            return False
        return not self.patterns or any(
            fnmatchcase(identity, each) or fnmatchcase(identity, f"{each}/*") or each in requirements
            for each in self.patterns
        )


def near_miss(patterns: Sequence[str], groups: Iterable[str], requirements: Iterable[str]) -> str:
    """A hint at the group or requirement nearest to a pattern without matches, with a leading space, or nothing.

    A requirement matches no single case, so its own name gets the command that lists its cases.
    """
    named = set(requirements)
    ids = sorted(set(groups), reverse=True)
    ops = {each.partition("/")[0] for each in ids}
    alone = {**{each.partition("/")[2]: each for each in ids}, **{each: each for each in ops | named}}
    for pattern in patterns:
        if pattern in named:
            return f" It is a requirement; `opconform list --cases --select {pattern}` lists its cases."
        op, _, rest = pattern.partition("/")
        if op == pattern and op in ops:
            return f" It is an operation; `opconform list {op}` lists its groups."
        inside = {each.partition("/")[2]: each for each in ids if each.partition("/")[0] == op}
        word, known = (rest.partition("/")[0], inside) if rest else (op, alone)
        if near := near_word(word, known):
            return f" Did you mean {known[near]!r}?"
    return ""


def pattern_of(name: str) -> str:
    """The pattern for the name of one case: its id, its digits, or a pattern."""
    return name if "/" in name else f"*/{name}*"


def check_one(name: str, ids: Sequence[str], *, where: str = "", hint: str = "") -> None:
    """Check that one case matches a name, or raise `UsageError`; `where` and `hint` begin with a space."""
    if not ids:
        raise UsageError(f"No case matches {name!r}{where}.{hint or ' `opconform list` lists them.'}")
    if len(ids) > 1:
        some = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
        raise UsageError(f"{len(ids):,} cases match {name!r}: {some}. Name one.")


EVERYTHING = Selection()
