"""The lines of the log of a run: executions of cases and what they gave, and the ends of batches."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter

from opconform.suite.case import canonical_json
from opconform.suite.names import CaseId
from opconform.tensors.npz import npz_bytes
from opconform_runners.backends.backend import Placement
from opconform_runners.harness.outcome import Crashed, Error, Incident, NotSent, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.tally import Tally
from opconform_runners.verdicts.verdict import Own

#: An execution of a case: one in a pack, the first one alone, one in a fresh harness, one in a harness that no other
#: case touched, or the one of its neighbour check.
Attempt = Literal["packed", "first", "again", "alone", "neighbour-check"]
_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """The backend executed the case; `files` has the SHA-256 of the file of each feed's outputs, if they are kept."""

    status: Literal["returned"] = "returned"
    files: tuple[_Digest, ...] = ()
    element_types: tuple[tuple[str, ...], ...] | None = None
    seconds: float | None = None
    placement: Placement | None = None


def _numbered(answer: object) -> object:
    """An answer in the log, with the number that replies of a harness have."""
    if isinstance(answer, dict) and answer.get("status") in ("rejected", "unsupported"):
        return answer | {"seq": 0}
    return answer


#: The outcome of an execution, without the arrays of its outputs.
Answer = Annotated[
    Saved | Oversized | Refused | NotSupported | Crashed | TimedOut | Error | NotSent,
    Field(discriminator="status"),
    BeforeValidator(_numbered),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedOutcome:
    """A line of the log: one execution of a case.

    Attributes:
        own: The verdict on outputs, regardless of other executions; None for a recording. The verdict on any other
            outcome follows from the outcome.
        pack: The name of the pack; None for a case alone.
        checked: Whether the case passed in the pack and is executed alone too.
        incidents: What happened to the process in this execution, whether or not it recurs with the case alone.
    """

    __pydantic_config__ = _STRICT

    case: CaseId
    execution: Attempt
    outcome: Answer
    own: Own | None = None
    incidents: tuple[Incident, ...] = ()
    pack: CaseId | None = None
    checked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchEnd:
    """The line of the log of a streamed run that ends a batch: the cases of the batch without lines are counted.

    Attributes:
        batch: The number of the batch.
        own: The SHA-256 of the ids that are counted with the batch, with or without lines.
        repeated: The failures with lines that are counted with another batch or shard, sorted.
        devices: The devices that executed its cases, and in `threads` with how many threads.
    """

    __pydantic_config__ = _STRICT

    batch: int
    own: _Digest
    tallies: tuple[Tally, ...]
    repeated: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()


#: Reads and writes a line.
LOGGED, BATCH_END = TypeAdapter(LoggedOutcome), TypeAdapter(BatchEnd)
#: The beginning of the line of a batch, whose keys are sorted, without its digest.
BATCH_BEGINNING = b'{"batch"'
#: The fields of outcomes that are not logged.
_UNLOGGED = {"seq", "verdict"}


def answer_of(outcome: Outcome, *, keeps: bool) -> tuple[Answer, list[bytes]]:
    """An outcome as it is logged, and the files of its outputs, one per feed, if it `keeps` them."""
    if not isinstance(outcome, Returned):
        return outcome, []
    feeds = outcome.outputs if keeps else ()
    files = [npz_bytes({f"output_{number}": array for number, array in enumerate(feed)}) for feed in feeds]
    answer = Saved(
        files=tuple(hashlib.sha256(file).hexdigest() for file in files),
        element_types=outcome.element_types or None,
        seconds=outcome.seconds,
        placement=outcome.placement,
    )
    return answer, files


def output_files(answer: Answer) -> tuple[str, ...]:
    """The digests of the files of outputs."""
    return answer.files if isinstance(answer, Saved) else ()


def outputs_name(case: str, feed: int, attempt: Attempt = "first") -> str:
    """The file of a feed's outputs: `outputs.npz`, `outputs.1.npz`; of a later execution `again.npz`, `again.1.npz`."""
    name = "outputs" if attempt == "first" else "again"
    return f"{case}/{name}.npz" if feed == 0 else f"{case}/{name}.{feed}.npz"


def logged_line(logged: LoggedOutcome) -> bytes:
    """A line of the log, without its digest."""
    document = LOGGED.dump_python(logged, mode="json")
    answer = document["outcome"].items()
    document["outcome"] = {key: value for key, value in answer if key not in _UNLOGGED and value not in (None, [])}
    plain = {key: value for key, value in document.items() if value not in (None, [], False)}
    return canonical_json(plain).encode() + b"\n"


def batch_line(end: BatchEnd) -> bytes:
    """The line that ends a batch, without its digest."""
    return canonical_json(BATCH_END.dump_python(end, mode="json")).encode() + b"\n"


def kept_names(logged: LoggedOutcome) -> Mapping[str, str]:
    """The digest of each file of outputs that a line may have kept, by its name."""
    return {
        outputs_name(logged.case, feed, logged.execution): file
        for feed, file in enumerate(output_files(logged.outcome))
    }
