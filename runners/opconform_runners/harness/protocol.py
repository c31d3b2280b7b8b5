"""The harness protocol, version 1: one JSON object per line, requests one way and replies the other."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from opconform.suite.declarations import DeclaredCase
from opconform_runners.backends.backend import MOST_PACKED, Implementation, Placement, Stage

VERSION = 1
#: The maximum length of a line, in bytes.
LINE_LIMIT = 1 << 20
#: The most bytes of an `.npz` file in a message. Both feeds of a case fit in a line, as base64.
INLINE_LIMIT = 1 << 16
#: How much two clocks may differ, in seconds.
CLOCKS = 0.01
#: The characters of a reply's texts that are kept: the first ones, and of a traceback the last ones.
TEXT_LIMIT, LOG_LIMIT = 2_000, 20_000
#: Validators are built when they are first used, since that takes long, and a harness needs none of them.
_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)
_Message = TypeVar("_Message")
#: The number in a reply, which differs in every run and is not shown.
_SEQ = re.compile(rb'("seq"\s*:\s*)\d+')
#: A reported time in seconds: finite, and at most 30 years.
_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Text = Annotated[str, AfterValidator(lambda text: text[:TEXT_LIMIT])]
_Log = Annotated[str, AfterValidator(lambda text: text[-LOG_LIMIT:])]


class ProtocolError(Exception):
    """A line is not a message of the protocol; the error's message says what is wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """The reply to `start`: what the implementation is and can do."""

    __pydantic_config__ = _STRICT  # also for the classes of its fields

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Who:
        """What is under test."""

        name: str
        version: str
        device: str | None = None
        hardware: str | None = None
        driver: str | None = None
        language: str | None = None

    protocol: Literal[1]
    implementation: Who
    dialects: tuple[str, ...] = ()
    element_types: tuple[str, ...]
    operations: tuple[str, ...] = ()
    dynamic: bool
    bindings: tuple[Literal["constant", "parameter"], ...]
    graphs: bool = False
    flushes_denormals: bool = False
    packs: Annotated[int, Field(ge=1, le=MOST_PACKED)] = 1
    mapped: tuple[str, ...] = ()
    inline: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ok:
    """The case was executed and every feed's outputs are written.

    Attributes:
        element_types: The element types of each feed's outputs, since `.npz` cannot tell bf16 from u16.
        outputs: Each feed's outputs as base64, if the inputs were; None for a feed whose outputs are in its file.
    """

    seq: int
    status: Literal["ok"] = "ok"
    seconds: _Seconds | None = None
    element_types: tuple[tuple[str, ...], ...] | None = None
    placement: Placement | None = None
    outputs: tuple[str | None, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """The backend refuses the case. `requirement` is the one that its message names, if the harness can tell."""

    seq: int
    status: Literal["rejected"] = "rejected"
    stage: Stage
    message: _Text
    requirement: _Text | None = None
    seconds: _Seconds | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotSupported:
    """The backend says that it does not implement what the case needs."""

    seq: int
    status: Literal["unsupported"] = "unsupported"
    message: _Text
    seconds: _Seconds | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """The harness itself failed."""

    seq: int
    status: Literal["error"] = "error"
    message: _Text
    traceback: _Log | None = None
    seconds: _Seconds | None = None


#: Every status of a reply to `run`.
STATUSES = ("ok", "rejected", "unsupported", "error")
Reply = Ok | Refused | NotSupported | Failed
_SAID = TypeAdapter(Said)
_REPLY: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="status")], config=_STRICT)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedFiles:
    """Where a feed's inputs lie in the case's folder, and where its outputs are to be written."""

    inputs: str
    outputs: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineFeed:
    """A feed's inputs, a small `.npz` file as base64, and where outputs that are not small are to be written."""

    npz: str
    outputs: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """The request that opens the conversation."""

    cmd: Literal["start"]
    protocol: Literal[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The request to execute a case."""

    cmd: Literal["run"]
    seq: Annotated[int, Field(ge=0, lt=1 << 53)]
    case: DeclaredCase
    dir: str | None
    dialect: str | None
    model: str | None
    feeds: tuple[FeedFiles | InlineFeed, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """The request that ends the conversation."""

    cmd: Literal["stop"]


def message_schema() -> dict[str, Any]:
    """The JSON Schema of every message: the requests, the answer to `start`, and the replies to `run`."""
    messages: TypeAdapter[Any] = TypeAdapter(Start | Run | Stop | Said | Reply, config=_STRICT)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The opconform harness protocol"}
    return dialect | messages.json_schema()


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _line(message: Mapping[str, object]) -> bytes:
    return _ENCODER.encode(message).encode() + b"\n"


#: The request that opens the conversation.
START_LINE = _line({"cmd": "start", "protocol": VERSION})
#: The request that ends it.
STOP_LINE = _line({"cmd": "stop"})


def run_line(
    seq: int,
    case: bytes,
    *,
    folder: str | None,
    dialect: str | None,
    model: str | None,
    feeds: Sequence[FeedFiles | InlineFeed],
) -> bytes:
    """The request to execute a case, given as `harness_text`."""
    documents = [
        {"inputs": feed.inputs, "outputs": feed.outputs}
        if isinstance(feed, FeedFiles)
        else {"npz": feed.npz, "outputs": feed.outputs}
        for feed in feeds
    ]
    rest = _line({"dir": folder, "dialect": dialect, "model": model, "feeds": documents})
    return b'{"cmd":"run","seq":%d,"case":%b,%b' % (seq, case, rest[1:])


def said_line(implementation: Implementation) -> bytes:
    """The reply of the Python harness to `start`."""
    document = asdict(implementation)
    who = {field.name: document.pop(field.name) for field in fields(Said.Who)}
    return _line({"protocol": VERSION, "implementation": who, **document, "inline": True})


def reply_line(reply: Reply) -> bytes:
    """The reply to `run`."""
    message = {field.name: value for field in fields(reply) if (value := getattr(reply, field.name)) is not None}
    if isinstance(reply, Ok) and reply.placement is not None:
        message["placement"] = asdict(reply.placement)
    return _line(message)


def said_of(line: bytes) -> tuple[Implementation, bool]:
    """The reply to `start`: what is tested, and whether small tensors go in the messages.

    Raises `ProtocolError` for any other line.
    """
    document = asdict(_read(_SAID, line))
    del document["protocol"]
    inline = document.pop("inline")
    who = document.pop("implementation")
    return Implementation(**(who | {"language": who["language"] or "unknown"}), **document), inline


def reply_of(line: bytes) -> Reply:
    """A reply to `run`; raises `ProtocolError` for any other line."""
    return _read(_REPLY, line)


def _read(adapter: TypeAdapter[_Message], line: bytes) -> _Message:
    try:
        return adapter.validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        shown = _SEQ.sub(rb"\1N", line[:200]).decode(errors="replace")[:80].rstrip()
        if first["type"] == "json_invalid":
            raise ProtocolError(f"the harness wrote a line that is not JSON: {shown!r}") from error
        place = ".".join(str(x) for x in first["loc"]) or "the message"
        raise ProtocolError(
            f"the harness wrote {shown!r}, which is not a valid message: {place}: {first['msg']}"
        ) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageProblem:
    """What is wrong with one key of a reply; `key` is empty for the whole message."""

    key: str
    sentence: str


def said_problems(line: bytes) -> tuple[MessageProblem, ...]:
    """Everything that is wrong with a reply to `start`."""
    return _problems(_SAID, line)


def reply_problems(line: bytes) -> tuple[MessageProblem, ...]:
    """Everything that is wrong with a reply to `run`."""
    return _problems(_REPLY, line)


def _problems(adapter: TypeAdapter[Any], line: bytes) -> tuple[MessageProblem, ...]:
    try:
        adapter.validate_json(line, strict=True)
    except ValidationError as error:
        return tuple(_problem(detail) for detail in error.errors(include_url=False))
    return ()


def _problem(error: ErrorDetails) -> MessageProblem:
    location = error["loc"][1:] if error["loc"][:1] and error["loc"][0] in STATUSES else error["loc"]
    place = [str(x) for x in location]
    key = place[0] if place else "status" if error["type"].startswith("union_tag") else ""
    named = f"`{'.'.join(place) or key}`" if key else "the message"
    match error["type"]:
        case "json_invalid":
            sentence = f"{named} is not JSON: {error['ctx']['error']}"
        case "missing" | "union_tag_not_found":
            sentence = f"{named} is missing"
        case "unexpected_keyword_argument":
            sentence = f"{named} is not a key of this message"
        case "union_tag_invalid":
            sentence = f"{named} is {error['ctx']['tag']!r}, which is not one of {', '.join(STATUSES)}"
        case _:
            value = json.dumps(error["input"], ensure_ascii=False)[:80]
            sentence = f"{named} is {value}: {error['msg'][:1].lower()}{error['msg'][1:]}"
    return MessageProblem(key=key, sentence=sentence)
