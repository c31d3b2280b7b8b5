"""What the specification says about an operation, as this version of opconform has it."""

from collections.abc import Mapping
from typing import NamedTuple

from opconform.errors import SpecError
from opconform.specs.requirements import Page, Requirement, requirements_of


def requirement_texts(op: str) -> Mapping[str, str]:
    """The text of each requirement of an operation, by id."""
    return {name: requirement.text for name, requirement in requirements_of(op).by_id.items()}


def specified(op: str, name: str, text: str) -> Requirement | None:
    """The requirement of an operation with an id and a text, or None where this version has another text or none."""
    try:
        requirement = requirements_of(op).by_id.get(name)
    except SpecError:
        return None
    return requirement if requirement is not None and requirement.text == text else None


class Place(NamedTuple):
    """The clause of a requirement in the newest revision of its page, and the address of that page, if it has one."""

    clause: str
    url: str | None


def place_of(op: str, name: str, text: str) -> Place | None:
    """The place of a requirement in the specification, or None where this version has another text or none."""
    known = specified(op, name, text)
    source = None if known is None else known.sources[0]
    return None if source is None else Place(source.clause, pages_of(op)[source.revisions[-1]].url)


def pages_of(op: str) -> dict[str, Page]:
    """The pages of an operation's specification by revision; none for an operation of another version of opconform."""
    try:
        return {page.revision: page for page in requirements_of(op).pages}
    except SpecError:
        return {}
