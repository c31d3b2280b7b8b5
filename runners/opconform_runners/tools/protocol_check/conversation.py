"""Conversing: what a harness is told and what it says, every line of it taken as it comes."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from opconform.errors import HarnessError
from opconform.suite.case import Binding
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.command import Command
from opconform_runners.harness.process import START_LIMIT, HarnessEnded, Process, start_sentence, started
from opconform_runners.harness.protocol import ProtocolError, Said, start_line

#: How long a second reply, or a line that nobody asked for, may take to arrive, in seconds.
_PEEK = 1.0

_SAID = TypeAdapter(Said)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A line that answers a request, right or wrong.

    Attributes:
        request: The request.
        line: The reply.
        document: The reply, decoded.
        seconds: How long it took, from the sending to the last byte.
    """

    request: bytes
    line: bytes
    document: Mapping[str, Any]
    seconds: float

    @property
    def status(self) -> object:
        """Its `status`, whatever that is."""
        return self.document.get("status")


class NoAnswer(Exception):  # noqa: N818 - an event, and no error of ours
    """A request was not answered; `sentence` says what came instead."""

    def __init__(self, request: bytes, sentence: str) -> None:
        super().__init__(request, sentence)
        self.request = request
        self.sentence = sentence


@dataclass(slots=True)
class Conversation:
    """What is said between us and one harness process.

    Attributes:
        process: The process.
        timeout: How long an answer may take, in seconds.
        early: What it wrote before it answered `start`.
        stray: What it wrote afterwards that answers nothing, and the request that was open then.
    """

    process: Process
    timeout: float
    early: list[bytes] = field(default_factory=list)
    stray: list[tuple[bytes, bytes]] = field(default_factory=list)
    _answered: set[int] = field(default_factory=set)
    _counts_wrong: bool = False
    _held: bytes | None = None

    async def listen(self, seconds: float) -> None:
        """Wait for lines before anything is asked."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    self.early.append(await self.process.receive())
        except (TimeoutError, HarnessEnded):
            return
        except ProtocolError as fault:
            self.early.append(str(fault).encode())

    async def start(self) -> Answer:
        """The answer to `start`.

        Raises:
            NoAnswer: There is none.
        """
        request = start_line()
        sent = time.perf_counter()
        self.process.send(request)
        while True:
            line = await self._line(request, self.timeout if self.early else START_LIMIT)
            document = _object(line)
            if document is not None:
                return Answer(request=request, line=line, document=document, seconds=time.perf_counter() - sent)
            self.early.append(line)

    async def ask(self, request: bytes) -> Answer:
        """The answer to one request.

        Raises:
            NoAnswer: There is none.
        """
        [answer] = await self.ask_all([request])
        return answer

    async def ask_all(self, requests: Sequence[bytes]) -> list[Answer]:
        """The answers to requests that are all sent at once, in the order in which they come.

        Raises:
            NoAnswer: One is missing.
        """
        sent = time.perf_counter()
        for each in requests:
            self.process.send(each)
        return [await self._answer(each, sent) for each in requests]

    async def rest(self, request: bytes) -> None:
        """Take note of what a process that is about to end writes still, after its last request."""
        try:
            async with asyncio.timeout(_PEEK):
                while True:
                    self.stray.append((request, await self.process.receive()))
        except (TimeoutError, HarnessEnded, ProtocolError):
            return

    async def _answer(self, request: bytes, sent: float) -> Answer:
        while True:
            line = await self._line(request, self.timeout)
            document = _object(line)
            if document is not None and ("seq" in document or "status" in document):
                seq = document.get("seq")
                repeated = isinstance(seq, int) and seq in self._answered
                if not (repeated and await self._goes_on()):
                    self._answered |= {seq} if isinstance(seq, int) else set()
                    return Answer(request=request, line=line, document=document, seconds=time.perf_counter() - sent)
            self.stray.append((request, line))

    async def _goes_on(self) -> bool:
        """Whether another line comes at once, so that the last one was a second reply to an earlier request.

        A harness of which this was once not so has its numbers wrong, and is not waited for again.
        """
        if self._counts_wrong:
            return False
        try:
            async with asyncio.timeout(_PEEK):
                self._held = await self.process.receive()
        except (TimeoutError, HarnessEnded, ProtocolError):
            self._counts_wrong = True
        return not self._counts_wrong

    async def _line(self, request: bytes, within: float) -> bytes:
        held, self._held = self._held, None
        if held is not None:
            return held
        try:
            return await self.process.receive(within)
        except TimeoutError as fault:
            raise NoAnswer(request, f"no reply came within {within:g} seconds") from fault
        except HarnessEnded as ending:
            raise NoAnswer(request, f"no reply came, and {ending.how}") from ending


@dataclass(frozen=True, kw_only=True, slots=True)
class Greeting:
    """How a harness answers `start`.

    Attributes:
        answer: The answer.
        early: What it wrote before.
    """

    answer: Answer
    early: tuple[bytes, ...]


async def greeting_of(command: Command, timeout: float) -> Greeting:
    """How a harness answers `start`, in a process of its own.

    Raises:
        HarnessError: It cannot be started, or does not answer.
    """
    process = await started(command)
    conversation = Conversation(process, timeout)
    try:
        answer = await conversation.start()
    except (NoAnswer, ProtocolError) as fault:
        await process.kill()
        cause = fault.__cause__ if isinstance(fault, NoAnswer) and fault.__cause__ is not None else fault
        if isinstance(cause, HarnessEnded) and conversation.early:
            cause = ProtocolError(f"it wrote {shortened(conversation.early[0])!r} and ended")
        raise HarnessError(start_sentence(command, cause, process.said_last)) from fault
    except BaseException:
        await process.kill()
        raise
    await process.stop()
    return Greeting(answer=answer, early=tuple(conversation.early))


def said_in(greeting: Greeting, operations: tuple[str, ...]) -> Said:
    """What an answer to `start` says, each key by itself; in place of a wrong key stands all that there is.

    Args:
        greeting: The answer.
        operations: Every operation that there is.
    """
    both: tuple[Binding, ...] = ("constant", "parameter")
    generous = Said(
        protocol=1,
        implementation=Said.Who(name="?", version="?"),
        element_types=tuple(ELEMENT_TYPES),
        operations=operations,
        dynamic=True,
        bindings=both,
    )
    document = greeting.answer.document
    base = json.loads(_SAID.dump_json(generous))
    for key in base:
        if key in document:
            try:
                _SAID.validate_json(json.dumps(base | {key: document[key]}), strict=True)
            except (ValueError, RecursionError):
                continue
            base[key] = document[key]
    return _SAID.validate_python(base)


def unasked(line: bytes) -> str:
    """What is wrong with a line that answers nothing."""
    return f"nobody asked for {shortened(line, 80)!r}"


def shortened(line: bytes, longest: int = 320) -> str:
    """A line for a person to read; of a long one the beginning and the end."""
    text = line.decode(errors="replace").rstrip("\n")
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def _object(line: bytes) -> Mapping[str, Any] | None:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
