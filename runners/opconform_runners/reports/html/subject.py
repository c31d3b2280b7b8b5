"""Subjects: the runs that a page shows, and the places and the words that all of its parts share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.html.evidence import Model
from opconform_runners.reports.matrix import Column

#: The most characters of one sentence.
_LONGEST = 1_500

#: Gives a case's IR as text.
Models = Callable[[Suite, Entry], Sequence[Model]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One run that a page shows.

    Attributes:
        column: The backend's name and its report.
        suite: The suite, where it is there.
        place: What the suite is called in commands.
        script: The options with which `opconform repro` writes a script for the backend, or nothing.
        kept: What was kept of the outputs.
    """

    column: Column
    suite: Suite | None
    place: str
    script: str
    kept: Kept


class Link(NamedTuple):
    """A place in the page, in words."""

    text: str
    href: str


def place_of(**wanted: object) -> str:
    """The place of the page that lists the cases with these properties."""
    return f"#cases?{urlencode({name: str(each) for name, each in wanted.items() if each != ''})}"


def case_place(backend: int, case: str) -> str:
    """The place of the page that shows a case."""
    return f"#case/{backend}/{case}"


def short(text: str) -> str:
    """A text, cut where it is too long for a page."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
