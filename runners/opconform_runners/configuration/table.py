"""The table `[tool.opconform]` of a `pyproject.toml`, checked."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from opconform.specs.diagnostics import validated
from opconform.specs.schema.keys import Keys
from opconform.specs.yaml_document import KEY, Document, Route
from opconform_runners.harness.registry import names

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opconform[ \t]*\]", re.MULTILINE)


def _installed(name: str) -> str:
    """A backend whose code is installed: a folder must not decide which of its files is executed."""
    plain, _, device = name.partition(":")
    if plain not in names() or "=" in device:
        raise ValueError(
            "it must be the name of an installed backend. Name a file or a library with --backend on the command line"
        )
    return name


_Text = Annotated[str, Field(strict=True, min_length=1)]


class Table(Keys):
    """The table in a file."""

    backend: Annotated[_Text, AfterValidator(_installed)] | None = None
    profile: _Text | tuple[_Text, ...] = ()
    baseline: _Text | None = None
    claims: _Text | None = None


def table_of(text: str, value: Any, name: str) -> Table:
    """The table with a value in the text of a file that mistakes call by a name."""
    return validated(Document(file=name, digest="", value=value, places=dict(_places(text, value))), Table)


def _places(text: str, table: Mapping[str, Any]) -> Iterator[tuple[Route, tuple[int, int]]]:
    """The places of the keys and of their values, as far as they are in lines below the table's header."""
    header = _HEADER.search(text)
    for key in table:
        line = re.compile(rf"^[ \t]*(?=[\"'\w])[\"']?{re.escape(key)}[\"']?[ \t]*(=[ \t]*)", re.MULTILINE)
        if header and (match := line.search(text, header.end())):
            yield (key, KEY), _place(text, match.end(0) - len(match[0].lstrip()))
            yield (key,), _place(text, match.end())
    if header:
        yield (), _place(text, header.start())


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
