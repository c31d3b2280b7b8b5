"""The groups of the shipped specs with their kinds of cases: from the index, and expanded only where that is needed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import SpecError
from opconform.specs.index import CaseKind, Index, index_of, shipped_files, shipped_requirements, specified_operations
from opconform.specs.operation_names import check_named, named_operations
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Known, Matches
from opconform.suite.selection.quick import quick_cases
from opconform.suite.selection.reach import check_groups, pattern_reach
from opconform.suite.selection.selection import Selection

if TYPE_CHECKING:
    from opconform.generation.options import Limits
    from opconform.specs.group import Group

#: The digits that stand for the digits of any case.
_ANY = "0" * 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedGroup:
    """A group by its full name, the kinds of its selected cases, and how many pairs have none, by reason."""

    id: str
    profile: str
    title: str
    kinds: Sequence[CaseKind]
    left_out: Mapping[str, int] = field(default_factory=dict)


def shipped_operations_in(paths: Sequence[Path]) -> tuple[str, ...] | None:
    """The shipped operations that paths name, without paths all; None if a path is not the name of one."""
    if not paths:
        return specified_operations()
    named = [name for name in named_operations(paths) if name in specified_operations()]
    return tuple(dict.fromkeys(named)) if len(named) == len(paths) else None


def check_selection(paths: Sequence[Path], selection: Selection) -> None:
    """Raise `UsageError` for a part of a selection that matches nothing in shipped specs; other specs are not checked.

    A selection without mistakes here may still match no case.
    """
    check_named(paths)
    ops = shipped_operations_in(paths)
    if ops is None:
        return
    try:
        groups = ShippedGroups(ops)
    except SpecError:  # reported with all other mistakes when the specs are loaded
        return
    check_groups(selection, groups.profiles, groups.known)
    lost = tuple(x for x in selection.patterns if not groups.reached(replace(selection, patterns=(x,))))
    if lost:
        check_matches(Matches(replace(selection, patterns=lost)), groups.known)


class ShippedGroups:
    """The groups of some shipped operations."""

    def __init__(self, ops: Collection[str]) -> None:
        """Read the index, and the files that differ from it; `SpecMistakes` with the mistakes in those."""
        self._index: Index = index_of(ops)
        self._changed: Mapping[str, Group] = {}
        if self._index.changed:
            self._changed = {group.full_name: group for group in self._loaded(self._index.changed)}
            repeated = {self._index.groups[name].file for name in self._changed if name in self._index.groups}
            if repeated:
                self._loaded(sorted({*self._index.changed, *repeated}))  # which reports the ids

    @cached_property
    def profiles(self) -> Mapping[str, str]:
        """The profile of each group, by full name."""
        changed = {name: group.settings.profile for name, group in self._changed.items()}
        return {**{name: group.profile for name, group in self._index.groups.items()}, **changed}

    def known(self) -> Known:
        """What cases can be selected from."""
        kinds = (kind for group in self._index.groups.values() for kind in group.kinds or ())
        changed = (name for group in self._changed.values() for name in group.settings.requirements)
        return Known(groups=self.profiles, requirements={*changed, *(x for kind in kinds for x in kind.requirements)})

    def reached(self, selection: Selection) -> list[str]:
        """The full names of the groups that may have selected cases, sorted as their cases are."""
        names = (name for name, profile in self.profiles.items() if selection.wants(name, profile))
        return sorted((x for x in names if self._may_want(x, selection.patterns)), key=lambda x: f"{x}/")

    def load(self, names: Collection[str]) -> "list[Group]":
        """The groups with some full names, as the loader gives them."""
        files = {self._index.groups[name].file for name in names if name not in self._changed}
        loaded = self._loaded(sorted(files), names) if files else ()
        return [*loaded, *(group for name, group in self._changed.items() if name in names)]

    def selected(self, selection: Selection) -> list[ListedGroup]:
        """The groups with selected cases, sorted; a `UsageError` for each part of the selection that matches none."""
        if not self.profiles:
            return []
        selection.check_profiles(self.profiles, "in the specs")
        matches = Matches(selection)
        listed: list[ListedGroup] = []
        counted: list[str] = []
        for name in self.reached(selection):
            kinds = self._indexed_kinds(name, selection)
            if kinds is None:
                counted.append(name)
                continue
            for kind in kinds:
                for digits in (_ANY, *kind.quick[:1]):
                    matches.wants(f"{name}/{digits}", self.profiles[name], kind.requirements)
            title, left_out = self._index.groups[name].title, self._index.groups[name].left_out
            listed.append(
                ListedGroup(id=name, profile=self.profiles[name], title=title, kinds=kinds, left_out=left_out)
            )
        listed += self._counted(counted, matches) if counted else ()
        check_matches(matches, self.known)
        return sorted((group for group in listed if group.kinds), key=lambda x: f"{x.id}/")

    def _may_want(self, name: str, patterns: Sequence[str]) -> bool:
        group = self._index.groups.get(name)
        if not patterns:
            return True
        if group is None or group.kinds is None or name in self._index.outdated:
            return pattern_reach(patterns, name, shipped_requirements(name.partition("/")[0])) != "none"
        return any(pattern_reach(patterns, name, kind.requirements) != "none" for kind in group.kinds)

    def _indexed_kinds(self, name: str, selection: Selection) -> list[CaseKind] | None:
        """The kinds of the selected cases of a group as the index has them; None if it has to be expanded."""
        group = self._index.groups.get(name)
        if group is None or group.kinds is None or name in self._index.outdated or name in self._changed:
            return None
        reaches = [pattern_reach(selection.patterns, name, kind.requirements) for kind in group.kinds]
        if "some" in reaches:
            return None
        wanted = [kind for kind, reach in zip(group.kinds, reaches, strict=True) if reach == "all"]
        if selection.wants_profile(group.profile):
            return wanted
        known = {f"{name}/{digits}" for kind in group.kinds for digits in kind.quick}
        if known != {*quick_cases().get(name, ())}:
            return None
        return [kind._replace(cases=len(kind.quick)) for kind in wanted if kind.quick]

    def _counted(self, names: Collection[str], matches: Matches) -> Iterator[ListedGroup]:
        """The groups with some names, expanded; `SpecMistakes` of all of them."""
        from opconform.generation.options import LIMITS
        from opconform.specs.yaml_document import Mistake, SpecMistakes

        mistakes: list[Mistake] = []
        for group in self.load(names):
            try:
                kinds = kinds_of(group, LIMITS, matches)
            except SpecMistakes as error:
                mistakes.extend(error.mistakes)
                continue
            yield ListedGroup(
                id=group.full_name,
                profile=group.settings.profile,
                title=group.settings.title,
                kinds=kinds,
                left_out=left_out_of(group),
            )
        if mistakes:
            raise SpecMistakes(mistakes)

    def _loaded(self, files: Iterable[str], only: Collection[str] | None = None) -> "list[Group]":
        from opconform.specs.loader import load_specs

        return [group for spec in load_specs([shipped_files()[x] for x in files], only) for group in spec.groups]


def kinds_of(group: "Group", limits: "Limits", matches: Matches | None = None) -> list[CaseKind]:
    """The kinds of a group's cases, of those that match; the group is expanded."""
    from opconform.generation.expansion import expand

    profile = group.settings.profile
    drafts = [
        draft
        for draft in sorted(expand(group, limits=limits), key=lambda x: x.digits)
        if matches is None or matches.wants(draft.id, profile, draft.requirements)
    ]
    return counted_kinds((draft.id, draft.rejected_for, draft.requirements) for draft in drafts)


def left_out_of(group: "Group") -> Mapping[str, int]:
    """How many pairs of operations have no case in a group, by reason; none in a group without pairs."""
    from opconform.generation.pairs.derivation import pairs_of
    from opconform.specs.schema.graph import PairGroup

    if not isinstance(group.settings, PairGroup):
        return {}
    return pairs_of(group.settings.pairs, group.settings.last).left_out


def counted_kinds(cases: Iterable[tuple[str, str | None, Sequence[str]]]) -> list[CaseKind]:
    """The kinds of some cases of a group: of each its id, the violated requirement, and those that it lists."""
    counts: Counter[tuple[str | None, tuple[str, ...]]] = Counter()
    quick: dict[tuple[str | None, tuple[str, ...]], list[str]] = {}
    for id_, violated, requirements in cases:
        kind = (violated, tuple(requirements))
        counts[kind] += 1
        group, _, digits = id_.rpartition("/")
        if id_ in quick_cases().get(group, ()):
            quick.setdefault(kind, []).append(digits)
    return [CaseKind(count, *kind, tuple(quick.get(kind, ()))) for kind, count in counts.items()]
