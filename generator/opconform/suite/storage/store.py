"""Stores: the files of a suite, in a folder or a zip file. Sizes and links are checked before anything is read."""

import errno
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opconform.errors import MissingError, SuiteError
from opconform.system.files import FileTooLargeError, open_regular, read_regular
from opconform.tensors.npz import ZIP_ERRORS

#: The most bytes of `suite.json` and of a `case.json`, which hold no tensors.
_DOCUMENT_LIMIT = 1 << 24
#: How many times its own size a zip file may unpack to. `generate` does not compress, so its files do not grow at all.
_GROWTH = 100
#: How many folders are remembered not to be links.
_RECENT = 1_000


class TooLargeError(SuiteError):
    """A file that is larger than allowed."""

    def __init__(self, where: str, size: int, limit: int) -> None:
        super().__init__(f"{where} has {size:,} bytes; at most {limit:,} are allowed. Generate the suite again.")
        self.size = size


@dataclass(frozen=True, slots=True)
class Folder:
    """A suite that is a folder. Reading raises `SuiteError`."""

    root: Path
    _checked: set[str] = field(default_factory=set, repr=False, compare=False)

    def read(self, path: str, limit: int = _DOCUMENT_LIMIT) -> bytes:
        """The bytes of a regular file that is not reached through a link."""
        place = f"{self.root}/{path}"  # a Path takes as long as to read
        try:
            self._check_folder(path.rpartition("/")[0])
            return read_regular(place, limit)
        except FileTooLargeError as error:
            raise TooLargeError(place, error.size, limit) from error
        except FileNotFoundError as error:
            raise SuiteError(f"{place} is missing. Generate the suite again.") from error
        except OSError as error:
            raise SuiteError(f"{place} cannot be read: {error.strerror}. Generate the suite again.") from error

    def _check_folder(self, folder: str) -> None:
        if not folder or folder in self._checked:
            return
        self._check_folder(folder.rpartition("/")[0])
        if os.path.islink(f"{self.root}/{folder}"):  # noqa: PTH114 - the same
            raise OSError(errno.ELOOP, f"{self.root}/{folder} is a symbolic link")
        if len(self._checked) >= _RECENT:
            self._checked.clear()
        self._checked.add(folder)

    def paths(self) -> Iterator[str]:
        """The path of every file, link and empty folder in the folder; the last ends in a slash, as in a zip file."""
        for folder, folders, files in os.walk(self.root):
            inside = Path(folder).relative_to(self.root)
            if not folders and not files:
                yield f"{inside.as_posix()}/"
            links = [f for f in folders if (Path(folder) / f).is_symlink()]
            yield from ((inside / file).as_posix() for file in files + links)


@dataclass(frozen=True, kw_only=True, slots=True)
class Zip:
    """A suite that is one zip file. Reading raises `SuiteError`."""

    root: Path
    archive: zipfile.ZipFile

    def read(self, path: str, limit: int = _DOCUMENT_LIMIT) -> bytes:
        """The bytes of a member."""
        try:
            metadata = self.archive.getinfo(path)
            if metadata.file_size > limit:
                raise TooLargeError(f"{self.root}:{path}", metadata.file_size, limit)
            return self.archive.read(metadata)
        except KeyError as error:
            raise SuiteError(f"{self.root}:{path} is missing. Generate the suite again.") from error
        except ZIP_ERRORS as error:
            raise SuiteError(f"{self.root}:{path} cannot be read: {error}. Generate the suite again.") from error

    def paths(self) -> Iterator[str]:
        """The name of every member; a repeated one is repeated."""
        return (member.filename for member in self.archive.infolist())


Store = Folder | Zip


def open_store(path: Path) -> Store:
    """The files of the suite at a path."""
    if path.is_dir():
        return Folder(path)
    try:
        with open_regular(path, follow_links=True) as file:
            size = os.fstat(file.fileno()).st_size
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise MissingError(f"Suite not found: {path}. Write one with `opconform generate --out {path}`.") from error
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}. Name a suite, a folder or a zip file.") from error
    except ZIP_ERRORS as error:
        if path.suffix != ".zip":
            raise MissingError(f"{path} is not a suite: it is neither a folder nor a zip file.") from error
        raise SuiteError(f"{path} is not a complete zip file. Generate the suite again.") from error
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > _GROWTH * size:
        raise SuiteError(f"{path} unpacks to {unpacked:,} bytes, more than {_GROWTH} times its size.")
    return Zip(root=path, archive=archive)
