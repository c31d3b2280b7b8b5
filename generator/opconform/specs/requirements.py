"""The requirements of an operation: the checkable statements of its specification, from `requirements.yaml`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from opconform.operations import OPERATIONS, REQUIREMENTS, installed_cases
from opconform.specs.diagnostics import validated
from opconform.specs.schema.keys import Keys
from opconform.specs.statements import Statement, statements, violable
from opconform.specs.versions import completed, keys_of
from opconform.specs.yaml_document import KEY, Document, Mistake, Route, SpecMistakes, read_document
from opconform.suite.case import VALID_NODES
from opconform.suite.manifest import Level, Stage
from opconform.suite.names import Line, RequirementId
from opconform.system.resources import root


class Page(Keys):
    """One revision of an operation's specification page."""

    revision: Line = Field(description="The name of this revision in the requirements.")
    page: str = Field(description="The published page.")
    url: str | None = Field(None, pattern=r"^https://", description="The address of the page.")
    other: bool = Field(False, description="Whether it is another page than the operation's; only `sources` name it.")


class Source(Keys):
    """The place of a requirement: a clause, in one or more revisions of the page."""

    revisions: Annotated[tuple[str, ...], Field(min_length=1)]
    clause: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One checkable statement of an operation's specification.

    Attributes:
        text: The statement in the project's own words.
        violable: Whether a case can violate it, so that a backend must reject the case.
        reading: For an interpretation: the project's reading, and its reason.
    """

    id: str
    level: Level
    text: str
    sources: tuple[Source, ...]
    violable: bool
    reading: str | None


class RequirementKeys(Keys):
    """The keys of a requirement. Its clause in place of this mapping is enough where the declaration says the rest."""

    clause: str | None = Field(None, description="Where every revision of the operation's page has it.")
    sources: tuple[Source, ...] = Field((), description="Where the pages have it, if revisions differ.")
    level: Level | None = Field(None, description="An interpretation if it has a `reading`, and otherwise normative.")
    text: str | None = Field(None, description="The statement in the project's own words.")
    reading: str | None = Field(None, description="For an interpretation: the project's reading, and its reason.")


class _File(Keys):
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
    requirements: Annotated[
        Mapping[RequirementId, Annotated[RequirementKeys, BeforeValidator(keys_of)]], Field(min_length=1)
    ]


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """The requirements of an operation, with the pages that have them.

    Attributes:
        establishes: The requirements that are shown to be met when a comparison passes a stage.
    """

    pages: tuple[Page, ...]
    establishes: Mapping[Stage, tuple[str, ...]]
    requirements: tuple[Requirement, ...]

    @cached_property
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
    file = validated(document, _File)
    operation = OPERATIONS.get(op)
    known = {} if operation is None else statements(operation)
    can_be_violated = frozenset({VALID_NODES}) if operation is None else violable(operation)
    revisions = tuple(page.revision for page in file.pages if not page.other)
    requirements = Requirements(
        pages=file.pages,
        establishes=file.establishes,
        requirements=tuple(
            _stated(name, keys, known.get(name), revisions, is_violable=name in can_be_violated)
            for name, keys in file.requirements.items()
        ),
    )
    if mistakes := [*_mistakes(file, requirements, document)]:
        raise SpecMistakes(mistakes)
    return requirements


def _stated(
    name: str, keys: RequirementKeys, known: Statement | None, revisions: tuple[str, ...], *, is_violable: bool
) -> Requirement:
    """A requirement with what follows from the declaration; its text is empty if it has none."""
    text, reading = keys.text, keys.reading
    if text is None and known is not None:
        text, reading = known.text, reading or known.reading
    places = () if keys.clause is None else (Source(revisions=revisions, clause=keys.clause),)
    return Requirement(
        id=name,
        level=keys.level or ("interpretation" if reading else "normative"),
        text=text or "",
        sources=(*places, *keys.sources),
        violable=is_violable,
        reading=reading,
    )


def _mistakes(file: _File, requirements: Requirements, document: Document) -> Iterator[Mistake]:
    for route, sentence in _complaints(file, requirements):
        yield document.mistake(route, sentence)


def _complaints(file: _File, requirements: Requirements) -> Iterator[tuple[Route, str]]:
    revisions, known = {page.revision for page in file.pages}, requirements.by_id
    for item in requirements.requirements:
        route = ("requirements", item.id, KEY)
        if unknown := {revision for source in item.sources for revision in source.revisions} - revisions:
            yield route, f"{item.id}: the revisions {sorted(unknown)} are not among `pages`."
        if not item.sources:
            yield route, f"{item.id}: it needs its `clause`."
        if not item.text:
            yield route, f"{item.id}: it needs its `text`, which does not follow from the declaration of {file.op}."
        if item.level == "interpretation" and not item.reading:
            yield route, f"{item.id}: an interpretation needs its `reading`."
    for stage, names in file.establishes.items():
        for name in {*names} - {*known}:
            yield ("establishes", stage), f"{stage}: {name} is not among the requirements."
        first = known.get(names[0]) if names and stage not in ("nan-payload", "rounding", "node", "reading") else None
        if first is not None and first.level != "normative":
            what = f"{stage}: {first.id} is an interpretation, but wrong outputs break the first requirement"
            yield ("establishes", stage), f"{what}. Name a normative one first."
