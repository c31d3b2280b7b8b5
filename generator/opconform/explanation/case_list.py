"""The list of the cases of specs or of a suite."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from opconform.explanation.shipped_groups import ShippedGroups, shipped_operations_in
from opconform.generation.case_files import case_document
from opconform.generation.expansion import expand, specs_of
from opconform.generation.options import LIMITS, ONE_CASE, Limits
from opconform.generation.pipeline import known_of
from opconform.model.draft import Draft
from opconform.model.golden import inputs_of, output_types
from opconform.model.graph import graph_of
from opconform.specs.group import Group, Spec
from opconform.specs.index import shipped_groups, shipped_requirements, specified_operations
from opconform.specs.loader import load_specs
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import Mistake, SpecMistakes
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.hints import check_matches, near_miss
from opconform.suite.selection.matches import Known, Matches
from opconform.suite.selection.selection import EXHAUSTIVE, PAIRS, Selection, check_one, pattern_of
from opconform.tensors.tensor import Array

_DIGITS = re.compile(r"[0-9a-f]{1,10}")
_WILD = frozenset("*?[")


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCase:
    """A case, and a function that gives the inputs of each feed."""

    case: Case
    feeds: Callable[[], Sequence[Mapping[str, Array]]]


def one_case(name: str, sources: Sequence[Path] = ()) -> ListedCase:
    """The only case of a suite or of specs, by default the shipped ones, that has an id, digits or a pattern."""
    cases = CaseList(sources, case=name)
    matching = list(cases.matching(Matches(Selection(patterns=(pattern_of(name),)), every_profile=True), ONE_CASE))
    hint = "" if sources else " `opconform list` lists the shipped cases; use --suite for your own suite or spec."
    check_one(
        name, [listed.case.id for listed in matching], hint="" if matching else near_miss(name, cases.known()) or hint
    )
    return matching[0]


def specs_of_case(name: str) -> list[Spec]:
    """The shipped specs with the groups that can have a case, which is named as in `one_case`.

    The other files are not loaded, since that takes time. Groups of the profiles `exhaustive` and `pairs` must be
    named.
    """
    files = shipped_groups()
    patterns = [pattern_of(name), name.rpartition("/")[0]]
    groups = {file for file in files if any(fnmatchcase(file, pattern) for pattern in patterns)}
    if _DIGITS.fullmatch(name) or (not groups and not _WILD.isdisjoint(name)):  # `*` may match the `/` before digits
        groups = {key for key, file in files.items() if file.stem not in (EXHAUSTIVE, PAIRS)}
    return load_specs(sorted({files[group] for group in groups}), groups) if groups else []


class CaseList:
    """The cases of a suite or of specs; by default of the shipped specs, or of those groups that can have a `case`.

    Of shipped specs, only the groups that a selection reaches are loaded.
    """

    def __init__(self, sources: Sequence[Path], *, case: str = "") -> None:
        is_suite = len(sources) == 1 and (sources[0].suffix == ".zip" or (sources[0] / "suite.json").exists())
        self._suite = open_suite(sources[0]) if is_suite else None
        self._is_part = not sources and bool(case)
        ops = shipped_operations_in(sources) if not is_suite and not self._is_part else None
        self._shipped = None if ops is None else ShippedGroups(ops)
        self._groups: list[Group] = []
        if self._suite is None and self._shipped is None:
            specs = specs_of_case(case) if self._is_part else specs_of(sources, seed=0, limits=LIMITS)
            self._groups = [group for spec in specs for group in spec.groups]

    def selected(self, selection: Selection, limits: Limits) -> list[ListedCase]:
        """The selected cases, sorted by id, or a `UsageError` for each part of the selection that matches none."""
        suite = self._suite
        where = "in the specs" if suite is None else f"in {suite.store.root}"
        if not (groups := self.known().groups):
            return []
        selection.check_profiles(groups, where)
        if self._shipped is not None:
            self._groups = self._shipped.load(self._shipped.reached(selection))
        matches = Matches(selection)
        listed = list(self.matching(matches, limits))
        check_matches(matches, self.known, within="" if suite is None else f" of {suite.store.root}")
        return listed

    def matching(self, matches: Matches, limits: Limits) -> Iterator[ListedCase]:
        """The cases that are wanted, sorted by id; at the end `SpecMistakes` of all groups that have some."""
        if self._suite is not None:
            for entry in self._suite.entries:
                if matches.wants(entry.id, entry.profile, entry.requirements):
                    case = self._suite.case(entry)
                    yield ListedCase(case=case, feeds=partial(_stored, self._suite, entry, case.feeds))
        mistakes: list[Mistake] = []
        for group in sorted(self._groups, key=lambda x: f"{x.full_name}/"):
            profile = group.settings.profile
            known = requirements_of(group.op).by_id
            if matches.wants_group(group.full_name, profile) and matches.may_want(group.full_name, known):
                try:
                    drafts = sorted(expand(group, limits=limits), key=lambda x: x.digits)
                except SpecMistakes as error:
                    mistakes.extend(error.mistakes)
                    continue
                for draft in drafts:
                    if matches.wants(draft.id, profile, draft.requirements):
                        outputs = output_types(draft, 0) if draft.rejected_for is None else ()
                        case = case_document(draft, graph_of(draft), draft.id, outputs)
                        yield ListedCase(case=case, feeds=partial(_filled, draft))
        if mistakes:
            raise SpecMistakes(mistakes)

    def known(self) -> Known:
        """What cases can be selected from; of the groups of one shipped case, all that is shipped."""
        if self._suite is not None:
            return self._suite.known()
        if self._shipped is not None:
            return self._shipped.known()
        if not self._is_part:
            return known_of(self._groups)
        requirements = {name for op in specified_operations() for name in shipped_requirements(op)}
        return Known(groups=dict.fromkeys(shipped_groups(), ""), requirements=requirements)


def _stored(suite: Suite, entry: Entry, feeds: int) -> Sequence[Mapping[str, Array]]:
    return [suite.arrays(entry, inputs_name(feed)) for feed in range(feeds)]


def _filled(draft: Draft) -> Sequence[Mapping[str, Array]]:
    return [{name: tensor.array for name, tensor in feed.items()} for feed in inputs_of(draft, seed=0)]
