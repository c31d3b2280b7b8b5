"""Suites that are installed as data: distributions without code, whose entry point names the folder of the suite.

The folder has the zip file of the suite, and `release.json`, which says what must be in it.
"""

import hashlib
import re
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from opconform.errors import MissingError, SuiteError
from opconform.system.files import FileTooLargeError, json_of, read_regular

#: The entry points of suites.
GROUP = "opconform.suites"
#: The distribution of the shipped suite.
SHIPPED = "opconform-suite"
RELEASE = "release.json"
#: The most bytes of it.
_LIMIT = 1 << 24
_NAME = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*?)(?:==(?P<version>\d+(?:\.\d+)*))?")


def place_of(text: str) -> Path:
    """The path that a text names, or the zip file of an installed suite, as in `opconform-suite==2.0`.

    An existing path comes first. A version may be the beginning of the installed one.

    Raises:
        MissingError: The suite is not installed in that version.
        SuiteError: It is of a format that is not read here, or was changed.
    """
    match = _NAME.fullmatch(text)
    if match is None or Path(text).exists():
        return Path(text)
    name, requested = match["name"], match["version"]
    entry = next(iter(entry_points(group=GROUP, name=name)), None)
    if entry is not None:
        return _checked(name, requested, entry)
    if requested is None and name != SHIPPED:
        return Path(text)
    raise MissingError(f"The suite {name} is not installed. Install it with `{_command(name, requested)}`.")


def _checked(name: str, requested: str | None, entry: EntryPoint) -> Path:
    """The zip file of an installed suite."""
    from opconform.suite.file_names import HEADER  # what reads suites takes long to import
    from opconform.suite.manifest import FORMAT, header_of
    from opconform.suite.release import shipped_difference
    from opconform.suite.storage.store import open_store

    folder = Path(str(entry.dist.locate_file(entry.value))) if entry.dist is not None else Path(entry.value)
    again = f"Install it again with `pip install --force-reinstall {name}`."
    try:
        release: dict[str, Any] = json_of(read_regular(folder / RELEASE, _LIMIT))
        version, number, sha256, cases = (release[key] for key in ("version", "format", "sha256", "cases"))
    except (OSError, FileTooLargeError, ValueError, LookupError, TypeError) as error:
        raise SuiteError(f"{folder / RELEASE} is missing or was changed. {again}") from error
    if requested is not None and not f"{version}.".startswith(f"{requested}."):
        advice = f"`{_command(name, requested)}` installs it."
        raise MissingError(f"{name} {requested} is wanted, but {version} is installed. {advice}")
    if number != FORMAT:
        advice = f"Install a release of {name} or of opconform that fits."
        raise SuiteError(f"{name} {version} has suite format {number}, but opconform reads format {FORMAT}. {advice}")
    place = folder / f"{name}-{version}.zip"
    try:
        with place.open("rb") as file:
            is_whole = hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError as error:
        raise SuiteError(f"{place} cannot be read: {error.strerror}. {again}") from error
    if not is_whole or (header := header_of(open_store(place).read(HEADER), f"{place}/{HEADER}")).cases != cases:
        raise SuiteError(f"{place} is not what {RELEASE} describes: it was changed. {again}")
    if name == SHIPPED and header.version != version:
        raise SuiteError(f"{place} is of version {header.version}, but {RELEASE} says {version}. {again}")
    if name == SHIPPED and (difference := shipped_difference(header)):
        raise SuiteError(f"{place} is not release {version} of {SHIPPED}: {difference}. {again}")
    return place


def _command(name: str, requested: str | None) -> str:
    """The command that installs a suite."""
    full = 3  # parts of a version
    pin = "" if requested is None else f"=={requested}" if len(requested.split(".")) >= full else f"=={requested}.*"
    return f"pip install {name}" if not pin else f"pip install '{name}{pin}'"
