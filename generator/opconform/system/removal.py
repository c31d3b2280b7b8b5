"""The removal of folders that an untrusted program filled. It imports little, since supervisors of harnesses use it."""

import contextlib
import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: How many levels of a folder are removed, so that a program that keeps adding to it cannot delay opconform for ever.
_LEVELS = 100_000


def remove_folder(path: str) -> None:
    """Remove a folder with its content, or what is in its place. What cannot be removed stays, and nothing is raised.

    No link is followed. Depth, long paths and missing permissions do not matter: what is in a folder of the folder is
    moved up before that is removed, so two folders are open at a time, and paths are single names.
    """
    try:
        top = _opened(path)
    except OSError:  # a link or a file
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - pathlib takes long to import
        return
    try:
        prefix = f".{os.getpid()}-{os.urandom(8).hex()}-"
        for level in range(_LEVELS):
            if not _remove_level(top, f"{prefix}{level}-"):
                break
    finally:
        os.close(top)
    with contextlib.suppress(OSError):
        os.rmdir(path)  # noqa: PTH106 - the same


def _opened(name: str, parent: int | None = None) -> int:
    """The descriptor of a folder, whose owner may do anything in it from now on."""
    try:
        folder = os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        folder = os.open(name, _OPEN, dir_fd=parent)
    with contextlib.suppress(OSError):
        os.fchmod(folder, 0o700)
    return folder


def _entries(folder: int) -> list[tuple[str, bool]]:
    """The names in a folder, and whether each is one of a folder."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _remove_level(top: int, prefix: str) -> bool:
    """Remove the files and folders in a folder, with the folders in these moved up; returns whether any is gone."""
    is_less = False
    for number, (name, is_folder) in enumerate(_entries(top)):
        with contextlib.suppress(OSError):
            if is_folder:
                _lift(top, name, f"{prefix}{number}-")
                os.rmdir(name, dir_fd=top)
            else:
                os.unlink(name, dir_fd=top)
            is_less = True
    return is_less


def _lift(top: int, name: str, prefix: str) -> None:
    """Remove the files of a folder in a folder, and move the folders in it up."""
    folder = _opened(name, top)
    try:
        for number, (item, is_folder) in enumerate(_entries(folder)):
            if not is_folder:
                os.unlink(item, dir_fd=folder)
                continue
            os.close(_opened(item, folder))  # a folder without permissions cannot be moved
            os.rename(item, f"{prefix}{number}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
