"""The work folder of a suite: hidden beside the suite, marked as opconform's, and locked while in use.

For the suite `NAME` it is `.NAME.opconform-work`. A generation writes only there until the suite is complete. The
folder stays if the generation is interrupted.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from opconform.errors import UsageError
from opconform.suite.ownership import MARK, check_replaceable, check_work_folder, work_path

#: How many seconds a generation waits for the workers of a killed one to end.
PATIENCE = 10.0
_WORKER_LOCKS = "worker-*.lock"


class WorkFolder:
    """The paths of the work folder of the suite at `out`."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = work_path(out)
        self.mark = self.path / MARK  # marks the folder as opconform's; locked while it is in use
        self.partial = self.path / "partial"  # the folder that becomes the suite
        self.lines = self.path / "lines.jsonl"  # the lines of the manifest, in the order in which cases are written
        self.packed = self.path / "packed.zip"  # the zip file that becomes the suite
        self.replaced = self.path / "replaced"  # the earlier suite, until the new one has replaced it

    def replace(self) -> None:
        """Put the partial folder, now a whole suite, in its place, unless something else is there now."""
        check_replaceable(self.out)
        if self.out.exists():
            self.out.rename(self.replaced)
        self.partial.rename(self.out)
        shutil.rmtree(self.replaced, ignore_errors=True)


@contextlib.contextmanager
def work_folder(out: Path) -> Iterator[WorkFolder]:
    """Make and lock the work folder of a suite. It is removed afterwards unless it holds an unfinished suite.

    It raises `OSError` if the folder cannot be made, and `UsageError` if it is in use or opconform did not make it.
    """
    work = WorkFolder(out)
    _make(work)
    lock = _locked(work, work.mark, 0)
    try:
        for each in work.path.glob(_WORKER_LOCKS):
            _locked(work, each, PATIENCE).release()
        _check_plain(work.path, work)
        _settle(work)
        try:
            yield work
        finally:
            if not work.partial.exists() and not work.replaced.exists():
                _remove(work)
    finally:
        lock.release()


_WORKER_LOCK: list[FileLock] = []


def hold_worker_lock(folder: Path) -> None:
    """Lock a file in a work folder until this worker process ends: the next generation waits for it."""
    lock = FileLock(folder / _WORKER_LOCKS.replace("*", str(os.getpid())))
    lock.acquire()
    _WORKER_LOCK.append(lock)


def _make(work: WorkFolder) -> None:
    """Make the folder, unless it exists and is marked."""
    with contextlib.suppress(FileExistsError):
        work.path.mkdir(mode=0o700)
    check_work_folder(work.path)


def _locked(work: WorkFolder, path: Path, patience: float) -> FileLock:
    lock = FileLock(path, timeout=patience)
    try:
        lock.acquire()
    except (Timeout, FileNotFoundError) as fault:  # or another generation has just removed the folder
        raise UsageError(f"Another process is writing {work.out}. Wait for it, or use another --out.") from fault
    return lock


def _check_plain(folder: Path, work: WorkFolder) -> None:
    """Refuse links and devices: writing through a link would leave the folder."""
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir(follow_symlinks=False):
                _check_plain(Path(each.path), work)
            elif not each.is_file(follow_symlinks=False):
                raise UsageError(f"{each.path} is neither a file nor a folder. Remove it, or use another --out.")


def _settle(work: WorkFolder) -> None:
    if work.replaced.exists():
        if os.path.lexists(work.out):
            shutil.rmtree(work.replaced)
        else:
            work.replaced.rename(work.out)


def _remove(work: WorkFolder) -> None:
    """Remove the folder unless it holds anything else. The mark is removed last, to identify the folder."""
    for each in (*work.path.glob(_WORKER_LOCKS), work.lines, work.packed):
        each.unlink(missing_ok=True)
    if list(work.path.iterdir()) == [work.mark]:
        with contextlib.suppress(OSError):  # another generation has just begun there, or Windows keeps locked files
            work.mark.unlink()
            work.path.rmdir()
