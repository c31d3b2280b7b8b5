"""Folders packed into zip files, and unpacked again. A packed folder is untrusted until its names are checked."""

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from opconform.errors import DiskError, SuiteError
from opconform.files import open_regular
from opconform.tensors.npz import ZIP_ERRORS, member

#: A zip file is complete when its members have at least this many bytes.
SIZE = 1 << 26
#: How many bytes are copied at a time.
_BLOCK = 1 << 20


def packed(folder: Path, place: Path) -> Iterator[Path]:
    """Write the files of a folder to zip files at `place`, each in place of the one before it.

    The same files give the same zip files. Hidden files are omitted.

    Raises:
        DiskError: The disk is full.
        SuiteError: A file is a link or cannot be read.
    """
    for group in _groups(_files(folder)):
        try:
            _pack(folder, group, place)
        except OSError as fault:
            if DiskError.is_full(fault):
                raise DiskError(place, fault) from fault
            raise SuiteError(f"{fault.filename or folder} cannot be read: {fault.strerror}.") from fault
        yield place


def unpack(shard: Path, folder: Path, origin: str) -> None:
    """Write the members of a zip file into a folder; `origin` names the zip file in errors.

    Raises:
        DiskError: The disk is full.
        SuiteError: It is not a zip file that `packed` wrote.
    """
    try:
        with zipfile.ZipFile(shard) as archive:
            for each in archive.infolist():
                _check(each)
                target = folder / each.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(each) as source, target.open("xb") as file:
                    shutil.copyfileobj(source, file, _BLOCK)
    except ZIP_ERRORS as fault:
        if isinstance(fault, OSError) and DiskError.is_full(fault):
            raise DiskError(folder, fault) from fault
        raise SuiteError(f"{origin} cannot be unpacked: {fault}. Write it again.") from fault


def _pack(folder: Path, paths: Sequence[Path], place: Path) -> None:
    with zipfile.ZipFile(place, "w") as archive:
        for path in paths:
            metadata = member(path.relative_to(folder).as_posix())
            with open_regular(path) as source:
                metadata.file_size = os.fstat(source.fileno()).st_size
                with archive.open(metadata, "w") as target:
                    shutil.copyfileobj(source, target, _BLOCK)


def _check(metadata: zipfile.ZipInfo) -> None:
    """Refuse a name outside the folder, and members that are larger than their zip file, with a `ValueError`."""
    name = metadata.filename
    if "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError(f"{name!r} is not the name of a file")
    if metadata.compress_type != zipfile.ZIP_STORED or metadata.file_size != metadata.compress_size:
        raise ValueError(f"{name!r} is compressed")


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(root) / each for each in sorted(files) if not each.startswith("."))


def _groups(paths: Iterable[Path]) -> Iterator[Sequence[Path]]:
    group: list[Path] = []
    size = 0
    for each in paths:
        group.append(each)
        size += each.lstat().st_size
        if size >= SIZE:
            yield group
            group, size = [], 0
    if group:
        yield group
