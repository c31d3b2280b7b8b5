"""The requirements of an operation: the checkable statements of its specification, from `requirements.yaml`."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from opconform.operations import REQUIREMENTS, installed_cases
from opconform.specs.diagnostics import validated
from opconform.specs.schema.keys import Keys
from opconform.specs.versions import completed
from opconform.specs.yaml_document import Route, SpecMistakes, read_document
from opconform.suite.manifest import Level, Stage
from opconform.suite.names import Line, RequirementId
from opconform.system.resources import root


class Page(Keys):
    """One revision of an operation's specification page."""

    revision: Line = Field(description="The name of this revision in the requirements.")
    page: str = Field(description="The published page.")
    url: str | None = Field(None, pattern=r"^https://", description="The address of the page.")


class Source(Keys):
    """The place of a requirement: a clause, in one or more revisions of the page."""

    revisions: Annotated[tuple[str, ...], Field(min_length=1)]
    clause: str


class Requirement(Keys):
    """One checkable statement of an operation's specification."""

    id: RequirementId
    level: Level
    text: str = Field(description="The statement in the project's own words.")
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]
    violable: bool = Field(description="Whether a case can violate it, so that a backend must reject the case.")
    reading: str | None = Field(None, description="For an interpretation: the project's reading, and its reason.")


class Requirements(Keys):
    """The document `requirements.yaml`."""

    op: str
    like: str | None = Field(None, description="Another version, whose requirements these are but for what differs.")
    without: tuple[str, ...] = Field((), description="The requirements of that version that this one does not have.")
    pages: Annotated[tuple[Page, ...], Field(min_length=1)]
    establishes: Mapping[Stage, tuple[str, ...]] = Field(
        default_factory=dict,
        description="The requirements that are shown to be met when a comparison passes a stage, the one first that a "
        "failure of the stage breaks in a case without another one; under `nan-payload`, those only on NaN payloads, "
        "under `open`, the one on elements that other readings have otherwise, and under `value-1`, those on values of "
        "the second output alone.",
    )
    requirements: Annotated[tuple[Requirement, ...], Field(min_length=1)]

    @property
    def by_id(self) -> Mapping[str, Requirement]:
        """The requirements by their ids."""
        return {requirement.id: requirement for requirement in self.requirements}


def cases_of(op: str) -> Path:
    """The folder with an operation's requirements and cases, which is missing for an operation that is not tested."""
    return installed_cases(op) or Path(str(root() / "cases" / op))


@cache
def requirements_of(op: str) -> Requirements:
    """The requirements of an operation; `SpecMistakes` if their file is wrong."""
    document = read_document(cases_of(op) / REQUIREMENTS, f"cases/{op}/{REQUIREMENTS}")
    document = completed(document, REQUIREMENTS, cases_of)
    requirements = validated(document, Requirements)
    mistakes = [document.mistake(route, sentence) for route, sentence in _complaints(requirements)]
    if mistakes:
        raise SpecMistakes(mistakes)
    return requirements


def _complaints(file: Requirements) -> Iterator[tuple[Route, str]]:
    revisions, ids = {page.revision for page in file.pages}, [requirement.id for requirement in file.requirements]
    for index, item in enumerate(file.requirements):
        route = ("requirements", index)
        if unknown := {revision for source in item.sources for revision in source.revisions} - revisions:
            yield route, f"{item.id}: the revisions {sorted(unknown)} are not among `pages`."
        if item.level == "interpretation" and not item.reading:
            yield route, f"{item.id}: an interpretation needs its `reading`."
        if item.id in ids[:index]:
            yield route, f"{item.id}: the id is repeated."
    for stage, names in file.establishes.items():
        for name in {*names} - {*ids}:
            yield ("establishes", stage), f"{stage}: {name} is not among the requirements."
        first = (
            file.by_id.get(names[0]) if names and stage not in ("nan-payload", "rounding", "node", "reading") else None
        )
        if first is not None and first.level != "normative":
            what = f"{stage}: {first.id} is an interpretation, but wrong outputs break the first requirement"
            yield ("establishes", stage), f"{what}. Name a normative one first."
