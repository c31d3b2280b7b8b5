"""The outputs that a backend returned for failed cases, to be shown beside the expected ones."""

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from opconform.errors import DiskError, SuiteError
from opconform.files import open_regular, read_regular, replace_file
from opconform.tensors.npz import ZIP_ERRORS, arrays_of, member, npz_bytes
from opconform.tensors.tensor import Array
from opconform_runners.execution.outputs import member_content

KEPT = "actual.zip"
#: The bytes that are kept of a case, and of a run.
CASE_LIMIT = 1 << 16
RUN_LIMIT = 1 << 24

#: The header of a zip member; it ends with the checksum, the sizes, and the lengths of name and extra field.
_LOCAL = struct.Struct("<4s5H3L2H")
#: The first member of such an archive, which is empty.
_MARK = "opconform-actual-outputs"
_NAME = re.compile(r"feed_(\d{1,4})_output_(\d{1,9})")


def _beginning() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member(_MARK), b"")
    return stream.getvalue()[: _LOCAL.size + len(_MARK)]


#: What a file of kept outputs begins with.
KEPT_BEGINNING = _beginning()


class Keeper:
    """Keeps the outputs of cases that fail. The file appears with the first of them."""

    def __init__(self, out: Path) -> None:
        self._path = out / KEPT
        self._left = RUN_LIMIT
        self._archive: zipfile.ZipFile | None = None

    def resume(self) -> None:
        """Continue the file of an interrupted run."""
        if not self._path.exists():
            return
        try:
            if not _is_finished(self._path):
                replace_file(self._path, _mended(self._path.read_bytes()))
            self._archive = zipfile.ZipFile(self._path, "a")
        except OSError as fault:
            raise DiskError(self._path, fault) from fault
        self._left -= sum(each.file_size for each in self._archive.infolist())

    def keep(self, case: str, outputs: Sequence[Sequence[Array]]) -> None:
        """Keep a case's outputs, one array per output of each feed, if there is room for them."""
        name = f"{case}.npz"
        if sum(each.nbytes for feed in outputs for each in feed) > min(CASE_LIMIT, self._left):
            return
        if self._archive is not None and name in self._archive.NameToInfo:  # kept just before an interruption
            return
        numbered = [(feed, number, each) for feed, some in enumerate(outputs) for number, each in enumerate(some)]
        content = npz_bytes({f"feed_{feed}_output_{number}": each for feed, number, each in numbered})
        self._left -= len(content)
        try:
            if self._archive is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)  # a harness may have removed it
                self._archive = zipfile.ZipFile(self._path, "w")
                self._archive.writestr(member(_MARK), b"")
            self._archive.writestr(member(name), content)
            if self._archive.fp is not None:
                self._archive.fp.flush()
        except OSError as fault:
            raise DiskError(self._path, fault) from fault

    def close(self) -> None:
        """Finish the file, if there is one. Even an unfinished file can be read."""
        if self._archive is not None:
            with contextlib.suppress(OSError):
                self._archive.close()


class Kept:
    """The kept outputs of a run; none if its folder has no such file."""

    def __init__(self, out: Path) -> None:
        self._path = out / KEPT
        self._archive: zipfile.ZipFile | None = None
        try:
            self._archive = _archive(self._path)
        except FileNotFoundError:
            pass
        except ZIP_ERRORS as fault:
            raise SuiteError(f"{self._path} cannot be read: {fault}. Run the suite again.") from fault

    def outputs(self, case: str) -> Mapping[tuple[int, int], Array]:
        """The outputs of a case by feed and number; none if they were not kept."""
        name = f"{case}.npz"
        if self._archive is None or name not in self._archive.NameToInfo:
            return {}
        content = member_content(self._archive, self._path, name, 2 * RUN_LIMIT)
        arrays = arrays_of(content, f"{self._path}: {name}", limit=2 * RUN_LIMIT)
        return {_place(key): each for key, each in arrays.items()}


def _place(name: str) -> tuple[int, int]:
    found = _NAME.fullmatch(name)
    if found is None:
        raise SuiteError(f"{KEPT} contains {name!r}, which is not an output. Run the suite again.")
    return int(found[1]), int(found[2])


def _archive(path: Path) -> zipfile.ZipFile:
    open_regular(path).close()
    if _is_finished(path):
        return zipfile.ZipFile(path)
    content = read_regular(path, 4 * RUN_LIMIT)
    if not content.startswith(KEPT_BEGINNING):
        raise zipfile.BadZipFile("opconform did not write it")
    return zipfile.ZipFile(io.BytesIO(_mended(content)))


def _is_finished(path: Path) -> bool:
    """Whether an archive has its own directory, not only those of the archives in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _MARK in archive.NameToInfo
    except zipfile.BadZipFile:
        return False


def _mended(content: bytes) -> bytes:
    """An unfinished archive with a directory; a member that was not written completely is left out."""
    mended, place = io.BytesIO(), 0
    with zipfile.ZipFile(mended, "w") as archive:
        while content[place : place + 4] == b"PK\x03\x04" and place + _LOCAL.size <= len(content):
            *_, crc, size, _, name_size, extra_size = _LOCAL.unpack_from(content, place)
            start = place + _LOCAL.size + name_size + extra_size
            name, data = content[place + _LOCAL.size :][:name_size], content[start : start + size]
            if zlib.crc32(data) != crc or len(data) != size:
                break
            archive.writestr(member(name.decode("utf-8", "replace")), data)
            place = start + size
    return mended.getvalue()
