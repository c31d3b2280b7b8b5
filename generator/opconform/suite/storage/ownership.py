"""Ownership: a command replaces or removes only what opconform wrote, and writes nothing into a suite.

Each name is checked where its links lead, before anything is written or removed.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Collection, Sequence
from pathlib import Path

from opconform.errors import DiskError, SuiteError, UsageError
from opconform.suite.file_names import HEADER, MANIFEST
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import foreign_problems
from opconform.system.files import replace_file

#: The file in a work folder that marks it as opconform's, and is locked while the folder is in use.
MARK = "opconform.lock"
#: How many bytes of a file are searched for the mark of opconform.
_HEAD = 300
#: The endings of archives. Only `.zip` in lower case is written.
_ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar"})
#: How many specs of another suite are named.
_NAMED = 3


def suite_around(path: Path) -> Path | None:
    """The suite that a path is inside of, wherever its links lead, or None."""
    for folder in Path(os.path.realpath(path)).parents:  # which takes loops of links too
        if all(os.path.isfile(folder / name) for name in (HEADER, MANIFEST)):  # noqa: PTH113 - no error if unreadable
            return folder
    return None


def check_outside_suites(path: Path) -> None:
    """Refuse to write a path inside a suite, which would not verify any longer."""
    if (suite := suite_around(path)) is not None:
        raise UsageError(f"{path} cannot be written: it is part of the suite {suite}. Use another path.")


def check_no_link(path: Path) -> None:
    """Refuse to replace a link."""
    if path.is_symlink():
        raise UsageError(f"{path} is a link, and links are not replaced. Name its target: {path.resolve()}.")


def check_named(path: Path) -> None:
    """Check that a file that the user named may be created or replaced. Pipes and devices may be linked."""
    check_outside_suites(path)
    if not path.exists() or path.is_file():
        check_no_link(path)


def replace_named(path: Path, content: bytes) -> None:
    """Replace a file that the user named. Missing folders are made; pipes and devices are written to directly.

    It raises `DiskError` if the disk is full, and `UsageError` if the file is a link, or cannot be written.
    """
    try:
        check_named(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(content)
        else:
            replace_file(path, content)
    except OSError as error:
        if DiskError.is_full(error):
            raise DiskError(path, error) from error
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def replace_ours(path: Path, content: bytes, mark: bytes) -> None:
    """Replace a file that the user named, if opconform wrote it: it has a mark among its first bytes."""
    check_ours(path, mark)
    replace_named(path, content)


def check_ours(path: Path, *marks: bytes) -> None:
    """Refuse a file that opconform did not write, a link, and a file inside a suite."""
    try:
        check_named(path)
        ours = is_ours(path, marks)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file.") from error
    if not ours:
        raise UsageError(f"opconform did not write {path} and does not overwrite it. Use another path.")


def discard(folder: Path) -> None:
    """Remove a folder, which vanishes under its name at once, so that a kill leaves no part of it there."""
    if folder.exists():
        gone = folder.rename(folder.with_name(f".{folder.name}.opconform-{secrets.token_hex(8)}"))
        shutil.rmtree(gone, ignore_errors=True)


def is_ours(path: Path, marks: Sequence[bytes]) -> bool:
    """Whether a file may be overwritten: it is empty, a pipe or a device, or has one of the marks at its beginning."""
    if not path.is_file():
        return True
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return not head or any(mark in head for mark in marks)


def work_path(out: Path) -> Path:
    """The folder in which a suite is written until it is complete."""
    return out.with_name(f".{out.name}.opconform-work")


def check_work_folder(path: Path) -> None:
    """Check that a work folder, if there is one, is marked; it is empty after a kill before the mark was written."""
    if os.path.lexists(path):
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
        if not is_folder or (any(path.iterdir()) and not (path / MARK).exists()):
            raise UsageError(f"{path} was not created by opconform. Move it, or use another --out.")


def check_replaceable(out: Path, specs: Collection[str] | None = None) -> None:
    """Check that a path has nothing, an empty folder or file, or a suite without other files.

    A suite with a spec that is not among `specs` is not replaced either; None replaces a suite of any specs.
    """
    if out.name in ("", ".."):
        raise UsageError(f"--out {str(out)!r} is not the name of a folder. Name one, such as --out suite.")
    check_outside_suites(out)
    check_no_link(out)
    check_work_folder(work_path(out))
    is_zip = out.suffix == ".zip"
    if not out.exists():
        if out.suffix.lower() in _ARCHIVES and not is_zip:
            raise UsageError(f"{out} cannot be written: a suite is a folder or a file NAME.zip. Use another --out.")
        return
    kind, is_kind = ("file", out.is_file()) if is_zip else ("folder", out.is_dir())
    if not is_kind:
        raise UsageError(f"{out} is not a {kind}; --out must be a folder or a file NAME.zip.")
    if not (out.stat().st_size if is_zip else any(out.iterdir())):
        return
    if not is_zip and not (out / HEADER).exists():
        raise UsageError(
            f"{out} contains other files but no suite; opconform does not overwrite them. Use another --out."
        )
    try:
        suite = open_suite(out)
    except SuiteError as error:
        raise UsageError(f"{error} The suite is not replaced: remove {out} first, or use another --out.") from error
    foreign = next(foreign_problems(suite), None)
    if foreign is not None:
        raise UsageError(f"{foreign} The suite is not replaced: move the file, or use another --out.")
    if specs is not None:
        _check_specs(suite, specs)


def _check_specs(suite: Suite, specs: Collection[str]) -> None:
    if lost := sorted(suite.header.specs.keys() - set(specs)):
        more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
        named, out = f"{', '.join(lost[:_NAMED])}{more}", suite.store.root
        raise UsageError(f"{out} is a suite of other specs: {named}. Use another --out, or delete the folder {out}.")
