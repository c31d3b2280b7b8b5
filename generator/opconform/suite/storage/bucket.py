"""Buckets: zip files at fsspec URLs. A suite and recorded outputs are stored as they are, and a folder is packed."""

import contextlib
import errno
import filecmp
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVar

from opconform.errors import DiskError, MissingError, OpconformError, SuiteError, UsageError, quoted_text
from opconform.suite.storage.store import Zip, open_store
from opconform.suite.storage.url import secrets_of, without_credentials
from opconform.suite.storage.zip_file import write_zip
from opconform.system.temporary import TemporaryFolder
from opconform.tensors.npz import ZIP_ERRORS

#: The file that every folder of results has.
RESULTS = "results.jsonl"
_EXTRA = "Install it with `pip install 'opconform[cluster]'`."
_Answer = TypeVar("_Answer")


class StoreError(OpconformError):
    """A store that fails."""


class _UnsupportedError(StoreError):
    """A request that the store does not know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """The zip file at a URL. The packages of fsspec repeat requests, so that one that fails here has failed for good.

    Its methods raise `MissingError`, `StoreError` or `UsageError` if a request fails.

    Attributes:
        url: The URL without name and password.
        path: The path of the zip file.
        inside: The folder in the zip file that the URL names, such as `suite`; empty for the whole file.
        files: The file system of fsspec.
        secrets: The name and the password, which messages do not show.
    """

    url: str
    path: str
    inside: str = ""
    files: Any  # fsspec has no types
    secrets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rpartition("/")[2]

    def exists(self) -> bool:
        """Whether there is a file."""
        try:
            self._request("read", self.files.info, self.path)
        except MissingError:
            return False
        return True

    def check_writable(self) -> None:
        """Check that files can be written here, before something is made that takes long."""
        if self.inside:
            raise UsageError(f"{self.url} is inside a zip file, which cannot be written. Use a URL that ends in .zip.")
        if self.url.startswith(("http://", "https://")):
            raise UsageError(f"{self.url} can only be read. Use another URL, such as s3://bucket/{self.name}.")
        trial = f"{self.path}.opconform-trial"
        self._request("written", self.files.pipe_file, trial, b"\n")
        with contextlib.suppress(Exception):  # the credentials may allow writing, but not deleting
            self.files.rm_file(trial)

    def download(self, place: Path) -> None:
        """Write what is here to a place that does not exist: results as a folder, anything else as the zip file.

        Raises:
            DiskError: The disk is full.
            SuiteError: The zip file is damaged, or unpacks to many times its size.
        """
        self._request("read", self.files.get_file, self.path, str(place))
        store = open_store(place)
        if not isinstance(store, Zip):
            raise MissingError(f"{self.url} is a folder. Name a zip file.")
        with store.archive as archive:
            if not self.inside and all(name.rpartition("/")[2] != RESULTS for name in archive.namelist()):
                return
            with TemporaryFolder() as scratch:
                folder = Path(scratch) / "content" / self.inside
                try:
                    archive.extractall(Path(scratch) / "content")  # which writes nothing outside the folder
                except ZIP_ERRORS as error:
                    _check_room(error)
                    raise SuiteError(f"{self.url} cannot be unpacked: {error}. Write it again.") from error
                if not folder.is_dir():
                    raise MissingError(f"{self.url} is missing: the zip file has no such folder.")
                place.unlink()
                shutil.move(folder, place)
        self._date(place)

    def upload(self, place: Path, *, replace: bool) -> None:
        """Store a zip file, or a folder as one; only `replace` replaces what is there, unless it is the same.

        Raises:
            DiskError: The disk is full.
            SuiteError: A file in the folder is a link or cannot be read.
            UsageError: The URL has other content. It is unchanged.
        """
        with TemporaryFolder() as scratch:
            file = _packed(place, Path(scratch) / "packed.zip") if place.is_dir() else place
            if replace:
                self._request("written", self.files.put_file, str(file), self.path)
            elif self.exists() or not self._create(file):
                copy = Path(scratch) / "copy.zip"
                self._request("read", self.files.get_file, self.path, str(copy))
                if not filecmp.cmp(file, copy, shallow=False):
                    raise occupied(self.url)

    def _create(self, file: Path) -> bool:
        """Store a file, unless another writer has stored one and the store knows the condition; returns whether."""
        try:
            self._request("written", self.files.put_file, str(file), self.path, mode="create")
        except FileExistsError:
            return False
        except _UnsupportedError:
            self._request("written", self.files.put_file, str(file), self.path)
        return True

    def _request(self, verb: str, action: Callable[..., _Answer], *arguments: object, **settings: str) -> _Answer:
        """The answer to a request, or the error in one sentence."""
        try:
            return action(*arguments, **settings)
        except FileExistsError:
            raise
        except Exception as error:
            _check_room(error)
            what, reason = f"{self.url} cannot be {verb}", _reason_of(error, self.secrets)
            if isinstance(error, FileNotFoundError):
                raise MissingError(f"{what}: not found ({reason}). Check the URL.") from error
            if isinstance(error, PermissionError):
                raise UsageError(f"{what}: access denied ({reason}). Check the credentials.") from error
            if isinstance(error, NotImplementedError) or getattr(error, "errno", None) == errno.ENOSYS:
                unsupported = f"the store does not support it ({reason}). Use another URL."
                raise _UnsupportedError(f"{what}: {unsupported}") from error
            advice = "Check the URL, the credentials and the network, and run the same command again."
            raise StoreError(f"{what}: {reason}. {advice}") from error

    def _date(self, folder: Path) -> None:
        """Give the files of a folder, which reports date, the time of its upload, if the store knows it."""
        with contextlib.suppress(OpconformError, OSError, OverflowError):
            time_of_upload = self._request("read", lambda path: self.files.modified(path).timestamp(), self.path)
            for path in folder.iterdir():
                os.utime(path, (time_of_upload, time_of_upload))


def bucket_at(url: str) -> Bucket:
    """The zip file at a URL; `UsageError` if no installed package can read such a URL."""
    secrets, whole, url = secrets_of(url), url, without_credentials(url)
    try:
        import fsspec.core
    except ImportError as error:
        raise UsageError(f"{url}: URLs need the package fsspec. {_EXTRA}") from error
    protocol = url.partition(":")[0]
    file, dot, inside = whole.partition(".zip/")
    try:
        files, path = fsspec.core.url_to_fs(f"{file}.zip" if dot else whole)
    except ImportError as error:
        needed = f"the package s3fs. {_EXTRA}" if protocol == "s3" else f"a package that is not installed. {error}."
        raise UsageError(f"{url}: {protocol}:// needs {needed}") from error
    except Exception as error:
        if isinstance(error, ValueError) and protocol not in fsspec.available_protocols():
            raise UsageError(f"{url}: the protocol {protocol}:// is unknown. Use another, such as s3://.") from error
        raise UsageError(f"{url} cannot be used: {_reason_of(error, secrets)}.") from error
    if _leads_out(inside):
        raise UsageError(f"{url} names a folder outside of the zip file. Name one inside it.")
    if not path.endswith(".zip"):
        raise UsageError(f"{url} does not name a zip file. Use a URL such as {protocol}://bucket/name.zip.")
    return Bucket(url=url.rstrip("/"), path=path, inside=inside.rstrip("/"), files=files, secrets=secrets)


def _leads_out(inside: str) -> bool:
    """Whether the rest of a URL after the zip file, which becomes a part of a local path, leads out of the file."""
    parts = PurePath("content", inside).parts  # which an absolute path replaces
    return ".." in parts or parts[0] != "content"


def occupied(url: str) -> UsageError:
    """The error for writing to a URL that has something else."""
    return UsageError(
        f"{url} already has other content, and it was not replaced. Replace results with --force, use another URL, or "
        f"delete the content first."
    )


def _packed(folder: Path, place: Path) -> Path:
    """Write the files of a folder, without hidden ones, to a zip file: the same files give the same bytes."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    names = [path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)]
    try:
        write_zip(folder, names, place)
    except OSError as error:
        _check_room(error)
        raise SuiteError(f"{error.filename or folder} cannot be read: {error.strerror}.") from error
    return place


def _check_room(error: BaseException) -> None:
    """Raise an error of its own for a full disk."""
    if isinstance(error, OSError) and DiskError.is_full(error):
        raise DiskError(Path(tempfile.gettempdir()), error) from error


def _reason_of(error: BaseException, secrets: Sequence[str]) -> str:
    """The reason of an error in one line, without the secrets of a URL."""
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    for secret in secrets:
        text = text.replace(secret, "***")
    return quoted_text(" ".join(text.split()).removesuffix("."))
