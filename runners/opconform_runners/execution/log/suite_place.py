"""Where the suite of a run is: in the folder of its results, beside that folder, or where the run read it."""

import contextlib
import os
from pathlib import Path

from opconform.errors import DiskError
from opconform.suite.file_names import HEADER
from opconform.system.files import read_regular, replace_file

#: The file that names the suite, and its first line. It has the place as seen from the folder, and the whole place.
SUITE_NOTE, MARK = "suite.txt", b"# The suite that was run:\n"
_LIMIT = 1 << 16


def note_suite(out: Path, suite: Path) -> None:
    """Write where a suite is, if it is a file or folder, to the folder of results, unless it is found there without."""
    found = _found(out)
    is_found = found is not None and suite.exists() and found.samefile(suite)
    if not suite.exists() or (is_found and not (out / SUITE_NOTE).exists()):
        return
    places = [os.path.realpath(suite)]
    with contextlib.suppress(ValueError):  # on another drive
        places.insert(0, os.path.relpath(suite, out))
    try:
        replace_file(out / SUITE_NOTE, MARK + b"".join(os.fsencode(place) + b"\n" for place in places))
    except OSError as error:
        raise DiskError(out / SUITE_NOTE, error) from error


def suite_of_results(out: Path) -> Path | None:
    """The suite of the results in a folder, as far as it is where it was; its digest may be another one."""
    with contextlib.suppress(OSError, ValueError):
        _, _, places = read_regular(out / SUITE_NOTE, _LIMIT).partition(MARK)
        noted = [Path(os.path.normpath(out / os.fsdecode(place))) for place in places.splitlines()]
        if (
            found := next((place for place in noted if place.is_file() or (place / HEADER).is_file()), None)
        ) is not None:
            return found
    return _found(out)


def _found(out: Path) -> Path | None:
    return next((place for place in (out / "suite", out.parent / "suite") if (place / HEADER).is_file()), None)
