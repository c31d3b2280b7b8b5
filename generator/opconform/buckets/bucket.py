"""Buckets: what is at an fsspec URL, which is a zip file or a folder.

A folder is stored as shards, which are zip files named by their SHA-256, and as `index.json`, which lists them. The
index is written last, so that a reader never sees a part of a folder, and only if no other writer has written one.
Nothing is listed, and a request is repeated a few times if it fails.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.buckets.answer import answer_of, is_unsupported, may_pass, reason_of
from opconform.buckets.url import secrets_of, without_credentials
from opconform.buckets.zip_files import SIZE, packed, unpack
from opconform.errors import DiskError, MissingError, OpconformError, SuiteError, UsageError
from opconform.files import FileTooLargeError, read_regular
from opconform.temporary import TemporaryFolder

INDEX = "index.json"
#: The seconds before a failed request is repeated.
WAITS = (0.1, 0.2, 0.4, 0.8)
#: The most bytes of an index.
_INDEX_LIMIT = 1 << 24
_EXTRA = "Install it with `pip install 'opconform[cluster]'`."
_Answer = TypeVar("_Answer")


class StoreError(OpconformError):
    """A store that fails, or returns other bytes than were written."""


class _UnsupportedError(StoreError):
    """A request that the store does not know."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """A zip file of a folder."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.sha256}.zip"


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """The shards of a folder."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    format: Literal[1]
    shards: tuple[Shard, ...]


_INDEX = TypeAdapter(Index)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """The file or folder at a URL: a file if its name ends in `.zip`.

    Its methods raise `MissingError`, `StoreError` or `UsageError` if a request fails.

    Attributes:
        url: The URL without name and password.
        secrets: The name and the password, which messages do not show.
        on_wait: Called periodically with a sentence about the request that is waited for.
    """

    url: str
    path: str
    files: Any  # fsspec has no types
    secrets: tuple[str, ...] = ()
    on_wait: Callable[[str], None] = lambda _: None

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.path.rpartition("/")[2]

    @property
    def is_file(self) -> bool:
        """Whether this is a zip file and not a folder."""
        return self.name.endswith(".zip")

    @property
    def _mark(self) -> str:
        """The file that exists if what is here is complete."""
        return self.path if self.is_file else f"{self.path}/{INDEX}"

    def exists(self) -> bool:
        """Whether there is a file or a complete folder."""
        try:
            self._request("read", lambda: self.files.info(self._mark))
        except MissingError:
            return False
        return True

    def check_writable(self) -> None:
        """Check that files can be written here, before something is made that takes long."""
        if self.url.startswith(("http://", "https://")):
            raise UsageError(f"{self.url} can only be read. Use another URL, such as s3://bucket/{self.name}.")
        if not self.is_file:
            self._put_empty()

    def download(self, place: Path) -> None:
        """Write the file or folder to a place that does not exist; also `SuiteError` if it is damaged."""
        if self.is_file:
            found = self._request("read", lambda: self.files.info(self._mark).get("size"))
            self._get(self._mark, place, size=found or SIZE)
            return
        with TemporaryFolder() as scratch:
            index, shard = Path(scratch) / INDEX, Path(scratch) / "shard.zip"
            try:
                self._get(self._mark, index)
            except MissingError as fault:
                if self._download_inside(place):
                    return
                lacking = f"{self.url} has no {INDEX}: nothing was written there, or the upload was not completed"
                raise MissingError(f"{lacking}. Commands write to it with `--out {self.url}`.") from fault
            place.mkdir()
            for each in self._index(index).shards:
                self._get(f"{self.path}/{each.name}", shard, each)
                unpack(shard, place, f"{self.url}/{each.name}")
        self._date(place)

    def _download_inside(self, place: Path) -> bool:
        """Write a folder that is inside a stored one, such as the suite of results; returns whether there is one."""
        outside, _, name = self.path.rpartition("/")
        if not outside.strip("/"):
            return False
        with TemporaryFolder() as scratch:
            try:
                replace(self, url=self.url.rpartition("/")[0], path=outside).download(Path(scratch) / "outside")
            except MissingError:
                return False
            if not (Path(scratch) / "outside" / name).is_dir():
                return False
            shutil.move(Path(scratch) / "outside" / name, place)
        return True

    def upload(self, place: Path, *, replace: bool) -> None:
        """Store a file or folder; only `replace` replaces what is there, unless it is the same.

        Raises:
            UsageError: The bucket has other content. It is unchanged.
        """
        with TemporaryFolder() as scratch:
            mark = place
            if not self.is_file:
                shards = []
                for each in packed(place, Path(scratch) / "shard.zip"):
                    shard = Shard(sha256=_sha256(each), bytes=each.stat().st_size)
                    self._put(each, f"{self.path}/{shard.name}")
                    shards.append(shard)
                mark = Path(scratch) / INDEX
                mark.write_bytes(_INDEX.dump_json(Index(format=1, shards=tuple(shards)), indent=1) + b"\n")
            if replace:
                self._put(mark, self._mark)
            else:
                self._create(mark)
            copy = Path(scratch) / "copy"
            self._get(self._mark, copy, size=mark.stat().st_size)
            if _sha256(copy) != _sha256(mark):
                raise occupied(self.url)

    def _put_empty(self) -> None:
        """Store a shard without files, which no index lists."""
        with TemporaryFolder() as scratch:
            empty = Path(scratch) / "shard.zip"
            zipfile.ZipFile(empty, "w").close()
            self._put(empty, f"{self.path}/{_sha256(empty)}.zip")

    def _create(self, mark: Path) -> None:
        """Write the file that marks this as complete, unless it exists."""

        def create() -> None:
            with contextlib.suppress(FileExistsError):
                self.files.put_file(str(mark), self._mark, mode="create")

        try:
            self._request("written", create)
        except _UnsupportedError:  # the comparison afterwards finds another writer
            if not self.exists():
                self._put(mark, self._mark)

    def _index(self, path: Path) -> Index:
        try:
            return _INDEX.validate_json(read_regular(path, _INDEX_LIMIT))
        except (ValidationError, FileTooLargeError) as fault:
            raise SuiteError(f"{self.url}/{INDEX} is not an index that opconform wrote. Write it again.") from fault

    def _put(self, place: Path, path: str) -> None:
        self._request("written", lambda: self.files.put_file(str(place), path), place.stat().st_size)

    def _get(self, path: str, place: Path, shard: Shard | None = None, *, size: int = 0) -> None:
        """Download a file; one that differs from its shard is a failed request."""

        def get() -> None:
            place.unlink(missing_ok=True)
            self.files.get_file(path, str(place))
            if shard is not None and (place.stat().st_size, _sha256(place)) != (shard.bytes, shard.sha256):
                raise OSError(errno.EIO, f"{shard.name} has other bytes than were written")

        self._request("read", get, size if shard is None else shard.bytes)

    def _request(self, verb: str, action: Callable[[], _Answer], size: int = 0) -> _Answer:
        """The answer to a request, which is repeated if the store fails; `size` is the number of bytes to transfer."""
        waits = iter(WAITS)
        while True:
            try:
                return answer_of(action, size, lambda sentence: self.on_wait(f"{self.url} {sentence}"))
            except Exception as fault:
                wait = next(waits, None) if may_pass(fault) else None
                if wait is None:
                    raise self._error(verb, fault) from fault
                time.sleep(wait)

    def _error(self, verb: str, fault: Exception) -> OpconformError:
        """The error for a request that failed for good."""
        what, reason = f"{self.url} cannot be {verb}", reason_of(fault, self.secrets)
        if isinstance(fault, FileNotFoundError):
            return MissingError(f"{what}: not found ({reason}). Check the URL.")
        if isinstance(fault, PermissionError):
            return UsageError(f"{what}: access denied ({reason}). Check the credentials.")
        if is_unsupported(fault):
            return _UnsupportedError(f"{what}: the store does not support it ({reason}). Use another URL.")
        if isinstance(fault, OSError) and DiskError.is_full(fault):
            return DiskError(Path(tempfile.gettempdir()), fault)
        tried = f" after {len(WAITS) + 1} attempts" if may_pass(fault) else ""
        advice = "Check the URL, the credentials and the network, and run the same command again."
        return StoreError(f"{what}{tried}: {reason}. {advice}")

    def _date(self, folder: Path) -> None:
        """Give the files of a folder, which reports date, the time of its upload, if the store knows it."""
        with contextlib.suppress(OpconformError):
            time_of_upload = self._request("read", lambda: self.files.modified(self._mark)).timestamp()
            for each in folder.iterdir():
                os.utime(each, (time_of_upload, time_of_upload))


def bucket_at(url: str, on_wait: Callable[[str], None] = lambda _: None) -> Bucket:
    """The bucket at a URL; `UsageError` if no installed package can read such a URL."""
    secrets, whole, url = secrets_of(url), url, without_credentials(url)
    try:
        import fsspec.core
    except ImportError as fault:
        raise UsageError(f"{url}: URLs need the package fsspec. {_EXTRA}") from fault
    protocol = url.partition(":")[0]
    try:
        files, path = fsspec.core.url_to_fs(whole)
    except ImportError as fault:
        needed = f"the package s3fs. {_EXTRA}" if protocol == "s3" else f"another package. {fault}."
        raise UsageError(f"{url}: {protocol}:// needs {needed}") from fault
    except Exception as fault:
        if isinstance(fault, ValueError) and protocol not in fsspec.available_protocols():
            raise UsageError(f"{url}: the protocol {protocol}:// is unknown. Use another, such as s3://.") from fault
        raise UsageError(f"{url} cannot be used: {reason_of(fault, secrets)}.") from fault
    path = path.rstrip("/")
    if not path.strip("/"):
        raise UsageError(f"{url} names no file or folder. Add a name, as in {protocol}://bucket/suite.")
    return Bucket(url=url.rstrip("/"), path=path, files=files, secrets=secrets, on_wait=on_wait)


def occupied(url: str) -> UsageError:
    """The error for writing to a URL that has something else."""
    return UsageError(
        f"{url} already has other content, and it was not replaced. Replace results with --force, use another URL, or "
        f"delete the content first."
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
