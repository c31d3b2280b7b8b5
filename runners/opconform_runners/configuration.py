"""Defaults of options, from the table `[tool.opconform]` of `pyproject.toml`."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from opconform.errors import UsageError
from opconform.specs.diagnostics import validated
from opconform.specs.schema.keys import Keys
from opconform.specs.yaml_document import KEY, Document, Route
from opconform.system.files import read_regular
from opconform_runners.harness.registry import names

_FILE = "pyproject.toml"
#: The most bytes of a file.
_LIMIT = 4 << 20
_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opconform[ \t]*\]", re.MULTILINE)
_SYNTAX = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)


def _installed(name: str) -> str:
    """A backend whose code is installed: a folder must not decide which of its files is executed."""
    plain, _, device = name.partition(":")
    if plain not in names() or "=" in device:
        raise ValueError(
            "it must be the name of an installed backend. Name a file or a library with --backend on the command line"
        )
    return name


_Text = Annotated[str, Field(strict=True, min_length=1)]


class _Table(Keys):
    """The table in a file."""

    backend: Annotated[_Text, AfterValidator(_installed)] | None = None
    profile: _Text | tuple[_Text, ...] = ()
    baseline: _Text | None = None
    claims: _Text | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Defaults:
    """The values of options that are not on the command line; paths are relative to the current folder."""

    file: str = ""
    backend: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    baseline: Path | None = None
    claims: Path | None = None

    def only(self, **wanted: bool) -> "Defaults":
        """Those that are wanted."""
        return Defaults(file=self.file, **{name: getattr(self, name) for name, wants in wanted.items() if wants})

    @property
    def note(self) -> str:
        """What is from the file, and from which; empty if nothing is."""
        texts = {"backend": ", ".join(self.backend), "profile": ", ".join(self.profile)}
        texts |= {"baseline": str(self.baseline or ""), "claims": str(self.claims or "")}
        said = ", ".join(f"{name} {text}" for name, text in texts.items() if text)
        return f"from {self.file}: {said}" if said else ""


def defaults_at(folder: Path) -> Defaults:
    """The defaults of a folder: from the nearest file with the table, up to the root of the repository.

    Outside a repository, only the folder itself may have one. Mistakes are errors with their places.
    """
    folders = [folder, *folder.parents]
    depth = next((number for number, parent in enumerate(folders) if (parent / ".git").exists()), 0)
    for place in folders[: depth + 1]:
        file = Path(os.path.relpath(place / _FILE, folder))
        if (place / _FILE).is_file() and (document := _document(place / _FILE, file.as_posix())) is not None:
            table = validated(document, _Table)
            profile = (table.profile,) if isinstance(table.profile, str) else table.profile
            paths = (None if path is None else file.parent / path for path in (table.baseline, table.claims))
            baseline, claims = paths
            backend = () if table.backend is None else (table.backend,)
            return Defaults(file=file.as_posix(), backend=backend, profile=profile, baseline=baseline, claims=claims)
    return Defaults()


def _document(path: Path, name: str) -> Document | None:
    """The table in a file that mistakes call by a name; None if there is none."""
    try:
        text = read_regular(path, _LIMIT, follow_links=True).decode("utf-8-sig")
        tool = tomllib.loads(text).get("tool")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8. Save the file as UTF-8.") from error
    except RecursionError as error:
        raise UsageError(f"{name} has values that are nested too deeply.") from error
    except ValueError as error:
        match = _SYNTAX.fullmatch(str(error))
        place, what = (f":{match[2]}:{match[3]}", match[1]) if match else ("", error)
        raise UsageError(f"{name}{place}: This is not TOML: {what}.") from error
    if not isinstance(tool, dict) or "opconform" not in tool:
        return None
    table = tool["opconform"]
    if not isinstance(table, dict):
        raise UsageError(f"{name}: tool.opconform is not a table. Write [tool.opconform].")
    return Document(file=name, digest="", value=table, places=dict(_places(text, table)))


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
