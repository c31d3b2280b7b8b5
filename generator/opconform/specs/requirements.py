"""The requirements of an operation: the checkable statements of its specification, from `requirements.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opconform.resources import root
from opconform.specs.diagnostics import mistakes_of
from opconform.specs.document import SpecMistakes, read_document
from opconform.suite.manifest import Level, Stage

_FILE = "requirements.yaml"


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(_Keys):
    """One revision of an operation's specification page."""

    revision: str = Field(description="What the requirements call this revision.")
    page: str = Field(description="The page, as it is published.")


class Source(_Keys):
    """The place of a requirement: a clause, in one or more revisions of the page."""

    revisions: Annotated[tuple[str, ...], Field(min_length=1)]
    clause: str


class Requirement(_Keys):
    """One checkable statement of an operation's specification."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9_]+([.-][a-z0-9_]+)*$")]
    level: Level
    text: str = Field(description="The statement, in our own words.")
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    violable: bool = Field(description="Whether a case can violate it, so that a backend must refuse the case.")
    reading: str | None = Field(None, description="For an interpretation: what we read, and why.")


class Requirements(_Keys):
    """The document `requirements.yaml`."""

    op: str
    pages: Annotated[tuple[Page, ...], Field(min_length=1)]
    establishes: Mapping[Stage, tuple[str, ...]] = Field(
        default_factory=dict,
        description="The requirements that a comparison which got past a stage has shown to be kept; at `nan-payload` "
        "those that are about nothing but what a NaN carries.",
    )
    requirements: Annotated[tuple[Requirement, ...], Field(min_length=1)]

    @property
    def by_id(self) -> Mapping[str, Requirement]:
        """The requirements by their ids."""
        return {each.id: each for each in self.requirements}


@cache
def requirements_of(op: str) -> Requirements:
    """The requirements of an operation.

    Raises:
        SpecMistakes: The file is wrong.
    """
    path = Path(str(root() / "cases" / op / _FILE))
    document = read_document(path, f"cases/{op}/{_FILE}")
    try:
        found = Requirements.model_validate(document.value)
    except ValidationError as fault:
        raise SpecMistakes(mistakes_of(fault, document, Requirements)) from fault
    revisions = {each.revision for each in found.pages}
    ids = [each.id for each in found.requirements]
    mistakes = [
        document.mistake(("requirements", index), f"{each.id}: {sentence}")
        for index, each in enumerate(found.requirements)
        for sentence in _faults(each, revisions, ids[:index])
    ]
    mistakes += [
        document.mistake(("establishes", stage), f"{stage}: {name} is not among the requirements.")
        for stage, names in found.establishes.items()
        for name in names
        if name not in ids
    ]
    if mistakes:
        raise SpecMistakes(mistakes)
    return found


def _faults(requirement: Requirement, revisions: set[str], earlier: list[str]) -> list[str]:
    needs_reading = requirement.level == "interpretation" and not requirement.reading
    unknown = {each for source in requirement.sources for each in source.revisions} - revisions
    return [
        *([f"the revisions {sorted(unknown)} are not among `pages`."] if unknown else []),
        *(["an interpretation needs its `reading`."] if needs_reading else []),
        *(["the id is repeated."] if requirement.id in earlier else []),
    ]
