"""The contract of a dialect: an IR language that cases are rendered into."""

from collections.abc import Callable
from dataclasses import dataclass

from opconform.model.golden import Golden


class Inexpressible(Exception):  # noqa: N818 - an answer, not an error
    """A case that a dialect cannot express; `reason` is a clause for the manifest."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """An IR language, and the package that rendering needs, if any.

    Attributes:
        model: The file that a backend loads, relative to a case's folder.
        files_of: Renders a case, with a name for the model, into the dialect's files; raises `Inexpressible`.
    """

    model: str
    files_of: Callable[[Golden, str], dict[str, bytes]]
    package: str | None = None
