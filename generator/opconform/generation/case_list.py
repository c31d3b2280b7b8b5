"""The list of the cases of specs or of a suite."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from opconform.generation.case_files import case_document, case_files
from opconform.generation.expansion import expand
from opconform.generation.options import Limits, Options
from opconform.model.draft import Draft
from opconform.specs.loader import Group, load_specs
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import FILE_LIMIT, Suite, open_suite
from opconform.suite.selection import Selection, near_miss
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCase:
    """A case and the source of its arrays."""

    case: Case
    source: "Draft | tuple[Suite, Entry]"

    def inputs(self) -> dict[str, Array]:
        """The inputs of the first feed."""
        name = inputs_name(0)
        if isinstance(self.source, tuple):
            suite, entry = self.source
            return suite.arrays(entry, name) if name in entry.files else {}
        _, contents = case_files(self.source, Options(dialects=()))
        return arrays_of(contents[name], name, limit=FILE_LIMIT) if name in contents else {}


class CaseList:
    """The cases of a suite or of specs; without a source, of the shipped specs."""

    def __init__(self, sources: Sequence[Path]) -> None:
        """Read the manifest of the suite, or the specs."""
        is_suite = len(sources) == 1 and (sources[0].suffix == ".zip" or (sources[0] / "suite.json").exists())
        self._suite = open_suite(sources[0]) if is_suite else None
        self._groups = [] if is_suite else [each for spec in load_specs(sources) for each in spec.groups]

    def cases(self, selection: Selection, limits: Limits, *, every_profile: bool = False) -> Iterator[ListedCase]:
        """The selected cases, sorted by id; `every_profile` includes profiles that are not selected by default."""
        if self._suite is not None:
            known, where = {each.profile for each in self._suite.entries}, f"in {self._suite.store.root}"
        else:
            known, where = {each.settings.profile for each in self._groups}, "in the specs"
        chosen = selection.of(sorted(known), where)
        selection = chosen if every_profile else selection
        if self._suite is not None:
            for entry in self._suite.entries:
                if selection.wants_profile(entry.profile) and selection.wants(entry.id, entry.requirements):
                    yield ListedCase(case=self._suite.case(entry), source=(self._suite, entry))
        for group in sorted(self._groups, key=lambda each: f"{_name(each)}/"):
            if selection.wants_profile(group.settings.profile):
                for draft in sorted(expand(group, limits=limits), key=lambda each: each.digits):
                    if selection.wants(draft.id, draft.requirements):
                        yield ListedCase(case=case_document(draft, draft.id), source=draft)

    def near_miss(self, patterns: Sequence[str]) -> str:
        """A hint at the closest match for a pattern that matches no case, with a leading space, or nothing."""
        if self._suite is not None:
            names: Iterable[str] = (each.id.rpartition("/")[0] for each in self._suite.entries)
            requirements = [name for each in self._suite.entries for name in each.requirements]
        else:
            names = map(_name, self._groups)
            requirements = [name for each in self._groups for name in each.settings.requirements]
        return near_miss(patterns, names, requirements)


def _name(group: Group) -> str:
    return f"{group.op}/{group.id}"
