"""The work folder of a suite: hidden beside the suite, marked as opconform's, and locked while in use.

For the suite `NAME` it is `.NAME.opconform-work`. A suite is written only there until it is complete, and then renamed.
What a killed process left is removed by the next one.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from opconform.errors import UsageError
from opconform.suite.storage.ownership import MARK, check_replaceable, check_work_folder, work_path

_PARTIAL = "partial"


class WorkFolder:
    """The paths of the work folder of the suite at `out`."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = work_path(out)
        self.mark = self.path / MARK  # marks the folder as opconform's; locked while it is in use
        # The folder that becomes the suite; its name is new, since workers may outlive a killed process for a moment
        self.partial = self.path / f"{_PARTIAL}-{secrets.token_hex(8)}"
        self.lines = self.path / "lines.jsonl"  # the lines of the manifest, in the order in which cases are written
        self.packed = self.path / "packed.zip"  # the zip file that becomes the suite
        self.replaced = self.path / "replaced"  # the earlier suite, until the new one has replaced it

    def replace(self, check: Callable[[Path], None] = check_replaceable) -> None:
        """Put the partial folder, or the packed file, in the place of the suite, unless something else is there now.

        `check` raises `UsageError` for what must not be replaced.
        """
        check(self.out)
        if self.packed.exists():
            self.packed.replace(self.out)
            return
        if self.out.exists():
            self.out.rename(self.replaced)
        self.partial.rename(self.out)

    def clear(self) -> None:
        """Restore a suite that was about to be replaced, and remove all that is opconform's except the mark."""
        if self.replaced.exists() and not os.path.lexists(self.out):
            self.replaced.rename(self.out)
        for folder in (self.replaced, *self.path.glob(f"{_PARTIAL}*")):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.lines, self.packed):
            file.unlink(missing_ok=True)


@contextlib.contextmanager
def work_folder(out: Path) -> Iterator[WorkFolder]:
    """Make and lock the work folder of a suite, with an empty partial folder. It is removed afterwards.

    It raises `OSError` if the folder cannot be made, and `UsageError` if it is in use or opconform did not make it.
    """
    work = WorkFolder(out)
    with contextlib.suppress(FileExistsError):
        work.path.mkdir(mode=0o700)
    check_work_folder(work.path)
    lock = FileLock(work.mark, timeout=0)
    try:
        lock.acquire()
    except (Timeout, FileNotFoundError) as error:  # or another process has just removed the folder
        raise UsageError(f"Another process is writing {out}. Wait for it, or use another --out.") from error
    try:
        work.clear()
        work.partial.mkdir()
        yield work
    finally:
        work.clear()
        if list(work.path.iterdir()) == [work.mark]:
            with contextlib.suppress(OSError):  # another process has just begun there, or Windows keeps locked files
                work.mark.unlink()
                work.path.rmdir()
        lock.release()
