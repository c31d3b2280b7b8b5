"""The folder of an export: the list of its files, and the check that nothing else is replaced."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from opconform.errors import UsageError, counted, quoted_text
from opconform.suite.manifest import Entry
from opconform.suite.storage.ownership import check_no_link, check_outside_suites, check_work_folder, work_path
from opconform.suite.storage.store import Folder
from opconform.system.files import json_of, open_regular, read_regular
from opconform_runners.execution.progress import OnProgress, staged

#: What was exported: the format, the suite, the cases, and how many cases were left out for each reason.
ABOUT = "export.json"
#: The SHA-256 of every other file, as `sha256sum --check` reads it.
SUMS = "SHA256SUMS"
_DIGITS = 64
_LIMIT = 1 << 30


def written_cases(entries: Sequence[Entry], on_progress: OnProgress) -> Iterator[Entry]:
    """The cases of an export one after another, while they are written."""
    return staged(entries, on_progress, f"Writing {counted(len(entries), 'case')}")


def seal(folder: Path, about: Mapping[str, object]) -> None:
    """Write what was exported, and the list of all files."""
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    lines = [f"{_digest(folder / path)}  {path}\n" for path in sorted(Folder(folder).paths())]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def check_place(out: Path, name: str, *, force: bool) -> None:
    """Check that a path has nothing, or an export without other or changed files, and in the same format.

    With `force`, the earlier export may be in another format.
    """
    if out.name in ("", ".."):
        raise UsageError(f"--out {str(out)!r} is not the name of a folder. Name one, such as --out export.")
    check_outside_suites(out)
    check_no_link(out)
    check_work_folder(work_path(out))
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise UsageError(f"{out} is not a folder. Use another --out.")
    if not any(out.iterdir()):
        return
    foreign, earlier = _foreign(out)
    if foreign is not None:
        raise UsageError(
            f"{out} is not replaced: opconform did not export {foreign}, or it was changed. Use another --out."
        )
    if earlier != name and not force:
        raise UsageError(f"{out} is an export as {quoted_text(earlier)}. Use --force to replace it, or another --out.")


def _foreign(out: Path) -> tuple[str | None, str]:
    """A file that is not as an export wrote it, if there is one, and the format of the export."""
    try:
        about = json_of(read_regular(out / ABOUT, _LIMIT))
        sums = read_regular(out / SUMS, _LIMIT).decode()
        earlier = str(about["as"])
    except (OSError, ValueError, LookupError, TypeError):
        return min(path.name for path in out.iterdir()), ""
    known = {line[_DIGITS + 2 :]: line[:_DIGITS] for line in sums.splitlines()}
    try:
        paths = sorted(set(Folder(out).paths()) - {SUMS})
        return next((path for path in paths if known.get(path) != _digest(out / path)), None), earlier
    except OSError as error:
        return str(error.filename), earlier


def _digest(path: Path) -> str:
    if path.is_dir():
        return ""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
