"""The list of the cases of specs or of a suite."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from opconform.generation.case_files import case_document
from opconform.generation.expansion import expand
from opconform.generation.options import Limits
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.specs.loader import load_specs
from opconform.suite.case import Case
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection, near_miss
from opconform.tensors.tensor import Array

_INPUTS = inputs_name(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCase:
    """A case, and a function that gives the inputs of its first feed."""

    case: Case
    inputs: Callable[[], Mapping[str, Array]]


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
                    yield ListedCase(case=self._suite.case(entry), inputs=partial(self._suite.arrays, entry, _INPUTS))
        for group in sorted(self._groups, key=lambda each: f"{each.full_name}/"):
            if selection.wants_profile(group.settings.profile):
                for draft in sorted(expand(group, limits=limits), key=lambda each: each.digits):
                    if selection.wants(draft.id, draft.requirements):
                        yield ListedCase(case=case_document(draft, draft.id), inputs=partial(_inputs, draft))

    def near_miss(self, patterns: Sequence[str]) -> str:
        """A hint at the closest match for a pattern that matches no case, with a leading space, or nothing."""
        if self._suite is not None:
            names: Iterable[str] = (each.id.rpartition("/")[0] for each in self._suite.entries)
            requirements = [name for each in self._suite.entries for name in each.requirements]
        else:
            names = [each.full_name for each in self._groups]
            requirements = [name for each in self._groups for name in each.settings.requirements]
        return near_miss(patterns, names, requirements)


def _inputs(draft: Draft) -> Mapping[str, Array]:
    return {name: each.array for name, each in golden_of(draft, seed=0).inputs[0].items()}
