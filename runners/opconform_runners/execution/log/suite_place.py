"""Where the suite of a run is: in the folder of its results, beside that folder, or where the run read it."""

import contextlib
import os
from pathlib import Path

from opconform.errors import DiskError
from opconform.suite.file_names import HEADER
from opconform.system.files import read_regular, replace_file

#: The file that names the suite, and its first line.
SUITE_NOTE, MARK = "suite.txt", b"# The suite that was run, seen from this folder:\n"
_LIMIT = 1 << 16


def note_suite(out: Path, suite: Path) -> None:
    """Write the place of a run's suite to the folder of its results, unless it is found there without, or is no file here."""
    if not suite.exists() or _found(out) is not None:
        return
    try:
        place = os.path.relpath(suite, out)
    except ValueError:  # on another drive
        place = str(suite.resolve())
    try:
        replace_file(out / SUITE_NOTE, MARK + os.fsencode(place) + b"\n")
    except OSError as error:
        raise DiskError(out / SUITE_NOTE, error) from error


def suite_of_results(out: Path) -> Path | None:
    """The suite of the results in a folder, as far as it is where it was; its digest may be another one."""
    if (found := _found(out)) is not None:
        return found
    with contextlib.suppress(OSError, ValueError):
        _, _, place = read_regular(out / SUITE_NOTE, _LIMIT).partition(MARK)
        noted = Path(os.path.normpath(out / os.fsdecode(place.rstrip(b"\n"))))
        if place and (noted.is_file() or (noted / HEADER).is_file()):
            return noted
    return None


def _found(out: Path) -> Path | None:
    return next((place for place in (out / "suite", out.parent / "suite") if (place / HEADER).is_file()), None)
