"""What a dialect is: an IR language that cases are rendered into."""

from collections.abc import Callable
from dataclasses import dataclass

from opconform.model.golden import Golden


class Inexpressible(Exception):  # noqa: N818 - it is an answer and no error
    """A dialect cannot say what a case says; `reason` is a sentence's end that stands in the manifest."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """An IR language.

    Attributes:
        model: The file, in a case's folder, that a backend loads.
        files_of: What renders a case, given a name for the model, into all the dialect's files; raises `Inexpressible`.
        package: The package that has to be installed to render it, or None.
    """

    model: str
    files_of: Callable[[Golden, str], dict[str, bytes]]
    package: str | None = None
