"""Recorded outputs: one zip file with the outcome of every case, to be judged elsewhere.

```
outputs.json        what was run, on what, and the digest of answers.jsonl
answers.jsonl       one line per case, sorted by id: its outcome, and its outcome in a fresh harness
<case id>/          outputs.npz, outputs.1.npz of a second feed; again.npz, … where the second outputs differ
```
"""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import MissingError, SuiteError
from opconform.files import open_regular
from opconform.suite.case import Case, CaseId, canonical_json
from opconform.suite.manifest import CONTROL, Entry, entry_line, sealed_text
from opconform.suite.reader import Suite
from opconform.tensors.npz import arrays_of
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation, Placement
from opconform_runners.execution.outputs import PLENTY, in_order, member_content, output_limit
from opconform_runners.harness.environment import Environment
from opconform_runners.harness.outcome import Crashed, Error, NotSent, Outcome, Oversized, Returned, TimedOut
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

    __pydantic_config__ = _STRICT

    files: tuple[_Digest, ...]
    element_types: tuple[tuple[str, ...], ...] | None = None
    seconds: float | None = None
    placement: Placement | None = None


#: The outcome of a case, without the arrays of its outputs.
Answer = SavedOutputs | Oversized | Refused | NotSupported | Crashed | TimedOut | Error | NotSent

_KINDS: Mapping[type[Any], str] = {
    SavedOutputs: "returned",
    Refused: "rejected",
    NotSupported: "unsupported",
    Crashed: "crash",
    TimedOut: "timeout",
    Oversized: "oversized",
    NotSent: "not-sent",
    Error: "error",
}
_ADAPTERS: Mapping[str, TypeAdapter[Any]] = {name: TypeAdapter(each) for each, name in _KINDS.items()}
#: The kinds whose `seq` is not recorded.
_REPLIES = ("rejected", "unsupported")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of `answers.jsonl`: the outcome of a case, and its outcome in a fresh harness."""

    __pydantic_config__ = _STRICT

    id: CaseId
    first: Mapping[str, Any]
    again: Mapping[str, Any]


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


#: The files that a blind suite does not have: expected outputs, and controls, whose inputs would tell them.
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


def answer_line(identity: str, first: Answer, again: Answer) -> bytes:
    """The line of a case."""
    document = {"id": identity, "first": _document(first), "again": _document(again)}
    return canonical_json(document).encode() + b"\n"


def kind_of(answer: Answer) -> str:
    """The name of an answer's kind in the file."""
    return _KINDS[type(answer)]


def _document(answer: Answer) -> dict[str, object]:
    name = kind_of(answer)
    document = _ADAPTERS[name].dump_python(answer, mode="json") | {"status": name}
    return {key: value for key, value in document.items() if key != "seq" and value is not None}


def _answer_of(document: Mapping[str, Any]) -> Answer:
    plain = dict(document)
    name = str(plain.pop("status"))
    answer: Answer = _ADAPTERS[name].validate_python(plain | ({"seq": 0} if name in _REPLIES else {}))
    return answer


def outputs_name(feed: int, *, again: bool) -> str:
    """The file of a feed's outputs: `outputs.npz`, `outputs.1.npz`; of the second time `again.npz`, `again.1.npz`."""
    name = "again" if again else "outputs"
    return f"{name}.npz" if feed == 0 else f"{name}.{feed}.npz"


def files_of(answer: Answer) -> tuple[str, ...]:
    """The digests of the files of outputs."""
    return answer.files if isinstance(answer, SavedOutputs) else ()


def _named_files(identity: str, first: Answer, again: Answer) -> Iterator[tuple[str, str]]:
    for feed, digest in enumerate(files_of(first)):
        yield f"{identity}/{outputs_name(feed, again=False)}", digest
    if files_of(again) != files_of(first):
        for feed, digest in enumerate(files_of(again)):
            yield f"{identity}/{outputs_name(feed, again=True)}", digest


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A file of recorded outputs that has been checked."""

    path: Path
    origin: Origin
    digest: str
    answers: Mapping[str, tuple[Answer, Answer]]
    archive: zipfile.ZipFile

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The digest of every file of outputs."""
        return dict(each for identity, both in self.answers.items() for each in _named_files(identity, *both))

    def outcome(self, suite: Suite, entry: Entry, case: Case, *, again: bool) -> Outcome:
        """The first or second outcome of a case."""
        first, second = self.answers[case.id]
        answer = second if again else first
        if not isinstance(answer, SavedOutputs):
            return answer
        if any(len(each) != case.feeds for each in (answer.files, answer.element_types) if each is not None):
            raise SuiteError(f"{self.path}: the outputs of {case.id} are not those of {case.feeds} feeds.")
        is_other = again and files_of(first) != files_of(second)
        names = [f"{case.id}/{outputs_name(feed, again=is_other)}" for feed in range(case.feeds)]
        size = max((self.archive.getinfo(name).file_size for name in names), default=0)
        limit = PLENTY if size <= PLENTY else output_limit(suite, entry, case)
        return Returned(
            outputs=tuple(self._outputs(name, limit) for name in names),
            element_types=answer.element_types,
            seconds=answer.seconds,
            placement=answer.placement,
        )

    def _outputs(self, name: str, limit: int) -> tuple[Array, ...]:
        content = member_content(self.archive, self.path, name, limit)
        if hashlib.sha256(content).hexdigest() != self.files[name]:
            raise SuiteError(f"{self.path}: {name} was changed after the run.")
        outputs = in_order(arrays_of(content, f"{self.path}: {name}", limit=limit))
        if outputs is None:
            raise SuiteError(f"{self.path}: the arrays in {name} are not called output_0, output_1, ….")
        return outputs


def open_recorded(path: Path) -> Recorded:
    """The recorded outputs in a file."""
    try:
        open_regular(path, follow_links=True).close()
    except FileNotFoundError as fault:
        raise MissingError(f"There are no outputs at {path}. Name a file that `run --outputs` wrote.") from fault
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}. Name a file that `run --outputs` wrote.") from fault
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as fault:
        raise SuiteError(f"{path} is not a complete file of outputs, as `run --outputs` writes it: {fault}.") from fault
    origin = _origin(member_content(archive, path, HEADER, _LIMIT), path)
    answers = _answers(member_content(archive, path, ANSWERS, _LIMIT), origin, path)
    with open_regular(path, follow_links=True) as file:  # only now, since a huge file would take long
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    recorded = Recorded(path=path, origin=origin, digest=digest, answers=answers, archive=archive)
    known = sorted([HEADER, ANSWERS, *recorded.files])
    held = sorted(each.filename for each in archive.infolist())
    if held != known:
        odd = next(iter(sorted(set(held) ^ set(known))), None) or "a file that it holds twice"
        raise SuiteError(f"{path} does not hold the files that it lists: {odd}.")
    return recorded


def _origin(content: bytes, path: Path) -> Origin:
    try:
        origin = _ORIGIN.validate_json(content)
    except ValidationError as fault:
        raise SuiteError(f"{path}: {HEADER} is not what `run --outputs` writes.") from fault
    if origin_text(origin).encode() != content:
        raise SuiteError(f"{path}: {HEADER} was changed after the run.")
    return origin


def _answers(content: bytes, origin: Origin, path: Path) -> dict[str, tuple[Answer, Answer]]:
    if hashlib.sha256(content).hexdigest() != origin.digest:
        raise SuiteError(f"{path}: {ANSWERS} was changed after the run.")
    try:
        lines = [_LINE.validate_json(line) for line in content.splitlines()]
        answers = {each.id: (_answer_of(each.first), _answer_of(each.again)) for each in lines}
    except (ValidationError, KeyError) as fault:
        raise SuiteError(f"{path}: {ANSWERS} holds a line that is not an answer.") from fault
    if [each.id for each in lines] != sorted(answers):
        raise SuiteError(f"{path}: {ANSWERS} is not sorted by id, each once.")
    return answers
