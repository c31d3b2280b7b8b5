"""`outputs.zip`: the outputs of cases that are needed again, one `.npz` file per feed, written as they come."""

import contextlib
import io
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from opconform.errors import DiskError, SuiteError
from opconform.system.files import open_regular, replacement
from opconform.tensors.npz import ZIP_ERRORS, arrays_of, member
from opconform.tensors.tensor import Array
from opconform_runners.execution.log.outputs import in_order, member_content
from opconform_runners.verdicts.results import OUTPUTS_ZIP

#: The bytes that are kept of a case that fails, and of a run.
CASE_LIMIT, RUN_LIMIT = 1 << 16, 1 << 24
#: The header of a zip member; it ends with the checksum, the sizes, and the lengths of name and extra field.
_LOCAL = struct.Struct("<4s5H3L2H")
#: The first member of such an archive, which is empty.
MARK = "opconform-outputs"


def _beginning() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member(MARK), b"")
    return stream.getvalue()[: _LOCAL.size + len(MARK)]


#: What such an archive begins with.
OUTPUTS_BEGINNING = _beginning()


class OutputsWriter:
    """Writes outputs to an archive, which appears with the first of them, up to a number of bytes or without limit."""

    def __init__(self, path: Path, limit: int | None) -> None:
        self._path, self._left = path, limit
        self._archive: zipfile.ZipFile | None = None

    def resume(self, names: Collection[str]) -> None:
        """Continue the archive of an interrupted run; only its named members are used."""
        if not self._path.exists():
            return
        try:
            if not _is_finished(self._path) or not set(names).issuperset(_names(self._path)):
                with open_regular(self._path) as source, replacement(self._path) as file:
                    _copy(source, file, names)
            self._archive = zipfile.ZipFile(self._path, "a")
        except OSError as error:
            raise DiskError(self._path, error) from error
        if self._left is not None:
            self._left -= sum(info.file_size for info in self._archive.infolist())

    def has_room(self, size: int) -> bool:
        """Whether so many bytes may be written."""
        return self._left is None or size <= self._left

    def write(self, name: str, content: bytes) -> None:
        """Write a member at once, or raise a DiskError."""
        try:
            if self._archive is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)  # a harness may have removed it
                self._archive = zipfile.ZipFile(self._path, "w")
                self._archive.writestr(member(MARK), b"")
            if name in self._archive.NameToInfo:
                return  # a twin that several batches of a streamed run execute
            self._archive.writestr(member(name), content)
            if self._archive.fp is not None:
                self._archive.fp.flush()
        except OSError as error:
            raise DiskError(self._path, error) from error
        if self._left is not None:
            self._left -= len(content)

    def close(self) -> None:
        """Finish the archive, if there is one. Even an unfinished one can be read."""
        if self._archive is not None:
            with contextlib.suppress(OSError):
                self._archive.close()


class KeptOutputs:
    """The outputs that a run has kept; none if its folder has no such file."""

    def __init__(self, out: Path) -> None:
        self._path = out / OUTPUTS_ZIP
        self._archive: zipfile.ZipFile | None = None
        try:
            self._archive = _archive(self._path)
        except FileNotFoundError:
            pass
        except ZIP_ERRORS as error:
            raise SuiteError(f"{self._path} cannot be read: {error}. Run the suite again.") from error

    def files(self, case: str) -> list[bytes]:
        """The files of a case's outputs, one per feed; none if they were not kept."""
        members = {} if self._archive is None else self._archive.NameToInfo
        files: list[bytes] = []
        while (name := f"{case}/outputs{f'.{len(files)}' * bool(files)}.npz") in members and self._archive is not None:
            files.append(member_content(self._archive, self._path, name, 2 * RUN_LIMIT))
        return files

    def outputs(self, case: str) -> Mapping[tuple[int, int], Array]:
        """The outputs of a case by feed and number; none if they were not kept."""
        numbered: dict[tuple[int, int], Array] = {}
        for feed, content in enumerate(self.files(case)):
            where = f"{self._path}: {case}"
            arrays = in_order(arrays_of(content, where, limit=2 * RUN_LIMIT))
            if arrays is None:
                raise SuiteError(f"{where} has arrays that are not outputs. Run the suite again.")
            numbered |= {(feed, number): array for number, array in enumerate(arrays)}
        return numbered


def _archive(path: Path) -> zipfile.ZipFile:
    with open_regular(path) as file:
        if not _is_finished(path):
            mended = io.BytesIO()
            if not file.read(len(OUTPUTS_BEGINNING)) == OUTPUTS_BEGINNING:
                raise zipfile.BadZipFile("opconform did not write it")
            if file.seek(0, io.SEEK_END) > 4 * RUN_LIMIT:
                raise zipfile.BadZipFile("it is too large")
            file.seek(0)
            _copy(file, mended, None)
            return zipfile.ZipFile(mended)
    return zipfile.ZipFile(path)


def _is_finished(path: Path) -> bool:
    """Whether an archive has its own directory, and not only the directories of the archives in it."""
    return MARK in _names(path, marked=True)


def _names(path: Path, *, marked: bool = False) -> set[str]:
    """The names in the directory of an archive; none if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except OSError:
        raise
    except ZIP_ERRORS:
        return set()
    if any(info.header_offset < 0 for info in members):
        return set()  # such a directory can be read, but not be written again
    return {info.filename for info in members} - (set() if marked else {MARK})


def _copy(source: BinaryIO, target: BinaryIO, names: Collection[str] | None) -> None:
    """Copy the named members of an archive that may be unfinished, or all of them, to a finished one."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in _members(source):
            if names is None or name == MARK or name in names:
                archive.writestr(member(name), content)


def _members(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The members of an archive, up to the first one that was not written completely."""
    while len(head := file.read(_LOCAL.size)) == _LOCAL.size and head.startswith(b"PK\x03\x04"):
        *_, crc, size, _, name_size, extra_size = _LOCAL.unpack(head)
        name = file.read(name_size)
        file.seek(extra_size, io.SEEK_CUR)
        content = file.read(size)
        if len(content) != size or zlib.crc32(content) != crc or not name.isascii():
            return
        yield name.decode("ascii"), content
