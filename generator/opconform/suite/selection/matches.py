"""Which cases match a selection, and which parts of it match none."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from opconform.suite.selection.quick import QUICK, is_quick
from opconform.suite.selection.selection import DEFAULT, NOT_BY_DEFAULT, Selection

#: The characters at which the literal beginning of a pattern ends.
_WILDCARD = re.compile(r"[*?\[]")


class SelectionPart(NamedTuple):
    """One part of a selection, such as a pattern."""

    kind: Literal["pattern", "profile", "operation"]
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What cases can be selected from: the profile of each group by its full name, and the requirements."""

    groups: Mapping[str, str]
    requirements: Collection[str]


class Matches:
    """Decides which cases a selection wants, and whether each of its parts wants any.

    A pattern, profile or operation without a case is a mistake, even if the others have cases.
    """

    def __init__(self, selection: Selection, *, every_profile: bool = False) -> None:
        """Make it; with `every_profile`, a selection without profiles wants all of them."""
        self._selection = selection
        self._every_profile = every_profile and not selection.profiles
        self._open = {
            **{SelectionPart("pattern", pattern): None for pattern in selection.patterns},
            **{SelectionPart("profile", profile): None for profile in selection.profiles},
            **{SelectionPart("operation", operation): None for operation in selection.operations},
        }

    def wants_group(self, group: str, profile: str) -> bool:
        """Whether cases of a group can be selected, given its full name and its profile."""
        return self._every_profile or self._selection.wants(group, profile)

    def may_want(self, group: str, requirements: Collection[str]) -> bool:
        """Whether a case of a group can match the patterns: the group's full name, and its operation's requirements."""
        patterns = self._selection.patterns
        return not patterns or any(can_match(pattern, f"{group}/", requirements) for pattern in patterns)

    def wants(self, identity: str, profile: str, requirements: Collection[str]) -> bool:
        """Whether a case is selected. The parts of the selection that it matches are noted, whatever its shard is."""
        selection = self._selection
        if not self.wants_group(identity, profile) or (selection.ids is not None and identity not in selection.ids):
            return False
        matching = [pattern for pattern in selection.patterns if is_match(pattern, identity, requirements)]
        if selection.patterns and not matching:
            return False
        if self._open:
            self._note(identity, profile, matching)
        return selection.shard is None or selection.shard.holds(identity)

    @property
    def unmatched(self) -> list[SelectionPart]:
        """The parts of the selection that have matched no case."""
        return list(self._open)

    def _note(self, identity: str, profile: str, matching: Collection[str]) -> None:
        for item in (
            *(SelectionPart("pattern", name) for name in matching),
            SelectionPart("profile", profile),
            *((SelectionPart("profile", QUICK),) if is_quick(identity) else ()),
            *(() if profile in NOT_BY_DEFAULT else (SelectionPart("profile", DEFAULT),)),
            SelectionPart("operation", identity.partition("/")[0]),
        ):
            self._open.pop(item, None)


def can_match(pattern: str, beginning: str, requirements: Collection[str]) -> bool:
    """Whether a pattern can match a case whose id has a beginning, such as `Split-1/axis/`, or name a requirement."""
    literal = _WILDCARD.split(pattern)[0]
    return pattern in requirements or beginning.startswith(literal) or literal.startswith(beginning)


def is_match(pattern: str, identity: str, requirements: Collection[str]) -> bool:
    """Whether a pattern matches a case: its id, its group, its operation, or a requirement."""
    if _WILDCARD.search(pattern) is None:  # of which there can be hundreds
        return identity == pattern or identity.startswith(f"{pattern}/") or pattern in requirements
    return fnmatchcase(identity, pattern) or fnmatchcase(identity, f"{pattern}/*")
