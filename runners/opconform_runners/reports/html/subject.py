"""A run on the page, and the links into the page."""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from opconform.suite.reader import Suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.matrix import Column

#: The most characters of a sentence.
_LONGEST = 1_500


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A run on the page.

    Attributes:
        column: The backend's name and its report.
        suite: The suite, where it was found.
        place: The path of the suite in commands.
        script: The options with which `opconform repro` writes a script for the backend; empty where it cannot.
        kept: The outputs that the run kept.
    """

    column: Column
    suite: Suite | None
    place: str
    script: str
    kept: Kept


class Link(NamedTuple):
    """A link into the page."""

    text: str
    href: str


def cases_place(**wanted: object) -> str:
    """The address of the list of cases with these properties."""
    return f"#cases?{urlencode({name: str(each) for name, each in wanted.items() if each != ''})}"


def short(text: str) -> str:
    """A text without the end of a long one."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
