"""The scheduler sends cases to harness processes and collects their outcomes, whatever a harness does."""

import asyncio
import errno
import os
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from opconform.errors import DiskError, HarnessError, OpconformError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.system.interrupts import run_loop
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.jobs import default_jobs
from opconform_runners.execution.request import (
    Place,
    Request,
    answer_to,
    check_dialects,
    clear,
    dialect_of,
    is_changed,
    lay_out,
)
from opconform_runners.harness.command import Launch
from opconform_runners.harness.connection import Harness, connect
from opconform_runners.harness.outcome import (
    Error,
    Incident,
    NotSent,
    Outcome,
    Returned,
    TimedOut,
    incidents_of,
)
from opconform_runners.harness.processes.scratch import check_room, is_full, without_scratch

#: The most and the fewest requests that a harness is sent ahead, and their share of the cases that are left, so that no
#: harness holds cases at the end that another one could execute.
IN_FLIGHT, _FEWEST, _SHARE = 16, 4, 1 / 16
_LARGE = 1 << 24  #: A case with so many bytes of inputs is not followed by another one before it is answered.
#: How often in succession a harness may fail to start again before the run is given up.
STARTS = 3
#: How many errors in a row must be confirmed alone before the next ones count without confirmation.
CONFIRMATIONS = 16
#: The least number of a request, and the bits that are added: as large as the protocol allows, and all of one length.
_FIRST_SEQ, _SEQ_BITS = 10**15, 52


class OnOutcome(Protocol):
    """Called with each case and its outcome, in no certain order."""

    def __call__(self, entry: Entry, case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
        """Note an outcome. `incidents` are what happened to the process at this case, and may recur with it alone."""


#: Called with what is tested, once a harness has started and reads the suite, before the first outcome.
OnReady = Callable[[Implementation], None]


def execute(
    suite: Suite,
    entries: Sequence[Entry],
    launch: Launch,
    on_outcome: OnOutcome,
    *,
    alone: bool = False,
    on_ready: OnReady = lambda _: None,
) -> tuple[Implementation, str | None]:
    """Execute cases of a suite in order; `alone` gives each a harness process that no other case has touched.

    Returns what was tested, and why the rest of the cases were not executed, or None.
    """
    execution = Execution(suite, launch, on_outcome, deque(entries), ahead=1 if alone else IN_FLIGHT)
    return run_loop(execution.run(on_ready))


@dataclass(slots=True)
class Execution:
    """The cases that wait for a harness, and what the workers share.

    Attributes:
        waiting: The cases that have not been sent.
        ahead: How many requests a harness is sent before it replies; 1 gives each case a harness of its own.
        confirmed_errors: How many errors in a row were confirmed alone.
        gave_up: Why no harness can be started any more, or None.
    """

    suite: Suite
    launch: Launch
    on_outcome: OnOutcome
    waiting: deque[Entry] = field(default_factory=deque)
    ahead: int = IN_FLIGHT
    confirmed_errors: int = 0
    gave_up: str | None = None
    implementation: Implementation | None = None

    async def run(self, on_ready: OnReady) -> tuple[Implementation, str | None]:
        """Execute all waiting cases."""
        first = HarnessWorker(self)
        implementation = await first.begin()
        try:
            on_ready(implementation)
        except OpconformError:
            await first.end()
            raise
        cases = len(self.waiting)
        jobs = self.launch.jobs or default_jobs(implementation.device, cases, alone=self.ahead == 1)
        workers = [first, *(HarnessWorker(self) for _ in range(1, min(jobs, cases)))]
        tasks = [asyncio.create_task(worker.run()) for worker in workers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return implementation, self.gave_up


@dataclass(slots=True)
class HarnessWorker:
    """One harness at a time, and the requests that it has not answered.

    After an error or an exit of the harness, which another case may have caused, a case is executed again alone.

    Attributes:
        harness: The harness, or None where the next case needs a new one.
        sent: The requests, the oldest first.
        asked: When each request was sent, by its number.
        doubted: The case that is executed again before all others, its first outcome, and the incident that it was.
    """

    execution: Execution
    harness: Harness | None = None
    sent: deque[Request] = field(default_factory=deque)
    asked: dict[int, float] = field(default_factory=dict)
    doubted: tuple[Entry, Outcome, tuple[Incident, ...]] | None = None

    async def begin(self) -> Implementation:
        """Start the first harness; returns its description of itself, with the requirements that it maps."""
        suite = self.execution.suite
        self.harness = await connect(self.execution.launch.command)
        try:
            check_dialects(suite, self.harness.implementation)
        except UsageError:
            await self.end()
            raise
        self.execution.implementation = resolved(self.harness.implementation, suite.header.declarations)
        return self.execution.implementation

    async def run(self) -> None:
        """Execute cases until none is left, and stop the harness."""
        try:
            await self.work()
        finally:
            await self.end()

    async def work(self) -> None:
        """Execute cases until none is left."""
        execution = self.execution
        while (self.doubted or self.sent or execution.waiting) and execution.gave_up is None:
            if self.harness is None:
                self.harness = await self._connected()
            elif not self._fill(self.harness):
                await self.end(kill=True)
            elif self.sent:
                await self._settle(self.harness)

    async def end(self, *, kill: bool = False) -> None:
        """Stop or kill the harness; the cases that it has not answered wait again."""
        doubted = self.doubted[0].id if self.doubted else None
        self.execution.waiting.extendleft(x.entry for x in reversed(self.sent) if x.entry.id != doubted)
        self.sent.clear()
        self.asked.clear()
        harness, self.harness = self.harness, None
        if harness is not None:
            await (harness.process.kill() if kill else harness.process.stop())

    async def _connected(self) -> Harness | None:
        """A harness, or None where it could not be started several times in a row."""
        for attempt in range(STARTS):
            try:
                return await connect(self.execution.launch.command)
            except HarnessError as error:
                if attempt == STARTS - 1:
                    self.execution.gave_up = f"The harness could not be started again {STARTS} times in a row. {error}"
        return None

    def _fill(self, harness: Harness) -> bool:
        """Send a harness as many requests as it may have in flight; returns whether its scratch folder is usable.

        They are sent in one write when half of them are answered, since each write may wake the harness.
        """
        before = len(self.sent)
        if before > self._most() // 2:
            return True
        is_usable = self._lay_out(harness)
        if new := [*self.sent][before:]:
            self.asked |= dict.fromkeys((x.seq for x in new), time.monotonic())
            harness.process.send(b"".join(x.line for x in new))
        return is_usable

    def _lay_out(self, harness: Harness) -> bool:
        """Lay out the next requests; returns whether the scratch folder is usable."""
        execution = self.execution
        while len(self.sent) < self._most() and (self.doubted or execution.waiting):
            entry = self.doubted[0] if self.doubted else execution.waiting[0]
            case = execution.suite.case(entry)
            dialect, why = dialect_of(execution.suite, entry, case, harness.implementation)
            if why is None:
                try:
                    self.sent.append(self._request(harness, entry, case, dialect))
                except OSError as error:
                    if harness.served or self.sent:
                        return bool(self.sent)
                    raise DiskError(harness.process.scratch.parent, error) from error
            if not self.doubted:
                execution.waiting.popleft()
            if why is not None:
                execution.on_outcome(entry, case, NotSent(why=why))
        return True

    def _most(self) -> int:
        """How many requests the harness may have in flight."""
        if self.doubted or self.execution.ahead == 1 or (self.sent and self.sent[-1].size >= _LARGE):
            return 1
        return min(self.execution.ahead, max(_FEWEST, int(_SHARE * len(self.execution.waiting))))

    def _request(self, harness: Harness, entry: Entry, case: Case, dialect: str | None) -> Request:
        scratch = harness.process.scratch
        seq = _FIRST_SEQ + secrets.randbits(_SEQ_BITS)  # unpredictable, so that no reply can precede its request
        if os.path.islink(scratch):  # noqa: PTH114 - faster
            raise OSError(errno.ELOOP, "it is a symbolic link", str(scratch))
        place = Place(folder=f"{scratch}/{seq}", outputs=f"{scratch}", inline=harness.inline)
        return lay_out(self.execution.suite, (entry, case), dialect, seq=seq, place=place)

    async def _settle(self, harness: Harness) -> None:
        """Wait for the outcome of the oldest request, and report it unless its case has to be executed again."""
        execution, scratch = self.execution, harness.process.scratch
        is_alone = not harness.served and (self.doubted is not None or execution.ahead == 1)
        within, asked = execution.launch.timeout, self.asked.pop(self.sent[0].seq)
        outcome, state = await answer_to(self.sent[0], execution.suite, harness.process, asked=asked, timeout=within)
        harness.served.append(self.sent[0].entry.id)
        if not is_alone and is_changed(self.sent[0]):
            outcome, state = Error(sentence="the files of the case were changed before it was answered"), "spoilt"
        filled = not isinstance(outcome, Returned) and is_full(scratch.parent)
        if filled:
            sentence = "the disk of the temporary folder was full while the case was executed"
            outcome, state = Error(sentence=sentence), "spoilt"
        outcome = without_scratch(outcome, scratch)
        incidents = incidents_of(outcome, harness.served)
        request = self.sent.popleft()
        is_doubtful = state == "exited" or (isinstance(outcome, Error) and execution.confirmed_errors < CONFIRMATIONS)
        if is_doubtful and not is_alone:
            self.doubted = (request.entry, outcome, incidents)
            await self.end(kill=True)
            if filled:
                check_room(scratch.parent)
            return
        clear(request)
        outcome, incidents = self._confirmed(outcome, incidents)
        if state != "usable" or execution.ahead == 1:
            await self.end(kill=True)
        if filled:
            check_room(scratch.parent)
        execution.on_outcome(request.entry, request.case, outcome, *incidents)

    def _confirmed(self, outcome: Outcome, incidents: tuple[Incident, ...]) -> tuple[Outcome, tuple[Incident, ...]]:
        """The outcome that counts of a case that may have been executed before, and what happened to the process."""
        if self.doubted is None:
            return outcome, incidents
        (_, first, incidents), self.doubted = self.doubted, None
        if not isinstance(first, Error):
            return outcome, incidents
        is_same = isinstance(outcome, Error | TimedOut)
        self.execution.confirmed_errors = self.execution.confirmed_errors + 1 if is_same else 0
        return (first, ()) if is_same else (outcome, incidents)
