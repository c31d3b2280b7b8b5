"""The cases of specs or of a suite, for `list` and `show`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from opconform.generation.case_files import case_document, case_files
from opconform.generation.expansion import expand
from opconform.generation.options import Limits, Recipe
from opconform.model.draft import Draft
from opconform.specs.loader import load_specs
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import FILE_LIMIT, Suite, open_suite
from opconform.suite.selection import Selection, near_miss
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A case and the source of its arrays."""

    case: Case
    source: "Draft | tuple[Suite, Entry]"

    def inputs(self) -> dict[str, Array]:
        """The inputs of the first feed."""
        name = inputs_name(0)
        if isinstance(self.source, tuple):
            suite, entry = self.source
            return suite.arrays(entry, name) if name in entry.files else {}
        contents = case_files(self.source, Recipe(seed=0, dialects=(), blind=False)).contents
        return arrays_of(contents[name], name, limit=FILE_LIMIT) if name in contents else {}


def listed(
    sources: Sequence[Path], selection: Selection, limits: Limits, *, every_profile: bool = False
) -> Iterator[Listed]:
    """The selected cases of a suite or of specs; without a source, of the shipped specs.

    Args:
        sources: The suite, or the specs.
        selection: The selection.
        limits: The limits of an expansion.
        every_profile: Whether a selection without profiles includes all of them.

    Raises:
        SpecMistakes: A spec has mistakes.
        SuiteError: The suite is damaged.
        UsageError: A named profile does not exist.
    """
    if len(sources) == 1 and _is_suite(sources[0]):
        suite = open_suite(sources[0])
        chosen = selection.of(sorted({each.profile for each in suite.entries}), f"in {sources[0]}")
        selection = chosen if every_profile else selection
        for entry in suite.entries:
            if selection.wants_profile(entry.profile) and selection.wants(entry.id, entry.requirements):
                yield Listed(case=suite.case(entry), source=(suite, entry))
        return
    groups = [each for spec in load_specs(sources) for each in spec.groups]
    chosen = selection.of(sorted({each.settings.profile for each in groups}), "in the specs")
    selection = chosen if every_profile else selection
    wanted = [each for each in groups if selection.wants_profile(each.settings.profile)]
    for group in sorted(wanted, key=lambda each: f"{each.op}/{each.id}/"):
        for draft in sorted(expand(group, limits=limits), key=lambda each: each.digits):
            if selection.wants(draft.id, draft.requirements):
                yield Listed(case=case_document(draft, draft.id), source=draft)


def near_miss_of(sources: Sequence[Path], patterns: Sequence[str]) -> str:
    """A hint at the closest match for a pattern that matches no case, with a leading space, or an empty string."""
    if len(sources) == 1 and _is_suite(sources[0]):
        entries = open_suite(sources[0]).entries
        requirements = (name for each in entries for name in each.requirements)
        return near_miss(patterns, (each.id.rpartition("/")[0] for each in entries), requirements)
    groups = [each for spec in load_specs(sources) for each in spec.groups]
    requirements = (name for each in groups for name in each.settings.requirements)
    return near_miss(patterns, (f"{each.op}/{each.id}" for each in groups), requirements)


def _is_suite(path: Path) -> bool:
    return path.suffix == ".zip" or (path / "suite.json").exists()
