"""An operation of the house with its specs and cases, which the rules look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.model.draft import Draft
from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.specs.every.sample import Samples
from opconform.specs.group import Group, Spec
from opconform.specs.index import cases_folder, shipped_files
from opconform.specs.loader import load_specs
from opconform.specs.requirements import Requirements, requirements_of
from opconform.specs.yaml_document import KEY, Document, read_document
from opconform.suite.selection.selection import EXHAUSTIVE
from opconform.system.resources import REQUIREMENTS
from opconform_runners.tools.house.lacks import Lack

#: The profile whose cases stand for an operation.
CORE = "core"
#: Profiles with too many cases to look at all of them.
TOO_MANY = (EXHAUSTIVE, "functional")
#: With tensors of the profile `large`, which are over the limit of a suite.
_LIMITS = replace(LIMITS, elements=1 << 31)


@dataclass(frozen=True, kw_only=True)
class HouseOperation:
    """An operation of the house, and its specs."""

    specs: Sequence[Spec]
    operation: Operation

    @property
    def name(self) -> str:
        """Its versioned name."""
        return self.operation.name

    @property
    def requirements(self) -> Requirements:
        """Its requirements."""
        return requirements_of(self.name)

    @property
    def groups(self) -> Iterator[Group]:
        """The groups of all its specs."""
        return (group for spec in self.specs for group in spec.groups)

    @property
    def samples(self) -> Samples | None:
        """Its samples, if it has some."""
        return next((group.samples for group in self.groups if group.samples is not None), None)

    @cached_property
    def cases(self) -> Sequence[tuple[Group, Sequence[Draft]]]:
        """The groups with their cases and twins, without the groups of profiles with too many cases."""
        groups = (group for group in self.groups if group.settings.profile not in TOO_MANY)
        return [(group, [*expand(group, limits=_LIMITS)]) for group in groups]

    @property
    def drafts(self) -> Iterator[Draft]:
        """The cases and twins of these groups."""
        return (draft for _, drafts in self.cases for draft in drafts)

    def file(self, name: str) -> str:
        """The name of a file in the folder of its cases."""
        return f"cases/{self.name}/{name}"

    def lack(self, requirement: str, what: str) -> Lack:
        """Something that a requirement lacks, at the line of the requirement."""
        document: Document = read_document(cases_folder() / self.name / REQUIREMENTS, self.file(REQUIREMENTS))
        is_own = requirement in (document.value.get("requirements") or {})
        line = document.place(("requirements", requirement, KEY))[0] if is_own else None
        return Lack(document.file, line, what)

    def group_lack(self, group: Group, what: str) -> Lack:
        """Something that is wrong about a group, at its line."""
        mistake = group.mistake((), what)
        return Lack(mistake.file, mistake.line, mistake.sentence)


def house_operation(op: str) -> HouseOperation:
    """A declared operation with its shipped specs; `SpecMistakes` if these are wrong."""
    files = [path for path in shipped_files().values() if path.parent.name == op]
    return HouseOperation(operation=OPERATIONS[op], specs=tuple(load_specs(files)) if files else ())
