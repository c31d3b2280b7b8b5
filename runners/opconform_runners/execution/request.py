"""Requests: a case's files laid out for a harness, and the outcome that its reply and its output files describe."""

import math
import os
import time
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from opconform.errors import counted, quoted_text
from opconform.suite.case import Case, harness_text
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.system.removal import remove_folder
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform_runners.execution.log.outputs import PLENTY, output_limit, outputs_in, read_outputs
from opconform_runners.execution.packs.errors import UnjoinableError
from opconform_runners.execution.packs.pack import Pack
from opconform_runners.harness.outcome import Crashed, Error, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.processes.process import HarnessEnded, Process
from opconform_runners.harness.protocol import (
    CLOCKS,
    INLINE_LIMIT,
    LINE_LIMIT,
    Failed,
    FeedFiles,
    InlineFeed,
    NotSupported,
    Ok,
    ProtocolError,
    Refused,
    Reply,
    reply_of,
    run_line,
)

#: By what a file is known to be as it was written: its number, its size and when anything of it changed; or None.
State = tuple[int, int, int] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A case whose files lie ready for a harness, and the line that asks for its execution.

    Attributes:
        pack: The pack whose cases these are; None for a case alone.
        folder: The folder with the inputs and the model, if there are any.
        outputs: The paths of the outputs of each feed, which the harness writes unless they are small.
        size: The bytes of the inputs.
        inline: Whether the inputs are in the line, so that outputs may be in the reply.
        files: The files in the folder, and the state of each when it was written.
    """

    seq: int
    entry: Entry
    case: Case
    folder: Path | None
    outputs: tuple[str, ...]
    size: int
    inline: bool
    line: bytes
    files: tuple[tuple[str, State], ...] = ()
    pack: Pack | None = None

    @property
    def item(self) -> Entry | Pack:
        """The case or the pack."""
        return self.pack or self.entry

    @property
    def ids(self) -> list[str]:
        """The ids of the cases that are executed."""
        return [self.entry.id] if self.pack is None else self.pack.ids


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the files of a request go.

    Attributes:
        folder: The folder for the inputs and the model, which is made if there are any.
        outputs: The existing folder for the outputs, which are named by the number of the request.
        inline: Whether small inputs go in the request instead.
    """

    folder: str
    outputs: str
    inline: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Content:
    """What a request is about: a case, and its files."""

    entry: Entry
    case: Case
    dialect: str | None
    inputs: Sequence[bytes]
    model: Mapping[str, bytes]


def lay_out(suite: Suite, pair: tuple[Entry, Case], dialect: str | None, *, seq: int, place: Place) -> Request:
    """Write the files that a harness needs to execute a case; an OSError if that fails."""
    entry, case = pair
    inputs = [suite.read(entry, inputs_name(feed)) for feed in range(case.feeds)]
    names = [] if dialect is None else [name for name in entry.files if name.startswith(f"{dialect}/")]
    model = {name: suite.read(entry, name) for name in names}
    return _laid_out(
        suite, _Content(entry=entry, case=case, dialect=dialect, inputs=inputs, model=model), seq=seq, place=place
    )


def lay_out_pack(suite: Suite, pack: Pack, *, seq: int, place: Place) -> Request:
    """Write the files that a harness needs to execute a pack; an OSError if that fails.

    Raises an `UnjoinableError` if its models cannot be joined.
    """
    content = _Content(
        entry=pack.members[0].entry,
        case=pack.case,
        dialect=pack.dialect,
        inputs=pack.inputs(suite),
        model=pack.model(suite),
    )
    request = _laid_out(suite, content, seq=seq, place=place)
    if len(request.line) > LINE_LIMIT:
        clear(request)
        raise UnjoinableError("the request would be too long")
    return replace(request, pack=pack)


def _laid_out(suite: Suite, content: _Content, *, seq: int, place: Place) -> Request:
    case, dialect, inputs = content.case, content.dialect, content.inputs
    inline = place.inline and max(map(len, inputs)) <= INLINE_LIMIT
    files = {} if inline else {inputs_name(feed): file for feed, file in enumerate(inputs)}
    files |= content.model
    folder = Path(place.folder) if files else None
    written = []
    for name, file in files.items():
        path = Path(place.folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file)
        written.append((str(path), _state_of(str(path))))
    paths = tuple(f"{place.outputs}/{seq}{f'.{feed}' if feed else ''}.npz" for feed in range(case.feeds))
    feeds: list[FeedFiles | InlineFeed] = [
        InlineFeed(npz=b2a_base64(inputs[feed], newline=False).decode(), outputs=path)
        if inline
        else FeedFiles(inputs=inputs_name(feed), outputs=path)
        for feed, path in enumerate(paths)
    ]
    model = None if dialect is None else suite.header.dialects[dialect]
    text, where = harness_text(case, suite.declarations), place.folder if files else None
    line = run_line(seq, text, folder=where, dialect=dialect, model=model, feeds=feeds)
    size = sum(map(len, inputs))
    return Request(
        seq=seq,
        entry=content.entry,
        case=case,
        folder=folder,
        outputs=paths,
        size=size,
        inline=inline,
        line=line,
        files=tuple(written),
    )


def is_changed(request: Request) -> bool:
    """Whether a file of a request was changed, replaced or removed, as by a harness that was busy with another case."""
    return any(_state_of(path) != state for path, state in request.files)


def _state_of(path: str) -> State:
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - a Path takes longer than that
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns


def clear(request: Request) -> None:
    """Remove the files of a request, including folders that a harness put in the place of its outputs."""
    if request.folder is not None:
        remove_folder(str(request.folder))
    for output in request.outputs:
        try:
            os.unlink(output)  # noqa: PTH108 - a Path takes longer than that
        except FileNotFoundError:
            continue
        except OSError:
            remove_folder(output)


async def answer_to(
    request: Request, suite: Suite, process: Process, *, sent_at: float, timeout: float
) -> tuple[Outcome, Literal["usable", "spoilt", "exited"]]:
    """The outcome of the oldest request that a harness has, and the state of the harness after it.

    The request was sent at the monotonic time `sent_at`; the harness has `timeout` seconds from now.
    """
    try:
        reply = reply_of(await process.receive(timeout))
    except TimeoutError:
        return TimedOut(seconds=timeout), "spoilt"
    except HarnessEnded as ending:
        return Crashed(how=ending.how), "spoilt" if ending.code is None or ending.code < 0 else "exited"
    except ProtocolError as error:
        return Error(sentence=str(error), log=process.said_last or None), "spoilt"
    outcome = outcome_of(suite, request, reply, within=time.monotonic() - sent_at)
    return outcome, "usable" if reply.seq == request.seq else "spoilt"


def outcome_of(suite: Suite, request: Request, reply: Reply, *, within: float = math.inf) -> Outcome:
    """The outcome of a request that was answered within some seconds, with the outputs that the harness wrote."""
    match reply:
        case _ if reply.seq != request.seq:
            return Error(sentence="the harness answered the wrong request")
        case _ if reply.seconds is not None and reply.seconds > within + CLOCKS:
            return Error(sentence="the harness reported more seconds than the time from the request to the reply")
        case Failed(message=message, traceback=log):
            return Error(sentence=message, log=log)
        case Refused() | NotSupported():
            return reply
        case Ok():
            return _returned(suite, request, reply)


def _returned(suite: Suite, request: Request, reply: Ok) -> Returned | Oversized | Error:
    outputs: list[tuple[Array, ...]] = []
    if reply.outputs is not None and not request.inline:
        return Error(sentence="the harness put outputs in the reply, although the inputs were in files")
    inline = reply.outputs or (None,) * len(request.outputs)
    if len(inline) != request.case.feeds:
        replied = (
            f"the harness replied with the outputs of {counted(len(inline), 'feed')} instead of {request.case.feeds}"
        )
        return Error(sentence=replied)
    for path, text in zip(request.outputs, inline, strict=True):
        try:
            arrays = _outputs(suite, request, path) if text is None else inline_outputs(text)
        except FileNotFoundError:
            return Error(sentence="the harness replied `ok` but wrote no outputs")
        if not isinstance(arrays, tuple):
            return arrays
        outputs.append(arrays)
    if (sentence := miscount(outputs, reply.element_types)) is not None:
        return Error(sentence=sentence)
    return Returned(
        outputs=tuple(outputs), element_types=reply.element_types, seconds=reply.seconds, placement=reply.placement
    )


def _outputs(suite: Suite, request: Request, path: str) -> tuple[Array, ...] | Oversized | Error:
    """The outputs of one feed. The exact limit is slow to compute, and needed for large or unreadable files only."""
    where = "the harness's output file"
    arrays = read_outputs(path, where, limit=PLENTY)
    if isinstance(arrays, tuple) or request.pack is not None:
        return arrays
    return read_outputs(path, where, limit=output_limit(suite, request.entry, request.case))


def inline_outputs(text: str) -> tuple[Array, ...] | Error:
    """The outputs of one feed in a reply."""
    try:
        content = a2b_base64(text, strict_mode=True)
    except ValueError:
        return Error(sentence="the outputs in the reply are not base64")
    return outputs_in(content, "the reply", limit=PLENTY)


def miscount(outputs: Sequence[Sequence[Array]], stated_types: Sequence[Sequence[str]] | None) -> str | None:
    """Why the element types in a reply cannot be the types of the output files, whatever these contain, or None."""
    if stated_types is None:
        return None
    if len(stated_types) != len(outputs):
        return f"the harness reported the element types of {len(stated_types)} feeds instead of {len(outputs)}"
    for arrays, names in zip(outputs, stated_types, strict=True):
        if len(arrays) != len(names):
            return f"the harness reported the element types of {counted(len(names), 'output')}, but wrote {len(arrays)}"
        for number, name in enumerate(names):
            if name not in ELEMENT_TYPES:
                return f"the harness says that output_{number} is {quoted_text(name)}, which is not an element type"
    return None


def contradiction(outputs: Sequence[Sequence[Array]], stated_types: Sequence[Sequence[str]]) -> str | None:
    """How element types contradict the output files, or None."""
    if (sentence := miscount(outputs, stated_types)) is not None:
        return sentence
    for arrays, names in zip(outputs, stated_types, strict=True):
        for number, (array, name) in enumerate(zip(arrays, names, strict=True)):
            storage = ELEMENT_TYPES[name].storage
            if array.dtype != storage and not array.dtype.kind == storage.kind == "U":
                return f"output_{number} of {name} is stored as {array.dtype}, not {storage}"
    return None
