"""The defaults of options in the nearest `pyproject.toml`."""

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import UsageError
from opconform.system.files import read_regular

if TYPE_CHECKING:
    from opconform_runners.configuration.table import Table

_FILE = "pyproject.toml"
#: The most bytes of a file.
_LIMIT = 4 << 20
_SYNTAX = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)


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
        settings = ", ".join(f"{name} {text}" for name, text in texts.items() if text)
        return f"from {self.file}: {settings}" if settings else ""


def defaults_at(folder: Path) -> Defaults:
    """The defaults of a folder: from the nearest file with the table, up to the root of the repository.

    Outside a repository, only the folder itself may have one. Mistakes are errors with their places.
    """
    folders = [folder, *folder.parents]
    depth = next((number for number, parent in enumerate(folders) if (parent / ".git").exists()), 0)
    for place in folders[: depth + 1]:
        file = Path(os.path.relpath(place / _FILE, folder))
        if (place / _FILE).is_file() and (table := _table(place / _FILE, file.as_posix())) is not None:
            profile = (table.profile,) if isinstance(table.profile, str) else table.profile
            paths = (None if path is None else file.parent / path for path in (table.baseline, table.claims))
            baseline, claims = paths
            backend = () if table.backend is None else (table.backend,)
            return Defaults(file=file.as_posix(), backend=backend, profile=profile, baseline=baseline, claims=claims)
    return Defaults()


def _table(path: Path, name: str) -> "Table | None":
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
    from opconform_runners.configuration.table import table_of  # it takes long to import

    return table_of(text, table, name)
