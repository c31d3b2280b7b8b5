"""Recorded outputs: one zip file with the outcome of every case, to be judged elsewhere.

```
outputs.json        what was run, on what, and the digest of answers.jsonl
answers.jsonl       one line per case, sorted by id: its outcome, and its outcome in a fresh harness
<case id>/          outputs.npz, outputs.1.npz of a second feed; again.npz, … where the second outputs differ
```
"""

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import MissingError, SuiteError
from opconform.files import open_regular
from opconform.suite.case import Case, CaseId, canonical_json
from opconform.suite.kind import check_kind
from opconform.suite.manifest import CONTROL, Entry, entry_line, sealed_text
from opconform.suite.reader import Suite
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation, Placement
from opconform_runners.execution.outputs import PLENTY, in_order, member_content, output_limit
from opconform_runners.harness.environment import Environment
from opconform_runners.harness.outcome import Crashed, Error, Incident, NotSent, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused

HEADER = "outputs.json"
ANSWERS = "answers.jsonl"
#: The most bytes that either of the two may take.
_LIMIT = 1 << 30
_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedOutputs:
    """The backend executed the case: the SHA-256 of the file of each feed's outputs."""

    status: Literal["returned"] = "returned"
    files: tuple[_Digest, ...]
    element_types: tuple[tuple[str, ...], ...] | None = None
    seconds: float | None = None
    placement: Placement | None = None


#: The fields of outcomes that are not recorded.
_UNRECORDED = {"seq", "verdict"}


def _numbered(answer: object) -> object:
    """An answer in the file, with the number that replies of a harness have."""
    if isinstance(answer, dict) and answer.get("status") in ("rejected", "unsupported"):
        return answer | {"seq": 0}
    return answer


#: The outcome of a case, without the arrays of its outputs.
Answer = Annotated[
    SavedOutputs | Oversized | Refused | NotSupported | Crashed | TimedOut | Error | NotSent,
    Field(discriminator="status"),
    BeforeValidator(_numbered),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of `answers.jsonl`: the outcome of a case, its outcome in a fresh harness, and what happened to processes.

    The incidents may have recurred with the case alone.
    """

    __pydantic_config__ = _STRICT

    id: CaseId
    first: Answer
    again: Answer
    incidents: tuple[Incident, ...] = ()

    @property
    def text(self) -> bytes:
        """The line as it is written."""
        document = _LINE.dump_python(self, mode="json")
        for name in ("first", "again"):
            answer = document[name].items()
            document[name] = {key: each for key, each in answer if key not in _UNRECORDED and each is not None}
        if not self.incidents:
            del document["incidents"]
        return canonical_json(document).encode() + b"\n"

    @property
    def files(self) -> Mapping[str, str]:
        """The digest of each file of outputs by its name; the second outputs have files only where they differ."""
        first, again = files_of(self.first), files_of(self.again)
        named = {outputs_name(self.id, feed): each for feed, each in enumerate(first)}
        if again != first:
            named |= {outputs_name(self.id, feed, again=True): each for feed, each in enumerate(again)}
        return named


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """`outputs.json`.

    Attributes:
        suite: The digest that the suite has with --blind.
        counts: The number of cases by outcome.
        digest: The SHA-256 of the answers.
        checksum: The SHA-256 of this document without this key, in canonical JSON.
    """

    __pydantic_config__ = _STRICT

    format: Literal[1] = 1
    suite: _Digest
    implementation: Implementation
    environment: Environment
    timeout: float
    counts: Mapping[str, int] = field(default_factory=dict)
    digest: _Digest
    checksum: str = ""


#: The files that a blind suite does not have: expected outputs, and controls, whose inputs would reveal them.
_NOT_BLIND = ("expected.", f"{CONTROL}/")
_LINE = TypeAdapter(Line)
_ORIGIN = TypeAdapter(Origin)


def blind_digest(suite: Suite) -> str:
    """The digest that a suite has when it is blind: that of its manifest without expected outputs and controls."""
    manifest = hashlib.sha256()
    for entry in suite.entries:
        files = {name: digest for name, digest in entry.files.items() if not name.startswith(_NOT_BLIND)}
        manifest.update(entry_line(replace(entry, files=files)).encode())
    return manifest.hexdigest()


def origin_text(origin: Origin) -> str:
    """`outputs.json` as it is written, with its checksum renewed."""
    return sealed_text(_ORIGIN.dump_python(origin, mode="json", exclude={"checksum"}))


def outputs_name(identity: str, feed: int, *, again: bool = False) -> str:
    """The file of a feed's outputs: `outputs.npz`, `outputs.1.npz`; of the second time `again.npz`, `again.1.npz`."""
    name = "again" if again else "outputs"
    return f"{identity}/{name}.npz" if feed == 0 else f"{identity}/{name}.{feed}.npz"


def files_of(answer: Answer) -> tuple[str, ...]:
    """The digests of the files of outputs."""
    return answer.files if isinstance(answer, SavedOutputs) else ()


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A file of recorded outputs that has been checked."""

    path: Path
    origin: Origin
    digest: str
    lines: Mapping[str, Line]
    archive: zipfile.ZipFile

    def outcome(self, suite: Suite, entry: Entry, case: Case, *, again: bool) -> Outcome:
        """The first or second outcome of a case."""
        line = self.lines[case.id]
        answer = line.again if again else line.first
        if not isinstance(answer, SavedOutputs):
            return answer
        if any(len(each) != case.feeds for each in (answer.files, answer.element_types) if each is not None):
            raise SuiteError(f"{self.path}: the outputs of {case.id} do not match its number of feeds.")
        is_other = answer.files != files_of(line.first)
        names = [outputs_name(case.id, feed, again=is_other) for feed in range(case.feeds)]
        size = max((self.archive.getinfo(name).file_size for name in names), default=0)
        limit = PLENTY if size <= PLENTY else output_limit(suite, entry, case)
        return Returned(
            outputs=tuple(self._outputs(name, line.files[name], limit) for name in names),
            element_types=answer.element_types,
            seconds=answer.seconds,
            placement=answer.placement,
        )

    def _outputs(self, name: str, digest: str, limit: int) -> tuple[Array, ...]:
        content = member_content(self.archive, self.path, name, limit)
        if hashlib.sha256(content).hexdigest() != digest:
            raise SuiteError(f"{self.path}: {name} was changed after the run.")
        outputs = in_order(arrays_of(content, f"{self.path}: {name}", limit=limit))
        if outputs is None:
            raise SuiteError(f"{self.path}: the arrays in {name} are not called output_0, output_1, ….")
        return outputs


def open_recorded(path: Path) -> Recorded:
    """The recorded outputs in a file."""
    check_kind(path, "record")
    try:
        open_regular(path, follow_links=True).close()
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as fault:
        raise MissingError(f"Recorded outputs not found: {path}. Name a file that `run --record` wrote.") from fault
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}. Name a file that `run --record` wrote.") from fault
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as fault:
        raise SuiteError(f"{path} is not a complete file of outputs, as `run --record` writes it: {fault}.") from fault
    origin = _origin(member_content(archive, path, HEADER, _LIMIT), path)
    lines = _lines(member_content(archive, path, ANSWERS, _LIMIT), origin, path)
    with open_regular(path, follow_links=True) as file:  # only now, since a huge file would take long
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    known = sorted([HEADER, ANSWERS, *(name for each in lines.values() for name in each.files)])
    held = sorted(archive.namelist())
    if held != known:
        odd = min(set(held) ^ set(known), default="a repeated file")
        raise SuiteError(f"{path} does not contain exactly the files that it lists: {odd}.")
    return Recorded(path=path, origin=origin, digest=digest, lines=lines, archive=archive)


def _origin(content: bytes, path: Path) -> Origin:
    try:
        origin = _ORIGIN.validate_json(content)
    except ValidationError as fault:
        raise SuiteError(f"{path}: {HEADER} is not what `run --record` writes.") from fault
    if origin_text(origin).encode() != content:
        raise SuiteError(f"{path}: {HEADER} was changed after the run.")
    return origin


def _lines(content: bytes, origin: Origin, path: Path) -> dict[str, Line]:
    if hashlib.sha256(content).hexdigest() != origin.digest:
        raise SuiteError(f"{path}: {ANSWERS} was changed after the run.")
    try:
        lines = [_LINE.validate_json(line) for line in content.splitlines()]
    except ValidationError as fault:
        raise SuiteError(f"{path}: {ANSWERS} contains a line that is not an answer.") from fault
    by_id = {each.id: each for each in lines}
    if [each.id for each in lines] != sorted(by_id):
        raise SuiteError(f"{path}: {ANSWERS} is not sorted by id, or repeats an id.")
    return by_id
