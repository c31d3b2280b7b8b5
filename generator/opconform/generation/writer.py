"""The writer of suites: case by case in the work folder, which replaces the suite when it is complete.

A generation continues a killed one from its work folder, and takes over the unchanged cases of the suite that it
replaces. Every case is still evaluated, and a file is kept only if its bytes are the evaluated ones.
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

from opconform.errors import SpecError, SuiteError, UsageError
from opconform.files import check_no_link
from opconform.generation.case_files import CaseFiles
from opconform.generation.work_folder import WorkFolder
from opconform.suite.manifest import HEADER, MANIFEST, Header, entry_of, header_text
from opconform.suite.reader import open_suite
from opconform.suite.verification import foreign_faults
from opconform.tensors.npz import member

_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftovers:
    """Folders with cases that may not have to be written again.

    Attributes:
        partial: The folder of the suite that is being written.
        resumed: Whether it has files of an earlier attempt.
        earlier: The suite that is replaced, or None.
    """

    partial: Path
    resumed: bool
    earlier: Path | None

    def keep(self, files: CaseFiles) -> bool:
        """Put an identical folder of a case in place, if there is one; otherwise remove the folder."""
        target = self.partial / files.entry.id
        if self.resumed and _holds(target, files.contents):
            return True
        if self.resumed:  # its files may be hard links into the suite that is replaced
            shutil.rmtree(target, ignore_errors=True)
        source = None if self.earlier is None else self.earlier / files.entry.id
        if source is None or not _holds(source, files.contents):
            return False
        _link(source, target, files.contents)
        return True


@dataclass(slots=True)
class ManifestFile:
    """The manifest while it is written: unordered lines, and the place of each."""

    _work: WorkFolder
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
        """Write the lines in the order of their ids. Returns the manifest's SHA-256."""
        digest = hashlib.sha256()
        with (self._work.partial / MANIFEST).open("wb") as ordered, self._work.lines.open("rb") as lines:
            for _, start, size in sorted(self._lines):
                lines.seek(start)
                line = lines.read(size)
                digest.update(line)
                ordered.write(line)
        return digest.hexdigest()


def prepare(work: WorkFolder) -> Leftovers:
    """Prepare the partial folder, and find what can be taken over.

    Raises:
        UsageError: The path has something other than a suite.
    """
    with telling(work.out):
        check_replaceable(work.out)
        resumed = work.partial.exists()
        work.partial.mkdir(exist_ok=True)
        earlier = work.out if (work.out / HEADER).exists() else None
    return Leftovers(partial=work.partial, resumed=resumed, earlier=earlier)


@contextlib.contextmanager
def forgetting(leftovers: Leftovers) -> Iterator[None]:
    """Remove a new partial folder again if the specs are wrong."""
    try:
        yield
    except (SpecError, UsageError):
        if not leftovers.resumed:
            shutil.rmtree(leftovers.partial, ignore_errors=True)
        raise


@contextlib.contextmanager
def manifest_file(work: WorkFolder) -> Iterator[ManifestFile]:
    """The manifest of the suite that is being written."""
    with telling(work.out), work.lines.open("wb") as file:
        yield ManifestFile(work, file)


def write_case(partial: Path, files: CaseFiles) -> None:
    """Write a case's folder.

    Raises:
        SuiteError: A file cannot be written.
    """
    folder = f"{partial}/{files.entry.id}"
    with telling(partial):
        for inner in {name.rpartition("/")[0] for name in files.contents} - {""} or {""}:
            os.makedirs(f"{folder}/{inner}", exist_ok=True)  # noqa: PTH103 - Path costs as much as the writing
        for name, content in files.contents.items():
            with open(f"{folder}/{name}", "wb", buffering=0) as file:  # noqa: PTH123 - the same
                write_all(file, content)


def finish(work: WorkFolder, header: Header, *, resumed: bool) -> None:
    """Put a written suite in its place atomically.

    Raises:
        SuiteError: A file cannot be written.
        UsageError: Something else is there now.
    """
    with telling(work.out):
        (work.partial / HEADER).write_bytes(header_text(header).encode())
        if resumed:
            _sweep(work.partial)
        check_replaceable(work.out)
        if is_zip(work.out):
            _pack(work.partial, work.packed)
            work.packed.replace(work.out)
            shutil.rmtree(work.partial)
            return
        if work.out.exists():
            work.out.rename(work.replaced)
        work.partial.rename(work.out)
        shutil.rmtree(work.replaced, ignore_errors=True)


@contextlib.contextmanager
def telling(path: Path) -> Iterator[None]:
    """Translate errors of the operating system.

    Raises:
        SuiteError: A file cannot be written.
    """
    try:
        yield
    except OSError as fault:
        where = fault.filename or path
        advice = "Make room and run the same command again: what is written is kept."
        raise SuiteError(f"{where} cannot be written: {fault.strerror or fault}. {advice}") from fault


def is_zip(out: Path) -> bool:
    """Whether the suite at a path is one file."""
    return out.suffix == ".zip"


def check_replaceable(out: Path) -> None:
    """Check that a path has nothing, an empty folder or file, or a suite without other files.

    Raises:
        UsageError: There is something else.
    """
    check_no_link(out)
    if not out.exists():
        return
    if not (out.is_file() if is_zip(out) else out.is_dir()):
        raise UsageError(
            f"{out} is not a {'file' if is_zip(out) else 'folder'}; --out names a folder or a file NAME.zip."
        )
    if not (out.stat().st_size if is_zip(out) else any(out.iterdir())):
        return
    if not is_zip(out) and not (out / HEADER).exists():
        raise UsageError(f"{out} holds other files and no suite, and nothing is overwritten. Name another --out.")
    try:
        suite = open_suite(out)
    except SuiteError as fault:
        raise UsageError(f"{fault} It is not replaced: remove {out} first, or name another --out.") from fault
    foreign = next(foreign_faults(suite), None)
    if foreign is not None:
        raise UsageError(f"{foreign} The suite is not replaced: move the file away, or name another --out.")


def _holds(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Whether a folder has all the files, as regular files with these bytes."""
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
        try:
            (target / name).hardlink_to(folder / name)
        except OSError:
            shutil.copyfile(folder / name, target / name)


def write_all(file: io.FileIO, content: bytes) -> None:
    """Write all bytes; one call writes at most 2 GiB, and nothing on a full disk."""
    rest = memoryview(content)
    while rest:
        written = file.write(rest)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file.name)
        rest = rest[written:]


def _sweep(partial: Path) -> None:
    """Remove the files of an earlier attempt that are not part of the suite."""
    known = set(_names(partial))
    for folder, folders, files in os.walk(partial, topdown=False):
        inside = Path(folder)
        for name in files:
            if (inside / name).relative_to(partial).as_posix() not in known:
                (inside / name).unlink()
        for name in folders:
            if not any((inside / name).iterdir()):
                (inside / name).rmdir()


def _pack(partial: Path, packed: Path) -> None:
    """Write a suite to one zip file, in the order of the manifest."""
    with zipfile.ZipFile(packed, "w") as archive:
        for name in _names(partial):
            with (
                (partial / name).open("rb") as source,
                archive.open(member(name), "w", force_zip64=True) as target,
            ):
                shutil.copyfileobj(source, target, _CHUNK)


def _names(partial: Path) -> Iterator[str]:
    """The paths of a suite's files."""
    yield HEADER
    yield MANIFEST
    with (partial / MANIFEST).open("rb") as file:
        for line in file:
            entry = entry_of(line, MANIFEST)
            yield from (f"{entry.id}/{name}" for name in entry.files)
