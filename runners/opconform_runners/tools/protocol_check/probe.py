"""The probe of one harness: the requests sent to it, and its replies, each checked against the schema of messages."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

from opconform.suite.case import Accept, Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.dialects import dialect_of
from opconform_runners.execution.request import Place, Request, lay_out, outcome_of
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import connect
from opconform_runners.harness.processes.process import HarnessEnded, Process
from opconform_runners.harness.protocol import CLOCKS, ProtocolError, Reply, reply_of, reply_problems
from opconform_runners.verdicts.judge import declared_gap, first_verdict
from opconform_runners.verdicts.verdict import Own

#: A case and its line of the manifest.
Given = tuple[Entry, Case]


class NotApplicable(Exception):  # noqa: N818 - an answer, not an error
    """A rule does not apply to this harness, or cannot be checked; the message says why."""


class Violation(Exception):  # noqa: N818 - a result, not an error
    """A violation of a rule: a sentence, and the request and the reply that show it, where there are any."""

    def __init__(self, sentence: str, request: bytes | None = None, reply: bytes | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.request, self.reply = sentence, request, reply


class NoReply(Violation):
    """A request without a reply."""


@dataclass
class Probe:
    """The check of one harness so far, with cases of a suite.

    Attributes:
        implementation: The declarations of the harness.
        inline: Whether it takes small inputs in the request.
        scratch: A folder for cases and outputs.
        passed: The simple case that passes on this harness, once one does.
        passed_twice: The case of two feeds that does.
    """

    suite: Suite
    launch: Launch
    implementation: Implementation
    inline: bool
    scratch: Path
    passed: Given | None = None
    passed_twice: Given | None = None
    _process: Process | None = None
    _requests: int = 0
    _exchange: tuple[bytes | None, bytes | None] = (None, None)

    @cached_property
    def cases(self) -> Sequence[Given]:
        """The cases that the harness can be given, the smallest first."""
        every = ((entry, self.suite.case(entry)) for entry in self.suite.entries)
        readable = [
            (entry, case)
            for entry, case in every
            if dialect_of(self.suite, entry, case, self.implementation)[1] is None
        ]
        return sorted(readable, key=lambda pair: (sum(prod(port.shape) for port in pair[1].inputs), pair[0].id))

    def accepted(self, *, context: str = "bare", feeds: int = 1) -> Iterator[Given]:
        """The valid cases of normative requirements that the harness declares, the smallest first."""
        for entry, case in self.cases:
            wanted = isinstance(case.expect, Accept) and (case.context, case.feeds) == (context, feeds)
            if wanted and self.is_normative(case) and declared_gap(case, self.implementation) is None:
                yield entry, case

    def is_normative(self, case: Case) -> bool:
        """Whether a case tests normative requirements only."""
        notes = self.suite.header.requirements[case.op]
        return all(notes[name].level == "normative" for name in case.requirements if name in notes)

    def simple_case(self) -> Given:
        """The simple case that passes; raises `NotApplicable` if none does."""
        if self.passed is None:
            raise NotApplicable("it needs a simple case that passes, see smoke")
        return self.passed

    def prepare(
        self,
        chosen: Given | None = None,
        *,
        seq: int | None = None,
        folder: Path | None = None,
        outputs: Path | None = None,
        dialect: str | None = None,
        inline: bool = False,
    ) -> Request:
        """Lay out a case as a run does: by default the simple case, numbered next, in the scratch folder."""
        entry, case = chosen or self.simple_case()
        self._requests += 1
        folder = folder or self.scratch / f"in-{self._requests}"
        place = Place(folder=str(folder), outputs=str(outputs or self.scratch), inline=inline)
        dialect = dialect or dialect_of(self.suite, entry, case, self.implementation)[0]
        return lay_out(self.suite, (entry, case), dialect, seq=self._requests if seq is None else seq, place=place)

    async def process(self) -> Process:
        """The current process, which has answered `start`, or a new one."""
        if self._process is None:
            self._process = (await connect(self.launch.command)).process
        return self._process

    async def end(self) -> None:
        """End the current process."""
        ended, self._process = self._process, None
        if ended is not None:
            await ended.kill()

    async def ask(self, *requests: Request) -> list[Reply]:
        """Send requests at once, and wait for the replies, in order; raises `Violation` at the first wrong one."""
        process, sent = await self.process(), time.perf_counter()
        for request in requests:
            process.send(request.line)
        return [await self._reply(process, request, sent) for request in requests]

    async def play(self, request: Request) -> Own:
        """Send a request; returns the verdict on its case alone. An `Error` is a fault of the harness."""
        [reply] = await self.ask(request)
        outcome, flushes = outcome_of(self.suite, request, reply), self.implementation.flushes_denormals
        return first_verdict(self.suite, request.entry, request.case, outcome, flushes=flushes)

    def violation(self, sentence: str) -> Violation:
        """A violation that the last request and its reply show."""
        return Violation(sentence, *self._exchange)

    async def _reply(self, process: Process, request: Request, sent: float) -> Reply:
        self._exchange = (request.line, None)
        try:
            line = await process.receive(self.launch.timeout)
        except TimeoutError as error:
            raise NoReply(f"no reply within {self.launch.timeout:g} seconds", request.line) from error
        except HarnessEnded as ending:
            raise NoReply(f"no reply, and the harness {ending.how}", request.line) from ending
        except ProtocolError as error:
            raise self.violation(str(error)) from error
        self._exchange = (request.line, line)
        for wrong in reply_problems(line):
            raise self.violation(wrong.sentence)
        reply = reply_of(line)
        if reply.seq != request.seq:
            raise self.violation("`seq` is not that of the request, or this is a second reply to an earlier one")
        if reply.seconds is not None and reply.seconds > time.perf_counter() - sent + CLOCKS:
            raise self.violation("`seconds` is more than the time from the request to the reply")
        return reply
