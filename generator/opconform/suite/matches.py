"""Which cases match a selection, and the error for each part of it that matches none."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from opconform.errors import UsageError, near_word
from opconform.suite.selection import DEFAULT, NOT_BY_DEFAULT, Selection


class _Part(NamedTuple):
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
            **{_Part("pattern", each): None for each in selection.patterns},
            **{_Part("profile", each): None for each in selection.profiles},
            **{_Part("operation", each): None for each in selection.operations},
        }

    def wants_profile(self, profile: str) -> bool:
        """Whether cases of a profile can be selected."""
        return self._every_profile or self._selection.wants_profile(profile)

    def wants(self, identity: str, profile: str, requirements: Collection[str]) -> bool:
        """Whether a case is selected. The parts of the selection that it matches are noted, whatever its shard is."""
        selection = self._selection
        if not self.wants_profile(profile) or (selection.ids is not None and identity not in selection.ids):
            return False
        matching = [each for each in selection.patterns if is_match(each, identity, requirements)]
        if selection.patterns and not matching:
            return False
        if self._open:
            self._note(identity, profile, matching)
        return selection.shard is None or selection.shard.holds(identity)

    @property
    def unmatched(self) -> list[str]:
        """The parts of the selection that have matched no case."""
        return [each.name for each in self._open]

    def check(self, known: Callable[[], Known], *, within: str = "", otherwise: str = "") -> None:
        """Raise `UsageError` with one line for each part that has matched no case.

        `within` names the suite, as in ` of suite`; `otherwise` is the hint where nothing is similar. Both begin with a
        space.
        """
        wrong = [each for each in self._open if each.kind == "pattern"] or list(self._open)  # the rest may follow
        if wrong:
            there = known()
            raise UsageError("\n".join(self._sentence(each, there, within, otherwise) for each in wrong))

    def _note(self, identity: str, profile: str, matching: Collection[str]) -> None:
        for each in (
            *(_Part("pattern", name) for name in matching),
            _Part("profile", profile),
            *(() if profile in NOT_BY_DEFAULT else (_Part("profile", DEFAULT),)),
            _Part("operation", identity.partition("/")[0]),
        ):
            self._open.pop(each, None)

    def _sentence(self, part: _Part, known: Known, within: str, otherwise: str) -> str:
        match part.kind:
            case "pattern":
                hint = self._unselected(part.name, known) or near_miss(part.name, known) or otherwise
                return f"No case{within} matches {part.name!r}.{hint}"
            case "profile":
                advice = "Select other cases, or leave the profile out."
                return f"No selected case{within} is of the profile {part.name}. {advice}"
            case "operation":
                profiles = {each for name, each in known.groups.items() if name.startswith(f"{part.name}/")}
                hint = "Select others, or leave it out."
                if not any(map(self.wants_profile, profiles)):
                    hint = f"Its profiles: {', '.join(sorted(profiles))}."
                return f"No selected case{within} is of {part.name}. {hint}"

    def _unselected(self, pattern: str, known: Known) -> str:
        """A hint at the profiles of the cases that only the pattern matches, or nothing."""
        patterns = (pattern, "/".join(pattern.split("/")[:2]))  # of a case's id, its group
        groups = {name: each for name, each in known.groups.items() if not self.wants_profile(each)}
        found = sorted({each for name, each in groups.items() if any(is_match(one, name, ()) for one in patterns)})
        several = "one of the profiles" if len(found) > 1 else "the profile"
        return f" Its cases are of {several} {', '.join(found)}, which is not selected." if found else ""


def is_match(pattern: str, identity: str, requirements: Collection[str]) -> bool:
    """Whether a pattern matches a case: its id, its group, its operation, or a requirement."""
    return fnmatchcase(identity, pattern) or fnmatchcase(identity, f"{pattern}/*") or pattern in requirements


def near_miss(pattern: str, known: Known) -> str:
    """A hint at the group or requirement nearest to a pattern without matches, with a leading space, or nothing.

    A requirement matches no single case, so its own name gets the command that lists its cases.
    """
    named = set(known.requirements)
    ids = sorted(known.groups, reverse=True)
    ops = {each.partition("/")[0] for each in ids}
    alone = {**{each.partition("/")[2]: each for each in ids}, **{each: each for each in ops | named}}
    if pattern in named:
        return f" It is a requirement; `opconform list --cases --select {pattern}` lists its cases."
    op, _, rest = pattern.partition("/")
    if op == pattern and op in ops:
        return f" It is an operation; `opconform list {op}` lists its groups."
    inside = {each.partition("/")[2]: each for each in ids if each.partition("/")[0] == op}
    word, names = (rest.partition("/")[0], inside) if rest else (op, alone)
    near = near_word(word, names)
    return f" Did you mean {names[near]!r}?" if near else ""
