"""Groups of cases, checked, as the loader gives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opconform.errors import quoted
from opconform.specs.document import Document, Mistake, Route
from opconform.specs.every.sample import Samples
from opconform.specs.schema.keys import GroupKeys


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """One entry of a spec, at a route of a document.

    Attributes:
        settings: The entry's keys that are not keys of its cases.
        keys: The keys of its cases as written, including expressions.
        twin: The keys that the twin overrides as written, or None.
        samples: For a group of every operation, the samples that its cases are made from.
    """

    op: str
    settings: GroupKeys
    keys: Mapping[str, Any]
    twin: Mapping[str, Any] | None
    document: Document
    route: Route
    samples: Samples | None = None

    @property
    def id(self) -> str:
        """The group's name."""
        return self.settings.id

    @property
    def full_name(self) -> str:
        """The operation and the group's name, as in `Split-1/axis`, with which the ids of its cases begin."""
        return f"{self.op}/{self.id}"

    def mistake(self, route: Route, sentence: str) -> Mistake:
        """A mistake at a route inside the group."""
        return self.document.mistake((*self.route, *route), f"group {quoted(self.id)}: {sentence}")

    @property
    def place(self) -> str:
        """The group's place, as `file:line:column`."""
        mistake = self.document.mistake(self.route, "")
        return f"{mistake.file}:{mistake.line}:{mistake.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """A spec file: its name in mistakes, and the SHA-256 of its bytes."""

    file: str
    digest: str
    op: str
    groups: tuple[Group, ...]
