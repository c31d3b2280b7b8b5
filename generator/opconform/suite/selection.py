"""Selecting cases: by profile, and by patterns that match an id or name a requirement."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from opconform.errors import UsageError, nearest

#: The profiles that are left out unless they are named.
NOT_BY_DEFAULT = frozenset({"large"})
#: The name that stands for all the other profiles.
DEFAULT = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which cases are wanted.

    Attributes:
        profiles: The profiles; `default` and none at all stand for every one but the large.
        patterns: Shell patterns of ids, such as `Split-1/axis-*`, or requirements; none at all match everything.
    """

    profiles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def of(self, known: Sequence[str], where: str) -> "Selection":
        """The same selection among the profiles that there are; without a profile all of them.

        Raises:
            UsageError: A profile is named that is not there, or there is none.
        """
        unknown = [each for each in self.profiles if each not in (*known, DEFAULT)]
        if unknown or not known:
            name, names = (unknown or [DEFAULT])[0], [DEFAULT, *known]
            hint = f" {nearest(name, names)}".rstrip() if unknown else ""
            raise UsageError(f"There is no profile {name!r} {where}; there are: {', '.join(names)}.{hint}")
        return self if self.profiles else replace(self, profiles=tuple(known))

    def wants_profile(self, profile: str) -> bool:
        """Whether cases of a profile are wanted."""
        if profile in self.profiles:
            return True
        return (not self.profiles or DEFAULT in self.profiles) and profile not in NOT_BY_DEFAULT

    def wants(self, identity: str, requirements: Sequence[str]) -> bool:
        """Whether a case of a wanted profile is wanted itself."""
        return not self.patterns or any(
            fnmatchcase(identity, each) or fnmatchcase(identity, f"{each}/*") or each in requirements
            for each in self.patterns
        )


def near_miss(patterns: Sequence[str], groups: Iterable[str], requirements: Iterable[str]) -> str:
    """A hint at what is most like a pattern that nothing matches, beginning with a space, or nothing.

    Args:
        patterns: The patterns.
        groups: The groups that there are, as in `Split-1/axis-range`.
        requirements: The requirements that there are.
    """
    ids = sorted(set(groups), reverse=True)
    alone = {**{each.partition("/")[2]: each for each in ids}, **{each: each for each in requirements}}
    for pattern in patterns:
        op, _, rest = pattern.partition("/")
        inside = {each.partition("/")[2]: each for each in ids if each.partition("/")[0] == op}
        word, known = (rest.partition("/")[0], inside) if rest else (op, alone)
        if near := difflib.get_close_matches(word, known, n=1):
            return f" Did you mean {known[near[0]]!r}?"
    return ""


EVERYTHING = Selection()
