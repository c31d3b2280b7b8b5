"""Writing a suite: beside its place first, case by case, and put in its place when it is whole.

While `NAME` is written, the folder `NAME.partial` holds the cases that are done, and the manifest as far as it goes. A
generation that was killed is continued from there; one that replaces a suite takes over what has not changed.
"""

import contextlib
import errno
import hashlib
import io
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from opconform.casefiles import CASE, CaseFiles, digest_of
from opconform.errors import SpecError, SuiteError, UsageError
from opconform.npz import member
from opconform.replacing import replace_file
from opconform.suite import HEADER, MANIFEST, Entry, Folder, Header, entry_line, entry_of, header_text, open_suite
from opconform.verifying import foreign_faults

_JOURNAL = "journal.jsonl"
_RECIPE = "recipe"
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
    """Cases that need not be made again: the folder that each lies below, and its line of the manifest."""

    partial: Path
    found: Mapping[str, tuple[Path, Entry]]
    resumed: bool

    def take(self, identity: str, case: bytes) -> Entry | None:
        """The line of a case that is there with the same `case.json` and whole, its folder put in place; or None."""
        source, entry = self.found.get(identity, (None, None))
        if source is None or entry is None or entry.files.get(CASE) != digest_of(case):
            return None
        folder, target = source / identity, self.partial / identity
        if not _is_whole(folder, entry):
            return None
        if folder != target:
            _link(folder, target, entry)
        return entry


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


def prepare(place: Place, recipe: str) -> Leftovers:
    """Make the partial folder ready, and find what can be taken over.

    Args:
        place: Where the suite is written.
        recipe: The digest of all that decides a case's bytes besides its draft; cases of another recipe are not used.

    Raises:
        UsageError: What stands at the place is no suite.
    """
    with telling(place.out):
        if place.replaced.exists():
            _settle(place)
        _check_ours(place)
        found = {} if place.is_zip or not (place.out / HEADER).exists() else _whole_suite(place.out, recipe)
        found |= _journaled(place.partial, recipe)
        if not (place.partial / _RECIPE).exists() or (place.partial / _RECIPE).read_text() != recipe:
            shutil.rmtree(place.partial, ignore_errors=True)
        resumed = place.partial.exists()
        place.partial.mkdir(parents=True, exist_ok=True)
        (place.partial / _RECIPE).write_text(recipe)
        journal = "".join(entry_line(each) for folder, each in found.values() if folder == place.partial)
        replace_file(place.partial / _JOURNAL, journal.encode())
    return Leftovers(partial=place.partial, found=found, resumed=resumed)


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
        (place.partial / _JOURNAL).unlink()
        (place.partial / _RECIPE).unlink()
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


def _whole_suite(out: Path, recipe: str) -> dict[str, tuple[Path, Entry]]:
    suite = open_suite(out)
    return {each.id: (out, each) for each in suite.entries} if suite.header.recipe == recipe else {}


def _journaled(partial: Path, recipe: str) -> dict[str, tuple[Path, Entry]]:
    """The cases that a killed generation finished; a line that was cut short is none."""
    if not (partial / _RECIPE).exists() or (partial / _RECIPE).read_text() != recipe:
        return {}
    found = {}
    for name in (_JOURNAL, MANIFEST):
        content = (partial / name).read_bytes() if (partial / name).exists() else b""
        for line in content.splitlines(keepends=True):
            with contextlib.suppress(SuiteError):
                entry = entry_of(line, name)
                found[entry.id] = (partial, entry)
    return found


def _is_whole(folder: Path, entry: Entry) -> bool:
    store = Folder(folder)
    try:
        return all(digest_of(store.read(name)) == digest for name, digest in entry.files.items())
    except SuiteError:
        return False


def _link(folder: Path, target: Path, entry: Entry) -> None:
    for name in entry.files:
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
