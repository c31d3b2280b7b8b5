"""The work folder of a generation: hidden beside the suite, marked as opconform's, and locked while it is used.

For the suite `NAME` it is `.NAME.opconform-work`. Everything that a generation writes lies in it until the suite is
whole, so nothing else beside the suite is ever touched. It stays where a generation was interrupted.
"""

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opconform.errors import UsageError

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without flock
    fcntl = None  # type: ignore[assignment]

#: How long a generation waits for the workers of a killed one to end, in seconds.
PATIENCE = 10.0
_PAUSE = 0.02
_OPEN_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkFolder:
    """The work folder of the suite at `out`, and the names inside it."""

    out: Path

    @property
    def path(self) -> Path:
        """The folder."""
        return self.out.with_name(f".{self.out.name}.opconform-work")

    @property
    def mark(self) -> Path:
        """The file that marks the folder as opconform's, and is locked by the generation that uses it."""
        return self.path / "opconform.lock"

    @property
    def workers(self) -> Path:
        """The file that all the worker processes of a generation lock together."""
        return self.path / "workers.lock"

    @property
    def partial(self) -> Path:
        """The folder that becomes the suite."""
        return self.path / "partial"

    @property
    def lines(self) -> Path:
        """The lines of the manifest, in the order in which cases are done."""
        return self.path / "lines.jsonl"

    @property
    def packed(self) -> Path:
        """The zip file that becomes the suite."""
        return self.path / "packed.zip"

    @property
    def replaced(self) -> Path:
        """The suite that is being replaced, until the new one is in its place."""
        return self.path / "replaced"


@contextlib.contextmanager
def work_folder(out: Path) -> Iterator[WorkFolder]:
    """Make and lock the work folder of a suite, and remove it afterwards unless it holds a suite that is not finished.

    Raises:
        OSError: It cannot be made.
        UsageError: Another process uses it, or something of its name was not made by opconform.
    """
    work = WorkFolder(out=out)
    _make(work)
    with _exclusive(work, work.mark, 0.0):
        with _exclusive(work, work.workers, PATIENCE):
            pass
        _check_plain(work.path, work)
        _settle(work)
        try:
            yield work
        finally:
            if not work.partial.exists() and not work.replaced.exists():
                _remove(work)


def share(path: Path) -> None:
    """Lock a file together with others until this process ends; no process locks it for itself meanwhile."""
    if fcntl is not None:
        fcntl.flock(os.open(path, _OPEN_LOCK, 0o644), fcntl.LOCK_SH)


def _make(work: WorkFolder) -> None:
    """Make the folder, or check that the one that is there is marked, or empty: then a kill came before the mark."""
    with contextlib.suppress(FileExistsError):
        work.path.mkdir(mode=0o700)
    is_folder = stat.S_ISDIR(work.path.lstat().st_mode)
    if not is_folder or (any(work.path.iterdir()) and not work.mark.exists()):
        raise UsageError(f"{work.path} was not made by opconform. Move it away, or name another --out.")


def _check_plain(folder: Path, work: WorkFolder) -> None:
    """Refuse a folder in which anything is neither a file nor a folder: writing through a link would leave it."""
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir(follow_symlinks=False):
                _check_plain(Path(each.path), work)
            elif not each.is_file(follow_symlinks=False):
                raise UsageError(f"{each.path} is neither a file nor a folder. Remove it, or name another --out.")


def _settle(work: WorkFolder) -> None:
    """End an exchange of suites that was interrupted."""
    if work.replaced.exists():
        if os.path.lexists(work.out):
            shutil.rmtree(work.replaced)
        else:
            work.replaced.rename(work.out)


def _remove(work: WorkFolder) -> None:
    """Remove the folder, its mark last, so that it is known until it is empty; it stays if it holds anything else."""
    for each in (work.workers, work.lines, work.packed):
        each.unlink(missing_ok=True)
    if list(work.path.iterdir()) == [work.mark]:
        work.mark.unlink()
        with contextlib.suppress(OSError):  # another generation has just begun there
            work.path.rmdir()


@contextlib.contextmanager
def _exclusive(work: WorkFolder, path: Path, patience: float) -> Iterator[None]:
    """Lock a file while no other process does."""
    end = time.monotonic() + patience
    while (descriptor := _locked(path)) is None:
        if time.monotonic() > end:
            raise UsageError(f"Another process is writing {work.out}. Wait for it, or name another --out.")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """The descriptor of a lock that was free, or None."""
    try:
        descriptor = os.open(path, _OPEN_LOCK, 0o644)
    except FileNotFoundError:  # its folder has just been removed
        return None
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
