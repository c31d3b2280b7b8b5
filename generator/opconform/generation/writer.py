"""The writer of suites: case by case in the work folder, which replaces the suite when it is complete.

A generation continues a killed one from its work folder, and reuses the unchanged cases of the suite that it
replaces. Every case is still evaluated, and a file is kept only if its bytes are the evaluated ones.
"""

import contextlib
import hashlib
import os
import shutil
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import BinaryIO

import numpy as np

from opconform.errors import SpecError, SuiteError, UsageError
from opconform.files import open_regular, write_file
from opconform.generation.case_files import Content, case_files, parts_of, size_of
from opconform.generation.options import Options
from opconform.model.draft import Draft
from opconform.suite.manifest import HEADER, MANIFEST, Entry, Header, entry_line, entry_of, header_text
from opconform.suite.ownership import check_replaceable
from opconform.suite.work_folder import WorkFolder
from opconform.suite.zip_file import write_zip
from opconform.tasks import batches


@dataclass(frozen=True, kw_only=True)
class Written:
    """A case in its folder of `size` bytes: its line of the manifest, and whether the folder was reused.

    `left_out` has the reason for each dialect without a model.
    """

    id: str
    line: bytes
    expect: str
    taken: bool
    size: int
    left_out: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseWriter:
    """Writes the folders of cases, in any process, into `partial`, the folder that becomes the suite.

    `resumed` says whether it has files of an earlier attempt; `earlier` is the suite that is replaced.
    """

    partial: Path
    resumed: bool
    earlier: Path | None
    options: Options

    def write(self, drafts: Sequence[Draft]) -> Iterator[Written]:
        """Evaluate cases and write them."""
        evaluated = (case_files(each, self.options) for each in drafts)
        for some in batches(evaluated, len(drafts), lambda each: sum(map(size_of, each[1].values()))):
            yield from starmap(self.write_files, some)

    def write_files(self, entry: Entry, contents: Mapping[str, Content]) -> Written:
        """Write the files of a case, unless an identical folder of it can be reused."""
        taken = self._is_reused(entry.id, contents)
        if not taken:
            with translated_faults(self.partial):
                folder = f"{self.partial}/{entry.id}"
                os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - Path costs as much as the writing
                for inner in sorted({name.rpartition("/")[0] for name in contents} - {""}):
                    os.makedirs(f"{folder}/{inner}", exist_ok=True)  # noqa: PTH103 - the same
                for name, content in contents.items():
                    write_file(f"{folder}/{name}", parts_of(content))
        line, size = entry_line(entry).encode(), sum(size_of(each) for each in contents.values())
        expect = "accept" if entry.expect == "accept" else "reject"
        return Written(id=entry.id, line=line, expect=expect, taken=taken, size=size, left_out=entry.left_out)

    def _is_reused(self, identity: str, contents: Mapping[str, Content]) -> bool:
        """Put an identical folder of a case in place, if there is one; otherwise remove the folder."""
        if not self.resumed and self.earlier is None:
            return False
        target = self.partial / identity
        if self.resumed and _holds(target, contents):
            return True
        if self.resumed:  # its files may be hard links into the suite that is replaced
            shutil.rmtree(target, ignore_errors=True)
        if self.earlier is None or not _holds(self.earlier / identity, contents):
            return False
        for name in contents:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            try:
                (target / name).hardlink_to(self.earlier / identity / name)
            except OSError:
                shutil.copyfile(self.earlier / identity / name, target / name)
        return True


class ManifestLines:
    """The lines of a manifest in a file, in any order. Only 16 bytes of each are in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, array[int]] = {}

    def add(self, written: Written) -> None:
        """Append the line of a case."""
        group, _, digits = written.id.rpartition("/")
        self._places.setdefault(f"{group}/", array("Q")).extend((int(digits, 16), self._file.tell()))
        self._file.write(written.line)

    def write(self, path: Path) -> str:
        """Write a manifest, in the order of the ids. Returns its SHA-256."""
        digest = hashlib.sha256()
        with path.open("wb") as manifest:
            for group in sorted(self._places):
                digits, starts = np.frombuffer(self._places[group], np.uint64).reshape(-1, 2).T
                for start in starts[np.argsort(digits)]:
                    self._file.seek(start)
                    line = self._file.readline()
                    digest.update(line)
                    manifest.write(line)
        return digest.hexdigest()


@contextlib.contextmanager
def case_writer(work: WorkFolder, options: Options) -> Iterator[CaseWriter]:
    """The writer into the partial folder. A new folder is removed again if the specs are wrong."""
    with translated_faults(work.out):
        check_replaceable(work.out)
        resumed = work.partial.exists()
        work.partial.mkdir(exist_ok=True)
        earlier = work.out if (work.out / HEADER).exists() else None
    try:
        yield CaseWriter(partial=work.partial, resumed=resumed, earlier=earlier, options=options)
    except (SpecError, UsageError):
        if not resumed:
            shutil.rmtree(work.partial, ignore_errors=True)
        raise


def finish(work: WorkFolder, header: Header, *, resumed: bool) -> None:
    """Put a written suite in its place atomically, unless something else is there now."""
    with translated_faults(work.out):
        (work.partial / HEADER).write_bytes(header_text(header).encode())
        if resumed:
            _sweep(work.partial)
        if not _is_zip(work.out):
            work.replace()
            return
        check_replaceable(work.out)
        write_zip(work.partial, _names(work.partial), work.packed)
        work.packed.replace(work.out)
        shutil.rmtree(work.partial)


@contextlib.contextmanager
def translated_faults(path: Path) -> Iterator[None]:
    """Raise `SuiteError` for errors of the operating system while a suite is written."""
    try:
        yield
    except OSError as fault:
        where = fault.filename or path
        advice = "Free some space and run the same command again: finished cases are kept."
        raise SuiteError(f"{where} cannot be written: {fault.strerror or fault}. {advice}") from fault


def _is_zip(out: Path) -> bool:
    return out.suffix == ".zip"


def _holds(folder: Path, contents: Mapping[str, Content]) -> bool:
    """Whether a folder has all the files, as regular files with these bytes."""
    try:
        return all(_has(folder / name, content) for name, content in contents.items())
    except OSError:
        return False


def _has(path: Path, content: Content) -> bool:
    with open_regular(path) as file:
        return all(file.read(len(each)) == each for each in parts_of(content)) and not file.read(1)


def _sweep(partial: Path) -> None:
    known = set(_names(partial))
    for folder, folders, files in os.walk(partial, topdown=False):
        inside = Path(folder)
        for name in files:
            if (inside / name).relative_to(partial).as_posix() not in known:
                (inside / name).unlink()
        for name in folders:
            if not any((inside / name).iterdir()):
                (inside / name).rmdir()


def _names(partial: Path) -> Iterator[str]:
    yield from (HEADER, MANIFEST)
    with (partial / MANIFEST).open("rb") as file:
        for line in file:
            entry = entry_of(line, MANIFEST)
            yield from (f"{entry.id}/{name}" for name in entry.files)
