"""The list of the cases of specs or of a suite."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from opconform.generation.case_files import case_document
from opconform.generation.expansion import expand
from opconform.generation.options import ONE_CASE, Limits
from opconform.model.draft import Draft
from opconform.model.golden import inputs_of, output_types
from opconform.model.graph import graph_of
from opconform.specs.loader import Spec, load_specs, shipped_files
from opconform.specs.requirements import REQUIREMENTS
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import EXHAUSTIVE, Selection, check_one, near_miss, pattern_of
from opconform.tensors.tensor import Array

#: The id of a group or of a requirement in a shipped file.
_ID = re.compile(r"^ *- id: *(\S+)", re.MULTILINE)
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
    found = list(cases.cases(Selection(patterns=(pattern_of(name),)), ONE_CASE, every_profile=True))
    hint = "" if sources else " `opconform list` lists the shipped cases; use --suite for your own suite or spec."
    check_one(name, [each.case.id for each in found], hint="" if found else cases.near_miss([name]) or hint)
    return found[0]


def specs_of_case(name: str) -> list[Spec]:
    """The shipped specs with the groups that can have a case, which is named as in `one_case`.

    The other files are not loaded, since that takes time. Groups of the profile `exhaustive` must be named.
    """
    files = _shipped_groups()
    patterns = [pattern_of(name), name.rpartition("/")[0]]
    groups = {each for each in files if any(fnmatchcase(each, pattern) for pattern in patterns)}
    if _DIGITS.fullmatch(name) or (not groups and not _WILD.isdisjoint(name)):  # `*` may match the `/` before digits
        groups = {each for each, file in files.items() if file.stem != EXHAUSTIVE}
    return load_specs(sorted({files[each] for each in groups}), groups) if groups else []


def _shipped_groups() -> dict[str, Path]:
    """The file of each shipped group, by the group's full name."""
    files = shipped_files().values()
    return {f"{each.parent.name}/{name}": each for each in files for name in _ID.findall(each.read_text())}


class CaseList:
    """The cases of a suite or of specs; by default of the shipped specs, or of those groups that can have a `case`."""

    def __init__(self, sources: Sequence[Path], *, case: str = "") -> None:
        is_suite = len(sources) == 1 and (sources[0].suffix == ".zip" or (sources[0] / "suite.json").exists())
        self._suite = open_suite(sources[0]) if is_suite else None
        self._is_part = not sources and bool(case)
        specs = [] if is_suite else specs_of_case(case) if self._is_part else load_specs(sources)
        self._groups = [each for spec in specs for each in spec.groups]

    def cases(self, selection: Selection, limits: Limits, *, every_profile: bool = False) -> Iterator[ListedCase]:
        """The selected cases, sorted by id; `every_profile` includes profiles that are not selected by default."""
        if self._suite is not None:
            known, where = {each.profile for each in self._suite.entries}, f"in {self._suite.store.root}"
        else:
            known, where = {each.settings.profile for each in self._groups}, "in the specs"
        if not known:
            return
        chosen = selection.of(sorted(known), where)
        selection = chosen if every_profile else selection
        if self._suite is not None:
            for entry in self._suite.entries:
                if selection.wants_profile(entry.profile) and selection.wants(entry.id, entry.requirements):
                    case = self._suite.case(entry)
                    yield ListedCase(case=case, feeds=partial(_stored, self._suite, entry, case.feeds))
        for group in sorted(self._groups, key=lambda each: f"{each.full_name}/"):
            if selection.wants_profile(group.settings.profile):
                for draft in sorted(expand(group, limits=limits), key=lambda each: each.digits):
                    if selection.wants(draft.id, draft.requirements):
                        outputs = output_types(draft, 0) if draft.rejected_for is None else ()
                        case = case_document(draft, graph_of(draft), draft.id, outputs)
                        yield ListedCase(case=case, feeds=partial(_filled, draft))

    def near_miss(self, patterns: Sequence[str]) -> str:
        """A hint at the closest match for a pattern that matches no case, with a leading space, or nothing."""
        if self._suite is not None:
            names: Iterable[str] = (each.id.rpartition("/")[0] for each in self._suite.entries)
            requirements = [name for each in self._suite.entries for name in each.requirements]
        elif self._is_part:
            names, folders = _shipped_groups(), {each.parent for each in shipped_files().values()}
            requirements = [name for each in folders for name in _ID.findall((each / REQUIREMENTS).read_text())]
        else:
            names = [each.full_name for each in self._groups]
            requirements = [name for each in self._groups for name in each.settings.requirements]
        return near_miss(patterns, names, requirements)


def _stored(suite: Suite, entry: Entry, feeds: int) -> Sequence[Mapping[str, Array]]:
    return [suite.arrays(entry, inputs_name(feed)) for feed in range(feeds)]


def _filled(draft: Draft) -> Sequence[Mapping[str, Array]]:
    return [{name: each.array for name, each in feed.items()} for feed in inputs_of(draft, seed=0)]
