"""Files from outside, read safely: regular files only, never blocking, and no more than a limit."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


class FileTooLargeError(OSError):
    """A file that holds more bytes than its reader allows."""

    def __init__(self, path: Path, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size:,} bytes, and at most {limit:,} are allowed", str(path))
        self.size = size


def open_regular(path: Path, *, follow_links: bool = False) -> BufferedReader:
    """A regular file, opened for reading. A pipe or a device is refused at once, and nothing is read from it.

    Args:
        path: The file.
        follow_links: Whether it may be a symbolic link to such a file, as a file that the user names may be.

    Raises:
        OSError: It is not there, cannot be read, is a link, or is not a regular file.
    """
    try:
        descriptor = os.open(path, _FLAGS if follow_links else _FLAGS | _NO_LINKS)
    except OSError as fault:
        if fault.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from fault
        if fault.errno == errno.ENXIO:  # a socket, or a device that is not there
            raise _irregular(path) from fault
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _irregular(path)
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, limit: int, *, follow_links: bool = False) -> bytes:
    """The bytes of a regular file, of which no more than the limit is ever held in memory.

    Args:
        path: The file.
        limit: The most bytes that it may have.
        follow_links: Whether it may be a symbolic link to such a file.

    Raises:
        FileTooLargeError: It has more bytes than that.
        OSError: It is not there, cannot be read, is a link, or is not a regular file.
    """
    with open_regular(path, follow_links=follow_links) as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > limit else file.read(size + 1)
    if max(size, len(content)) > limit:
        raise FileTooLargeError(path, max(size, len(content)), limit)
    return content


def _irregular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "it is not a regular file", str(path))
