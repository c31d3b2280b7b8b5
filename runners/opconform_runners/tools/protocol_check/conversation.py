"""The conversation with one harness process, in which every line is accepted as it arrives."""

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from opconform.errors import HarnessError
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.harness.command import Command
from opconform_runners.harness.connection import start_sentence
from opconform_runners.harness.process import START_LIMIT, HarnessEnded, Process, started
from opconform_runners.harness.protocol import START_LINE, ProtocolError, Said

#: How long an unexpected line may take to arrive, in seconds.
PEEK = 5.0

_SAID = TypeAdapter(Said)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A line that answers a request, right or wrong: decoded, and with the seconds from the request to its arrival."""

    request: bytes
    line: bytes
    document: Mapping[str, Any]
    seconds: float

    @property
    def status(self) -> object:
        """Its `status`, which may be anything."""
        return self.document.get("status")


@dataclass(frozen=True, kw_only=True, slots=True)
class Greeting:
    """The answer of a harness to `start`, and the lines that it wrote before."""

    answer: Answer
    early: tuple[bytes, ...]


class NoAnswer(Exception):  # noqa: N818 - an event, not an error
    """A request was not answered; `sentence` says what happened instead."""

    def __init__(self, request: bytes, sentence: str) -> None:
        super().__init__(request, sentence)
        self.request, self.sentence = request, sentence


@dataclass(slots=True)
class Conversation:
    """The lines exchanged with one harness process.

    Attributes:
        process: The process.
        timeout: The time limit of an answer, in seconds.
        early: The lines before the answer to `start`.
        stray: The later lines that answer nothing, each with the request that was open.
    """

    process: Process
    timeout: float
    early: list[bytes] = field(default_factory=list)
    stray: list[tuple[bytes, bytes]] = field(default_factory=list)
    _answered: set[int] = field(default_factory=set)
    _counts_wrong: bool = False
    _held: bytes | None = None

    async def listen(self, seconds: float) -> list[bytes]:
        """The lines that the process writes within some time without a request."""
        lines: list[bytes] = []
        with contextlib.suppress(TimeoutError, HarnessEnded):
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        lines.append(await self.process.receive())
                    except ProtocolError as fault:
                        return [*lines, str(fault).encode()]
        return lines

    async def start(self) -> Answer:
        """The answer to `start`.

        Raises:
            NoAnswer: There is none.
        """
        sent = time.perf_counter()
        self.process.send(START_LINE)
        while True:
            line = await self._line(START_LINE, self.timeout if self.early else START_LIMIT)
            document = decoded(line)
            if document is not None:
                return Answer(request=START_LINE, line=line, document=document, seconds=time.perf_counter() - sent)
            self.early.append(line)

    async def ask(self, requests: Sequence[bytes]) -> list[Answer]:
        """The answers to requests that are all sent at once, in the order in which they arrive.

        Raises:
            NoAnswer: One is missing.
        """
        sent = time.perf_counter()
        for each in requests:
            self.process.send(each)
        return [await self._answer(each, sent) for each in requests]

    async def _answer(self, request: bytes, sent: float) -> Answer:
        while True:
            line = await self._line(request, self.timeout)
            document = decoded(line)
            if document is not None and ("seq" in document or "status" in document):
                seq = document.get("seq")
                is_repeated = isinstance(seq, int) and seq in self._answered
                if not (is_repeated and await self._is_second_reply()):
                    self._answered |= {seq} if isinstance(seq, int) else set()
                    return Answer(request=request, line=line, document=document, seconds=time.perf_counter() - sent)
            self.stray.append((request, line))

    async def _is_second_reply(self) -> bool:
        """Whether another line follows, so that the last one was a second reply to an earlier request.

        If none does, the harness numbers its replies wrongly, and this is not waited for again.
        """
        if not self._counts_wrong:
            try:
                async with asyncio.timeout(self.timeout):
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


async def greeting_of(command: Command, timeout: float) -> Greeting:
    """The greeting of a harness, in a process of its own.

    Raises:
        HarnessError: It cannot be started, or does not answer.
    """
    process = await started(command)
    conversation = Conversation(process, timeout)
    try:
        answer = await conversation.start()
    except (NoAnswer, ProtocolError) as fault:
        await process.kill()
        cause = fault.__cause__ or fault
        if isinstance(cause, HarnessEnded) and conversation.early:
            cause = ProtocolError(f"it wrote {shortened(conversation.early[0])!r} and ended")
        raise HarnessError(start_sentence(command, cause, process.said_last)) from fault
    except BaseException:
        await process.kill()
        raise
    await process.stop()
    return Greeting(answer=answer, early=tuple(conversation.early))


def said_in(greeting: Greeting, operations: tuple[str, ...]) -> Said:
    """The answer to `start`; a key that is wrong or missing has the most general value, such as every operation."""
    general = Said(
        protocol=1,
        implementation=Said.Who(name="?", version="?"),
        element_types=tuple(ELEMENT_TYPES),
        operations=operations,
        dynamic=True,
        bindings=("constant", "parameter"),
    )
    valid = json.loads(_SAID.dump_json(general))
    for key in valid.keys() & greeting.answer.document.keys():
        changed = valid | {key: greeting.answer.document[key]}
        with contextlib.suppress(ValueError, RecursionError):
            _SAID.validate_json(json.dumps(changed), strict=True)
            valid = changed
    return _SAID.validate_python(valid)


def shortened(line: bytes, longest: int = 320) -> str:
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
