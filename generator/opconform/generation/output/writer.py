"""The writer of suites: case by case in the work folder, which replaces the suite when it is complete."""

import contextlib
import hashlib
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import BinaryIO

import numpy as np

from opconform.errors import SuiteError
from opconform.generation.case_files import Content, content_parts, content_size, files_of_cases
from opconform.generation.options import Options
from opconform.model.draft import Draft
from opconform.suite.file_names import HEADER, MANIFEST
from opconform.suite.manifest import Entry, Header, entry_line, entry_of, header_text
from opconform.suite.storage.work_folder import WorkFolder
from opconform.suite.storage.zip_file import write_zip
from opconform.system.files import write_file
from opconform.system.tasks import batches


@dataclass(frozen=True, kw_only=True)
class WrittenCase:
    """A case in its folder of `size` bytes, and its line of the manifest.

    `left_out` has the reason for each dialect without a model.
    """

    id: str
    profile: str
    line: bytes
    expect: str
    size: int
    left_out: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseWriter:
    """Writes the folders of cases, in any process, into `partial`, the folder that becomes the suite."""

    partial: Path
    options: Options

    def write(self, drafts: Sequence[Draft]) -> Iterator[WrittenCase]:
        """Evaluate cases and write them."""
        evaluated = files_of_cases(drafts, self.options)
        for batch in batches(evaluated, len(drafts), lambda x: sum(map(content_size, x[1].values()))):
            yield from starmap(self.write_files, batch)

    def write_files(self, entry: Entry, contents: Mapping[str, Content]) -> WrittenCase:
        """Write the files of a case."""
        folder = f"{self.partial}/{entry.id}"
        with translated_errors(self.partial):
            for inner in sorted({name.rpartition("/")[0] for name in contents}):
                os.makedirs(f"{folder}/{inner}", exist_ok=True)  # noqa: PTH103 - Path costs as much as the writing
            for name, content in contents.items():
                write_file(f"{folder}/{name}", content_parts(content))
        line, size = entry_line(entry).encode(), sum(map(content_size, contents.values()))
        expect = "accept" if entry.expect == "accept" else "reject"
        return WrittenCase(
            id=entry.id, profile=entry.profile, line=line, expect=expect, size=size, left_out=entry.left_out
        )


class ManifestLines:
    """The lines of a manifest in a file, in any order. Only 16 bytes of each are in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, array[int]] = {}

    def add(self, written: WrittenCase) -> None:
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


def finish(work: WorkFolder, header: Header) -> None:
    """Put a written suite in its place atomically, unless something else is there now."""
    with translated_errors(work.out):
        (work.partial / HEADER).write_bytes(header_text(header).encode())
        if work.out.suffix == ".zip":
            write_zip(work.partial, _names(work.partial), work.packed)
        work.replace()


@contextlib.contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Raise `SuiteError` for errors of the operating system while a suite is written."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        advice = "Free some space and run the same command again."
        raise SuiteError(f"{where} cannot be written: {error.strerror or error}. {advice}") from error


def _names(partial: Path) -> Iterator[str]:
    yield from (HEADER, MANIFEST)
    with (partial / MANIFEST).open("rb") as file:
        for line in file:
            entry = entry_of(line, MANIFEST)
            yield from (f"{entry.id}/{name}" for name in entry.files)
