"""Temporary folders that do not outlive opconform: a later start removes those of a process that was killed."""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
import weakref
from functools import cache
from pathlib import Path

from opconform.system.removal import remove_folder

#: The beginning of the names. Folders of this name are locked while they are in use.
PREFIX = "opconform-tmp-"
#: A folder is locked this many seconds after it is made, at the latest.
_FRESH = 60.0


class TemporaryFolder:
    """A new folder, removed with its content at the end of a `with` block, at exit, or at a later start of opconform.

    Raises `OSError` if none can be made.
    """

    def __init__(self, root: str = "") -> None:
        """Make the folder in `root`, by default in the place for temporary files."""
        root = root or tempfile.gettempdir()
        _remove_old(root)
        self.name = tempfile.mkdtemp(prefix=PREFIX, dir=root)
        self._finalizer = weakref.finalize(self, _remove, self.name, _locked(self.name))

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the folder with its content. What cannot be removed stays, and nothing is raised."""
        self._finalizer()


def _locked(path: str) -> int | None:
    """The descriptor of a folder that no other process has locked, locked; None for any other."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(folder)
        return None
    return folder


def _remove(path: str, lock: int | None) -> None:
    remove_folder(path)
    if lock is not None:
        os.close(lock)


@cache
def _remove_old(root: str) -> None:
    """Remove this user's folders of processes that were killed; done once for each place of temporary files."""
    with contextlib.suppress(OSError):
        for path in Path(root).glob(f"{PREFIX}*"):
            with contextlib.suppress(FileNotFoundError):
                state = path.lstat()
                is_own = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
                if is_own and time.time() - state.st_mtime > _FRESH and (lock := _locked(str(path))) is not None:
                    _remove(str(path), lock)
