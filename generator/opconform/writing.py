"""Writing a suite: beside its place first, case by case, and put in its place when it is whole.

While `NAME` is written, the folder `NAME.partial` holds the cases that are done. A generation that was killed continues
from there, and one that replaces a suite takes its unchanged cases over. Every case is evaluated in either case: a file
is kept only where its bytes are the evaluated ones, so nothing that lies in the folders is believed.
"""

import contextlib
import errno
import hashlib
import io
import os
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from opconform.casefiles import CaseFiles
from opconform.errors import SpecError, SuiteError, UsageError
from opconform.npz import member
from opconform.replacing import replace_file
from opconform.suite import HEADER, MANIFEST, Header, entry_of, header_text, open_suite
from opconform.verifying import foreign_faults

_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a suite is written: its final name, and the names beside it that are used on the way."""

    out: Path

    @property
    def is_zip(self) -> bool:
        """Whether the suite becomes one file."""
        return self.out.suffix == ".zip"

    @property
    def partial(self) -> Path:
        """The folder of a suite that is being written."""
        return self.out.with_name(f"{self.out.name}.partial")

    @property
    def packed(self) -> Path:
        """The zip file that is being written."""
        return self.out.with_name(f"{self.out.name}.packing")

    @property
    def replaced(self) -> Path:
        """The suite that is being replaced, until the new one is in its place."""
        return self.out.with_name(f"{self.out.name}.replaced")

    @property
    def lock(self) -> Path:
        """The file that is locked meanwhile."""
        return self.out.with_name(f"{self.out.name}.lock")


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftovers:
    """Folders whose cases need not be written again.

    Attributes:
        partial: The folder of the suite that is being written.
        resumed: Whether it holds what an earlier attempt wrote.
        earlier: The suite that is replaced, or None.
    """

    partial: Path
    resumed: bool
    earlier: Path | None

    def keep(self, files: CaseFiles) -> bool:
        """Whether a case is there byte for byte; its folder is then in place."""
        target = self.partial / files.entry.id
        if self.resumed and _holds(target, files.contents):
            return True
        source = None if self.earlier is None else self.earlier / files.entry.id
        if source is None or not _holds(source, files.contents):
            return False
        _link(source, target, files.contents)
        return True


@dataclass(slots=True)
class ManifestFile:
    """The manifest while it is written: lines in the order in which cases are done, and where each stands."""

    _path: Path
    _file: BinaryIO
    _lines: list[tuple[str, int, int]] = field(default_factory=list)
    _end: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"accept": 0, "reject": 0})

    def add(self, identity: str, line: bytes, *, accepted: bool) -> None:
        """Write a case's line."""
        self._file.write(line)
        self._file.flush()
        self._lines.append((identity, self._end, len(line)))
        self._end += len(line)
        self.counts["accept" if accepted else "reject"] += 1

    def finish(self) -> str:
        """Put the lines in the order of their ids; gives the manifest's SHA-256."""
        digest = hashlib.sha256()
        beside = self._path.with_name(f"{self._path.name}.new")
        with beside.open("wb") as ordered, self._path.open("rb") as lines:
            for _, start, size in sorted(self._lines):
                lines.seek(start)
                line = lines.read(size)
                digest.update(line)
                ordered.write(line)
        beside.replace(self._path)
        return digest.hexdigest()


def prepare(place: Place) -> Leftovers:
    """Make the partial folder ready, and find what can be taken over.

    Raises:
        UsageError: What stands at the place is no suite.
    """
    with telling(place.out):
        if place.replaced.exists():
            _settle(place)
        _check_ours(place)
        resumed = place.partial.exists()
        place.partial.mkdir(parents=True, exist_ok=True)
        earlier = place.out if not place.is_zip and (place.out / HEADER).exists() else None
    return Leftovers(partial=place.partial, resumed=resumed, earlier=earlier)


@contextlib.contextmanager
def forgetting(leftovers: Leftovers) -> Iterator[None]:
    """Remove the partial folder again where the specs turn out to be wrong, unless it was there before."""
    try:
        yield
    except (SpecError, UsageError):
        if not leftovers.resumed:
            shutil.rmtree(leftovers.partial, ignore_errors=True)
        raise


@contextlib.contextmanager
def manifest_file(place: Place) -> Iterator[ManifestFile]:
    """The manifest of the suite that is being written."""
    path = place.partial / MANIFEST
    with telling(place.out), path.open("wb") as file:
        yield ManifestFile(path, file)


def write_case(partial: Path, files: CaseFiles) -> None:
    """Write a case's folder.

    Raises:
        SuiteError: The disk is full, or refuses.
    """
    folder = f"{partial}/{files.entry.id}"
    with telling(partial):
        for inner in {name.rpartition("/")[0] for name in files.contents} - {""} or {""}:
            os.makedirs(f"{folder}/{inner}", exist_ok=True)  # noqa: PTH103 - Path costs as much as the writing
        for name, content in files.contents.items():
            with open(f"{folder}/{name}", "wb", buffering=0) as file:  # noqa: PTH123 - the same
                write_all(file, content)


def finish(place: Place, header: Header, *, resumed: bool) -> None:
    """Put a suite whose cases and manifest are written in its place, whole or not at all.

    Raises:
        SuiteError: The disk is full, or refuses.
    """
    with telling(place.out):
        replace_file(place.partial / HEADER, header_text(header).encode())
        if resumed:
            _sweep(place.partial)
        if place.is_zip:
            _pack(place)
            return
        if place.out.exists():
            place.out.rename(place.replaced)
        place.partial.rename(place.out)
        shutil.rmtree(place.replaced, ignore_errors=True)


@contextlib.contextmanager
def telling(path: Path) -> Iterator[None]:
    """Say what the operating system refused in a sentence.

    Raises:
        SuiteError: It refused something.
    """
    try:
        yield
    except OSError as fault:
        where = fault.filename or path
        advice = "Make room and run the same command again: what is written is kept."
        raise SuiteError(f"{where} cannot be written: {fault.strerror or fault}. {advice}") from fault


def _settle(place: Place) -> None:
    """End an exchange of suites that was interrupted."""
    if place.out.exists():
        shutil.rmtree(place.replaced)
    else:
        place.replaced.rename(place.out)


def _check_ours(place: Place) -> None:
    if place.is_zip or not place.out.exists():
        return
    if not place.out.is_dir():
        raise UsageError(f"{place.out} is a file; --out names a folder, or a file that ends in .zip.")
    if not any(place.out.iterdir()):
        return
    if not (place.out / HEADER).exists():
        raise UsageError(f"{place.out} holds other files and no suite, and nothing is overwritten. Name another --out.")
    try:
        suite = open_suite(place.out)
    except SuiteError as fault:
        raise UsageError(f"{fault} It is not replaced: remove {place.out} first, or name another --out.") from fault
    foreign = next(foreign_faults(suite), None)
    if foreign is not None:
        raise UsageError(f"{foreign} The suite is not replaced: move the file away, or name another --out.")


def _holds(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Whether a folder has all the files, each a regular file of just these bytes."""
    return all(_is_file_of(folder / name, content) for name, content in contents.items())


def _is_file_of(path: Path, content: bytes) -> bool:
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _link(folder: Path, target: Path, names: Iterable[str]) -> None:
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).unlink(missing_ok=True)
        try:
            (target / name).hardlink_to(folder / name)
        except OSError:
            shutil.copyfile(folder / name, target / name)


def write_all(file: io.FileIO, content: bytes) -> None:
    """Write all of it; one call writes no more than some 2 GiB, and a full disk takes nothing more."""
    rest = memoryview(content)
    while rest:
        written = file.write(rest)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
        rest = rest[written:]


def _sweep(partial: Path) -> None:
    """Remove what an earlier attempt left that is no part of the suite."""
    with (partial / MANIFEST).open("rb") as file:
        entries = {each.id: set(each.files) for each in (entry_of(line, MANIFEST) for line in file)}
    for folder in partial.glob("*/*/*"):
        files = entries.get(folder.relative_to(partial).as_posix())
        if files is None:
            shutil.rmtree(folder)
            continue
        for path in folder.rglob("*"):
            if not path.is_dir() and path.relative_to(folder).as_posix() not in files:
                path.unlink()
    for folder in sorted(partial.glob("*/*/"), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _pack(place: Place) -> None:
    """Put the partial folder into one zip file, members in the order of the manifest."""
    with zipfile.ZipFile(place.packed, "w") as archive:
        for name in _names(place.partial):
            with (
                (place.partial / name).open("rb") as source,
                archive.open(member(name), "w", force_zip64=True) as target,
            ):
                shutil.copyfileobj(source, target, _CHUNK)
    place.packed.replace(place.out)
    shutil.rmtree(place.partial)


def _names(partial: Path) -> Iterator[str]:
    yield HEADER
    yield MANIFEST
    with (partial / MANIFEST).open("rb") as file:
        for line in file:
            entry = entry_of(line, MANIFEST)
            yield from (f"{entry.id}/{name}" for name in entry.files)
