"""Suites: reading what a generation wrote, from a folder or a zip file, and believing none of it unchecked."""

import errno
import hashlib
import io
import json
import lzma
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import MissingError, SuiteError
from opconform.files import FileTooLargeError, open_regular, read_regular
from opconform.memory import check_memory
from opconform.suite.case import Accept, Case, CaseId, Input, Output, Reject, canonical_json, case_of
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Array

HEADER = "suite.json"
MANIFEST = "manifest.jsonl"

CASE = "case.json"

#: The most bytes that one file of a suite may take, whatever its case declares (16 GiB).
FILE_LIMIT = 1 << 34
#: The most bytes of `suite.json` and of a `case.json`, which hold no tensor.
_DOCUMENT_LIMIT = 1 << 24
#: The most bytes of a manifest: per case that `suite.json` counts, and in all.
_LINE_LIMIT, _MANIFEST_LIMIT = 1 << 14, 1 << 30
#: The most bytes of any other file: so many, and so many times the bytes of the tensors that `case.json` declares.
#: A second feed's shapes are not declared, text has no declared length, and a model may spell its constants in digits.
_TENSORS_LIMIT, _SPELLING = 1 << 28, 16
#: The bytes of one character of text in an `.npy` file.
_CHARACTER = 4
#: How many times its own size a zip file may unpack to. `generate` stores its members, so its files do not grow at all.
_GROWTH = 100
#: How many cases are remembered after they were read.
_RECENT = 16

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_FileName = Annotated[str, Field(pattern=r"^([A-Za-z0-9_-][A-Za-z0-9_.-]*/)?[A-Za-z0-9_-][A-Za-z0-9_.-]*$")]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Level = Literal["normative", "interpretation"]
#: What a comparison of outputs looks at, in this order; `nan-payload` is a difference between two NaNs alone.
Stage = Literal["count", "element-type", "shape", "bits", "nan-payload"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RequirementNote:
    """What a report says of a requirement: its level and its text."""

    __pydantic_config__ = _STRICT

    level: Level
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """`suite.json`.

    Attributes:
        format: The version of the suite's format.
        version: The suite's own version: major for the format, minor for coverage, patch for a mended case.
        generator: The version of opconform that wrote it.
        recipe: The SHA-256 of all that decides a case's bytes besides its spec: generator, templates, seed, dialects.
        seed: What its random fills and samples are keyed by.
        blind: Whether the expected outputs are left out.
        dialects: The file, inside a case's folder, of the model of each dialect.
        specs: The SHA-256 of each spec file, by its name.
        specification: The revisions of the specification's pages, by operation.
        requirements: Every requirement's level and text, by operation and id.
        establishes: The requirements that a comparison which got past a stage has shown to be kept, by operation and
            stage.
        select: The patterns that chose its cases; a suite of whole profiles has none, and no such key.
        counts: The cases by what is expected of them: `accept`, `reject`.
        digest: The SHA-256 of the manifest: the suite digest.
        checksum: The SHA-256 of this document without this key, in canonical JSON.
    """

    __pydantic_config__ = _STRICT

    format: Literal[1] = 1
    version: str
    generator: str
    recipe: _Digest
    seed: int
    blind: bool
    dialects: Mapping[str, _FileName]
    specs: Mapping[str, _Digest]
    specification: Mapping[str, tuple[str, ...]]
    requirements: Mapping[str, Mapping[str, RequirementNote]]
    establishes: Mapping[str, Mapping[Stage, tuple[str, ...]]]
    counts: Mapping[str, int]
    digest: _Digest
    select: tuple[str, ...] = ()
    checksum: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A line of `manifest.jsonl`: one case, and the SHA-256 of each file of its folder.

    `left_out` has the reason for each dialect that cannot say what the case says; where there is none it is absent.
    `essential` is true where no backend of the operation may lack the case, and absent elsewhere.
    """

    __pydantic_config__ = _STRICT

    id: CaseId
    profile: str
    requirements: tuple[str, ...]
    expect: Literal["accept"] | Reject
    twin: CaseId | None
    files: Mapping[_FileName, _Digest]
    left_out: Mapping[str, str] = field(default_factory=dict)
    essential: bool = False

    @property
    def op(self) -> str:
        """The operation, as in `Split-1`."""
        return self.id.split("/", 1)[0]


_HEADER = TypeAdapter(Header)
_ENTRY = TypeAdapter(Entry)


def header_text(header: Header) -> str:
    """`suite.json` as it is written, with its checksum renewed."""
    document = _HEADER.dump_python(header, mode="json")
    del document["checksum"]
    if not header.select:
        del document["select"]
    checksum = hashlib.sha256(canonical_json(document).encode()).hexdigest()
    return json.dumps(document | {"checksum": checksum}, indent=1, ensure_ascii=False) + "\n"


def entry_line(entry: Entry) -> str:
    """The manifest's line of a case, its newline included."""
    document = _ENTRY.dump_python(entry, mode="json")
    if not entry.left_out:
        del document["left_out"]
    if not entry.essential:
        del document["essential"]
    return canonical_json(document) + "\n"


def entry_of(line: bytes, where: str) -> Entry:
    """The case that a line of a manifest lists.

    Raises:
        SuiteError: The line breaks the format.
    """
    try:
        return _ENTRY.validate_json(line)
    except ValidationError as fault:
        raise SuiteError(f"{where} is not a line of a manifest: {_first(fault)}.") from fault


#: What `zipfile` raises for a file that was damaged, has wrong names, or is packed in a way that it does not know.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class _TooLargeError(SuiteError):
    """A file that has more bytes than it may."""

    def __init__(self, where: str, size: int, limit: int) -> None:
        super().__init__(f"{where} has {size:,} bytes, and at most {limit:,} are allowed. Generate the suite again.")
        self.size = size


class Store(Protocol):
    """Where a suite's files lie."""

    def read(self, path: str, limit: int = _DOCUMENT_LIMIT) -> bytes:
        """The bytes of a file, by its path in the suite; there may be no more of them than the limit."""

    def paths(self) -> Iterator[str]:
        """The path of everything in the suite that is not a folder."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A suite that is a folder tree."""

    root: Path

    def read(self, path: str, limit: int = _DOCUMENT_LIMIT) -> bytes:
        """The bytes of a file.

        Raises:
            SuiteError: There is no such file, or it is too large, no regular file, or reached through a link.
        """
        place = self.root / path
        try:
            self._check_folders(path)
            return read_regular(place, limit)
        except FileTooLargeError as fault:
            raise _TooLargeError(str(place), fault.size, limit) from fault
        except OSError as fault:
            raise SuiteError(f"{place} cannot be read: {fault.strerror}. Generate the suite again.") from fault

    def _check_folders(self, path: str) -> None:
        folder = self.root
        for name in path.split("/")[:-1]:
            folder /= name
            if folder.is_symlink():
                raise OSError(errno.ELOOP, f"{folder} is a symbolic link")

    def paths(self) -> Iterator[str]:
        """The path of every file and link below the folder."""
        for folder, folders, files in os.walk(self.root):
            inside = Path(folder).relative_to(self.root)
            links = [each for each in folders if (Path(folder) / each).is_symlink()]
            yield from ((inside / each).as_posix() for each in files + links)


@dataclass(frozen=True, kw_only=True, slots=True)
class Zip:
    """A suite that is one zip file, opened."""

    root: Path
    archive: zipfile.ZipFile

    def read(self, path: str, limit: int = _DOCUMENT_LIMIT) -> bytes:
        """The bytes of a member.

        Raises:
            SuiteError: There is no such member, or it is damaged or too large.
        """
        try:
            metadata = self.archive.getinfo(path)
            if metadata.file_size > limit:
                raise _TooLargeError(f"{self.root}:{path}", metadata.file_size, limit)
            return self.archive.read(metadata)
        except KeyError as fault:
            raise SuiteError(f"{self.root} holds no {path}. Generate the suite again.") from fault
        except DAMAGE as fault:
            raise SuiteError(f"{self.root}:{path} cannot be read: {fault}. Generate the suite again.") from fault

    def paths(self) -> Iterator[str]:
        """The name of every member, as often as it stands there."""
        return (each.filename for each in self.archive.infolist())


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite whose header and manifest have been checked against each other."""

    store: Folder | Zip
    header: Header
    entries: tuple[Entry, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Entry]:
        """The manifest's lines by case id."""
        return {each.id: each for each in self.entries}

    def stored(self, entry: Entry, name: str) -> bytes:
        """A file of a case as it is stored, whatever its digest.

        Raises:
            SuiteError: It is missing, or larger than it can be.
        """
        path = f"{entry.id}/{name}"
        if name == CASE:
            return self.store.read(path)
        try:
            return self.store.read(path, _TENSORS_LIMIT)
        except _TooLargeError as fault:
            check_memory(fault.size, f"{self.store.root}: {path}")
            declared = _SPELLING * declared_bytes(self.case(entry))
            return self.store.read(path, min(FILE_LIMIT, _TENSORS_LIMIT + declared))

    def read(self, entry: Entry, name: str) -> bytes:
        """A file of a case.

        Raises:
            SuiteError: It is missing, or is not what the manifest says.
        """
        content = self.stored(entry, name)
        if hashlib.sha256(content).hexdigest() != entry.files.get(name):
            raise SuiteError(
                f"{self.store.root}: {entry.id}/{name} was changed after the suite was generated. "
                f"Run `opconform verify` to see everything that changed."
            )
        return content

    def case(self, entry: Entry) -> Case:
        """The case of a manifest's line.

        Raises:
            SuiteError: `case.json` is missing, changed, breaks the format, or contradicts the manifest.
        """
        try:
            case = case_of(self.read(entry, CASE))
        except ValidationError as fault:
            raise SuiteError(f"{self.store.root}: {entry.id}/case.json: {_first(fault)}.") from fault
        contradiction = _contradiction(case)
        if contradiction is not None:
            raise SuiteError(f"{self.store.root}: {entry.id}/case.json: {contradiction}. Generate the suite again.")
        expect = case.expect if isinstance(case.expect, Reject) else "accept"
        if (case.id, case.twin, case.requirements, expect) != (entry.id, entry.twin, entry.requirements, entry.expect):
            raise SuiteError(f"{self.store.root}: {entry.id}/case.json contradicts the manifest. Generate it again.")
        while len(self._recent) >= _RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[entry.id] = case
        return case

    @cached_property
    def _recent(self) -> dict[str, Case]:
        """The cases that were read last: their arrays are often read next."""
        return {}

    def arrays(self, entry: Entry, name: str) -> dict[str, Array]:
        """The arrays of an `.npz` file of a case: those that the case declares, of their types and shapes.

        Raises:
            SuiteError: It is missing, changed or not readable, or holds other arrays.
        """
        arrays = self.stored_arrays(entry, name)
        case = self._recent.get(entry.id) or self.case(entry)
        fault = next(array_faults(f"{self.store.root}: {entry.id}/{name}", name, arrays, case), None)
        if fault is not None:
            raise SuiteError(f"{fault} Generate the suite again.")
        return arrays

    def stored_arrays(self, entry: Entry, name: str) -> dict[str, Array]:
        """The arrays of an `.npz` file of a case, whatever the case declares.

        Raises:
            SuiteError: It is missing, changed or not readable.
        """
        content = self.read(entry, name)
        return arrays_of(content, f"{self.store.root}: {entry.id}/{name}", limit=len(content))


def inputs_name(feed: int) -> str:
    """The file of a feed's inputs: `inputs.npz`, then `inputs.1.npz`."""
    return "inputs.npz" if feed == 0 else f"inputs.{feed}.npz"


def expected_name(feed: int) -> str:
    """The file of a feed's expected outputs: `expected.npz`, then `expected.1.npz`."""
    return "expected.npz" if feed == 0 else f"expected.{feed}.npz"


def tensors_of(case: Case, *, blind: bool) -> Iterator[tuple[str, Sequence[Input | Output]]]:
    """The files of arrays that a case has, each with the tensors that it holds."""
    for feed in range(case.feeds):
        yield inputs_name(feed), case.inputs
        if isinstance(case.expect, Accept) and not blind:
            yield expected_name(feed), case.expect.accept


def array_faults(where: str, file: str, arrays: Mapping[str, Array], case: Case) -> Iterator[str]:
    """Arrays of a file that are not the tensors of its case, one sentence each.

    The shapes of a second feed may be any: no file declares them.
    """
    declared = {each.name: each for each in dict(tensors_of(case, blind=False)).get(file, ())}
    for name in sorted(set(declared) ^ set(arrays)):
        yield (
            f"{where} has no array {name}."
            if name in declared
            else f"{where} has an array {name}, which the case does not declare."
        )
    for name in (each for each in declared if each in arrays):
        array, tensor = arrays[name], declared[name]
        storage = ELEMENT_TYPES[tensor.element_type].storage
        if array.dtype != storage and not array.dtype.kind == storage.kind == "U":
            yield f"{where}: {name} is stored as {array.dtype}, and {tensor.element_type} is stored as {storage}."
        if file in (inputs_name(0), expected_name(0)) and array.shape != tensor.shape:
            yield f"{where}: {name} has the shape {list(array.shape)}, and {CASE} says {list(tensor.shape)}."


def _contradiction(case: Case) -> str | None:
    """What no case can be, or None."""
    inputs = [each.name for each in case.inputs]
    outputs = [each.name for each in case.expect.accept] if isinstance(case.expect, Accept) else []
    if case.op != case.id.partition("/")[0]:
        return f"it is of {case.op}, and its id is not"
    if len(set(inputs)) < len(inputs):
        return "two of its inputs have one name"
    if outputs != [f"output_{number}" for number in range(len(outputs))]:
        return "its outputs are not called output_0, output_1, …"
    return None


def declared_bytes(case: Case) -> int:
    """The bytes of the tensors of a case's first feed, one character for each text."""
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    tensors = [(each.element_type, each.shape) for each in case.inputs]
    tensors += [(each.element_type, each.shape) for each in outputs]
    return sum(math.prod(shape) * (ELEMENT_TYPES[name].storage.itemsize or _CHARACTER) for name, shape in tensors)


def open_suite(path: Path) -> Suite:
    """The suite in a folder or a zip file.

    Raises:
        SuiteError: There is no suite, it is not whole, or its header and manifest do not belong together.
    """
    store = _store(path)
    header = _header(store, path)
    count = sum(header.counts.values())
    manifest = store.read(MANIFEST, min(_MANIFEST_LIMIT, _LINE_LIMIT * max(count, 1)))
    if hashlib.sha256(manifest).hexdigest() != header.digest:
        raise SuiteError(f"{path}: {MANIFEST} is not the one that {HEADER} was written for. Generate the suite again.")
    entries = tuple(
        entry_of(line, f"{path}/{MANIFEST}:{number}") for number, line in enumerate(io.BytesIO(manifest), 1)
    )
    ids = [each.id for each in entries]
    if ids != sorted(set(ids)):
        raise SuiteError(f"{path}: {MANIFEST} is not sorted by id, each once. Generate the suite again.")
    return Suite(store=store, header=header, entries=entries)


def _store(path: Path) -> Folder | Zip:
    if path.is_dir():
        return Folder(path)
    try:
        with open_regular(path, follow_links=True) as file:
            size = os.fstat(file.fileno()).st_size
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as fault:
        raise MissingError(f"There is no suite at {path}. Write one with `opconform generate --out {path}`.") from fault
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}. Name a suite, a folder or a zip file.") from fault
    except DAMAGE as fault:
        raise SuiteError(f"{path} is neither a folder nor a whole zip file. Generate the suite again.") from fault
    unpacked = sum(each.file_size for each in archive.infolist())
    if unpacked > _GROWTH * size:
        raise SuiteError(f"{path} has {size:,} bytes and unpacks to {unpacked:,}, which no suite does.")
    return Zip(root=path, archive=archive)


def _header(store: Folder | Zip, path: Path) -> Header:
    try:
        content = store.read(HEADER)
    except SuiteError as fault:
        inside = path / "suite"
        hint = f"; did you mean {inside}?" if (inside / HEADER).is_file() else "."
        error = SuiteError if path.is_file() or (path / MANIFEST).exists() else MissingError
        raise error(f"{path} holds no {HEADER}: it is no suite, or one that was not finished{hint}") from fault
    try:
        header = _HEADER.validate_json(content)
    except ValidationError as fault:
        raise SuiteError(f"{path}/{HEADER}: {_first(fault)}.") from fault
    if header_text(header).encode() != content:
        raise SuiteError(f"{path}/{HEADER} was changed after the suite was generated. Generate the suite again.")
    return header


def _first(fault: ValidationError) -> str:
    error = fault.errors(include_url=False)[0]
    place = ".".join(str(each) for each in error["loc"])
    return f"{place}: {error['msg']}" if place else error["msg"]
