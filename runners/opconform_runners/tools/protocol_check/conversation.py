"""The conversation with one harness process, in which every line is accepted as it arrives."""

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opconform.errors import HarnessError
from opconform.operations import OPERATIONS
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import start_sentence
from opconform_runners.harness.process import START_LIMIT, HarnessEnded, Process, started
from opconform_runners.harness.protocol import START_LINE, STATUSES, VERSION, ProtocolError, said_faults, said_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """A request and the line that follows it, right or wrong; either may be missing.

    `document` is the decoded line, and `seconds` the time from the request to its arrival.
    """

    request: bytes | None = None
    reply: bytes | None = None
    document: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def status(self) -> str | None:
        """The status of a reply to `run`, or None if it is not one of the protocol."""
        return next((each for each in STATUSES if each == self.document.get("status")), None)


class NoAnswer(Exception):  # noqa: N818 - an event, not an error
    """A request was not answered; `sentence` says what happened instead."""

    def __init__(self, request: bytes, sentence: str) -> None:
        super().__init__(request, sentence)
        self.request, self.sentence = request, sentence


@dataclass(slots=True)
class Conversation:
    """The lines exchanged with one harness process, which has `timeout` seconds for each answer.

    `early` are the lines before the answer to `start`, and `stray` the later lines that answer no request.
    """

    process: Process
    timeout: float
    early: list[bytes] = field(default_factory=list)
    stray: list[Exchange] = field(default_factory=list)
    _answered: set[int] = field(default_factory=set)
    _counts_wrong: bool = False
    _held: bytes | None = None

    async def listen(self, seconds: float) -> list[bytes]:
        """The lines that the process writes within some time without a request."""
        lines: list[bytes] = []
        with contextlib.suppress(TimeoutError, HarnessEnded):
            async with asyncio.timeout(seconds):
                while True:
                    lines.append(await self.process.receive())
        return lines

    async def start(self) -> Exchange:
        """Send `start`, and wait for the answer; raises `NoAnswer` if there is none."""
        sent = time.perf_counter()
        self.process.send(START_LINE)
        while True:
            line = await self._line(START_LINE, self.timeout if self.early else START_LIMIT)
            document = decoded(line)
            if document is not None:
                return Exchange(request=START_LINE, reply=line, document=document, seconds=time.perf_counter() - sent)
            self.early.append(line)

    async def ask(self, requests: Sequence[bytes]) -> list[Exchange]:
        """Send requests at once, and wait for the answers as they arrive; raises `NoAnswer` if one is missing."""
        sent = time.perf_counter()
        for each in requests:
            self.process.send(each)
        return [await self._answer(each, sent) for each in requests]

    async def _answer(self, request: bytes, sent: float) -> Exchange:
        while True:
            line = await self._line(request, self.timeout)
            document = decoded(line)
            if document is not None and ("seq" in document or "status" in document):
                seq = document.get("seq")
                is_repeated = isinstance(seq, int) and seq in self._answered
                if not (is_repeated and await self._is_second_reply()):
                    self._answered |= {seq} if isinstance(seq, int) else set()
                    return Exchange(request=request, reply=line, document=document, seconds=time.perf_counter() - sent)
            self.stray.append(Exchange(request=request, reply=line))

    async def _is_second_reply(self) -> bool:
        """Whether another line follows, so that the last one was a second reply to an earlier request.

        If none follows, the harness numbers its replies wrongly, and this is not checked again.
        """
        if not self._counts_wrong:
            try:
                self._held = await self.process.receive(self.timeout)
            except (TimeoutError, HarnessEnded, ProtocolError):
                self._counts_wrong = True
        return not self._counts_wrong

    async def _line(self, request: bytes, within: float) -> bytes:
        held, self._held = self._held, None
        try:
            return held or await self.process.receive(within)
        except TimeoutError as fault:
            raise NoAnswer(request, f"no reply within {within:g} second{'s' * (within != 1)}") from fault
        except HarnessEnded as ending:
            raise NoAnswer(request, f"no reply, and the harness {ending.how}") from ending


async def greeting_of(launch: Launch) -> Exchange:
    """The answer of a harness to `start`, in a process of its own; raises `HarnessError` if there is none."""
    process = await started(launch.command)
    conversation = Conversation(process, launch.timeout)
    try:
        return await conversation.start()
    except (NoAnswer, ProtocolError) as fault:
        await process.kill()
        cause = fault.__cause__ or fault
        if isinstance(cause, HarnessEnded) and conversation.early:
            cause = ProtocolError(f"it wrote {abridged(conversation.early[0])!r} and ended")
        raise HarnessError(start_sentence(launch.command, cause, process.said_last)) from fault
    finally:
        await process.kill()


def said_in(document: Mapping[str, Any]) -> Implementation:
    """The answer to `start`; a key that is wrong or missing has the most general value, such as every operation."""
    valid = {
        "protocol": VERSION,
        "implementation": {"name": "?", "version": "?"},
        "element_types": list(ELEMENT_TYPES),
        "operations": list(OPERATIONS),
        "dynamic": True,
        "bindings": ["constant", "parameter"],
    }
    for key, value in document.items():
        with contextlib.suppress(ValueError, RecursionError):
            if not said_faults(json.dumps(valid | {key: value}).encode()):
                valid[key] = value
    implementation, _ = said_of(json.dumps(valid).encode())
    return implementation


def abridged(line: bytes, longest: int = 320) -> str:
    """A line to print: the beginning and the end of a long one."""
    text = line.decode(errors="replace").rstrip("\n")
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def decoded(line: bytes) -> Mapping[str, Any] | None:
    """The JSON object in a line, or None."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
