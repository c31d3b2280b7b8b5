"""One generation at a time: locks on the folder that is being written."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from opconform.errors import UsageError

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without flock
    fcntl = None  # type: ignore[assignment]

#: How long a generation waits for the workers of a killed one to notice that they are alone, in seconds.
PATIENCE = 10.0
_PAUSE = 0.02


@contextlib.contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Hold a lock file while nobody else does; gives the file that workers share. Both go away with the lock.

    Raises:
        UsageError: Another process is at work there.
    """
    workers = path.with_name(f"{path.name}-workers")
    with _exclusive(path, 0.0):
        with _exclusive(workers, PATIENCE):
            pass
        try:
            yield workers
        finally:
            workers.unlink(missing_ok=True)


def share(path: Path) -> None:
    """Hold a lock together with others until this process ends, so that nobody takes it while this one may write."""
    if fcntl is not None:
        fcntl.flock(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), fcntl.LOCK_SH)


@contextlib.contextmanager
def _exclusive(path: Path, patience: float) -> Iterator[None]:
    end = time.monotonic() + patience
    while (descriptor := _taken(path)) is None:
        if time.monotonic() > end:
            raise UsageError(f"Another process is at work there: {path} is locked. Wait for it, or name another --out.")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _taken(path: Path) -> int | None:
    """The descriptor of a lock that was free, or None."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
