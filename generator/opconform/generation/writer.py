"""Writing a suite: in its work folder first, case by case, and put in its place when it is whole.

A generation that was killed continues from its work folder, and one that replaces a suite takes its unchanged cases
over. Every case is evaluated in either case: a file is kept only where its bytes are the evaluated ones, so nothing
that lies in the folders is believed.
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
        """Whether a case is there byte for byte; its folder is then in place, and otherwise there is none."""
        target = self.partial / files.entry.id
        if self.resumed and _holds(target, files.contents):
            return True
        if self.resumed:  # a file of it may be a hard link to one of the suite that is replaced
            shutil.rmtree(target, ignore_errors=True)
        source = None if self.earlier is None else self.earlier / files.entry.id
        if source is None or not _holds(source, files.contents):
            return False
        _link(source, target, files.contents)
        return True


@dataclass(slots=True)
class ManifestFile:
    """The manifest while it is written: lines in the order in which cases are done, and where each stands."""

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
        """Write the lines in the order of their ids; returns the manifest's SHA-256."""
        digest = hashlib.sha256()
        with (self._work.partial / MANIFEST).open("wb") as ordered, self._work.lines.open("rb") as lines:
            for _, start, size in sorted(self._lines):
                lines.seek(start)
                line = lines.read(size)
                digest.update(line)
                ordered.write(line)
        return digest.hexdigest()


def prepare(work: WorkFolder) -> Leftovers:
    """Make the partial folder ready, and find what can be taken over.

    Raises:
        UsageError: What stands at the place is no suite.
    """
    with telling(work.out):
        check_replaceable(work.out)
        resumed = work.partial.exists()
        work.partial.mkdir(exist_ok=True)
        earlier = work.out if (work.out / HEADER).exists() else None
    return Leftovers(partial=work.partial, resumed=resumed, earlier=earlier)


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
def manifest_file(work: WorkFolder) -> Iterator[ManifestFile]:
    """The manifest of the suite that is being written."""
    with telling(work.out), work.lines.open("wb") as file:
        yield ManifestFile(work, file)


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


def finish(work: WorkFolder, header: Header, *, resumed: bool) -> None:
    """Put a suite whose cases and manifest are written in its place, whole or not at all.

    Raises:
        SuiteError: The disk is full, or refuses.
        UsageError: Something else has been put at the place meanwhile.
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
    """State what the operating system refused in one sentence.

    Raises:
        SuiteError: It refused something.
    """
    try:
        yield
    except OSError as fault:
        where = fault.filename or path
        advice = "Make room and run the same command again: what is written is kept."
        raise SuiteError(f"{where} cannot be written: {fault.strerror or fault}. {advice}") from fault


def is_zip(out: Path) -> bool:
    """Whether the suite at a place is one file."""
    return out.suffix == ".zip"


def check_replaceable(out: Path) -> None:
    """Check that nothing stands at a place but a whole suite and nothing else, or an empty folder or file.

    Raises:
        UsageError: Something else does.
    """
    check_no_link(out)
    if not out.exists():
        return
    if not (out.is_file() if is_zip(out) else out.is_dir()):
        raise UsageError(f"{out} is no {'file' if is_zip(out) else 'folder'}; --out names a folder or a file NAME.zip.")
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
    """Remove everything that an earlier attempt left and that is no part of the suite."""
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
    """Write a suite into one zip file, members in the order of the manifest."""
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
