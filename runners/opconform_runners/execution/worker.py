"""A worker sends cases and packs to a harness process and collects their outcomes, whatever a harness does."""

import errno
import os
import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from opconform.errors import DiskError, HarnessError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.dialects import check_dialects, dialect_of
from opconform_runners.execution.packs.errors import UnjoinableError
from opconform_runners.execution.packs.pack import Pack
from opconform_runners.execution.packs.schedule import Schedule
from opconform_runners.execution.request import Place, Request, answer_to, clear, is_changed, lay_out, lay_out_pack
from opconform_runners.execution.waiting import InOrder, Waiting
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
_PACKS_IN_FLIGHT = 2  #: A harness is sent so many packs ahead, since what comes of one decides the size of the next.
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


@dataclass(slots=True)
class Execution:
    """The cases that wait for a harness, and what the workers share.

    Attributes:
        waiting: The cases and packs that have not been sent.
        schedule: The same, if some of them may be packed.
        ahead: How many requests a harness is sent before it replies; 1 gives each case a harness of its own.
        confirmed_errors: How many errors in a row were confirmed alone.
        gave_up: Why no harness can be started any more, or None.
    """

    suite: Suite
    launch: Launch
    on_outcome: OnOutcome
    waiting: Waiting = field(default_factory=InOrder)
    schedule: Schedule | None = None
    ahead: int = IN_FLIGHT
    confirmed_errors: int = 0
    gave_up: str | None = None
    implementation: Implementation | None = None

    @property
    def scheduled(self) -> Schedule:
        """The schedule, from which packs come."""
        if self.schedule is None:
            raise ValueError("nothing is packed")
        return self.schedule

    def note(self, entry: Entry, case: Case, outcome: Outcome, *incidents: Incident) -> None:
        """Report the outcome of a case alone."""
        before = self.schedule.incidents_at(entry.id) if self.schedule else ()
        self.on_outcome(entry, case, outcome, *before, *incidents)
        if self.schedule is not None:
            self.schedule.check(entry, case, outcome)


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """A case or a pack that is executed again in a fresh process, its first outcome, and the incident that it was."""

    item: Entry | Pack
    outcome: Outcome
    incidents: tuple[Incident, ...]


@dataclass(slots=True)
class HarnessWorker:
    """One harness at a time, and the requests that it has not answered.

    After an error or an exit of the harness, which another case may have caused, a case is executed again alone. So is
    a pack, also after a crash or a timeout.

    Attributes:
        harness: The harness, or None where the next case needs a new one.
        sent: The requests, the oldest first.
        sent_at: When each request was sent, by its number.
        doubted: What is executed again before all others.
    """

    execution: Execution
    harness: Harness | None = None
    sent: deque[Request] = field(default_factory=deque)
    sent_at: dict[int, float] = field(default_factory=dict)
    doubted: Doubt | None = None

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
        for request in reversed(self.sent):
            if self.doubted is None or request.item != self.doubted.item:
                self.execution.waiting.put_back(request.item)
        self.sent.clear()
        self.sent_at.clear()
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
            self.sent_at |= dict.fromkeys((x.seq for x in new), time.monotonic())
            harness.process.send(b"".join(x.line for x in new))
        return is_usable

    def _lay_out(self, harness: Harness) -> bool:
        """Lay out the next requests; returns whether the scratch folder is usable."""
        waiting = self.execution.waiting
        while len(self.sent) < self._most() and (item := self.doubted.item if self.doubted else waiting.next()):
            try:
                request = self._request(harness, item)
            except OSError as error:
                if self.doubted is None:
                    waiting.put_back(item)
                if harness.served or self.sent:
                    return bool(self.sent)
                raise DiskError(harness.process.scratch.parent, error) from error
            if request is not None:
                self.sent.append(request)
        return True

    def _most(self) -> int:
        """How many requests the harness may have in flight."""
        if self.doubted or self.execution.ahead == 1 or (self.sent and self.sent[-1].size >= _LARGE):
            return 1
        if self.sent and self.sent[-1].pack is not None:
            return _PACKS_IN_FLIGHT
        return min(self.execution.ahead, max(_FEWEST, int(_SHARE * len(self.execution.waiting))))

    def _request(self, harness: Harness, item: Entry | Pack) -> Request | None:
        """The request for a case or a pack, laid out; None if it is not sent."""
        scratch, execution = harness.process.scratch, self.execution
        seq = _FIRST_SEQ + secrets.randbits(_SEQ_BITS)  # unpredictable, so that no reply can precede its request
        if os.path.islink(scratch):  # noqa: PTH114 - faster
            raise OSError(errno.ELOOP, "it is a symbolic link", str(scratch))
        place = Place(folder=f"{scratch}/{seq}", outputs=f"{scratch}", inline=harness.inline)
        if isinstance(item, Pack):
            try:
                return lay_out_pack(execution.suite, item, seq=seq, place=place)
            except UnjoinableError:
                execution.scheduled.take_apart(item)
                return None
        case = execution.suite.case(item)
        dialect, why = dialect_of(execution.suite, item, case, harness.implementation)
        if why is not None:
            execution.on_outcome(item, case, NotSent(why=why))
            return None
        return lay_out(execution.suite, (item, case), dialect, seq=seq, place=place)

    async def _settle(self, harness: Harness) -> None:
        """Wait for the outcome of the oldest request, and report it unless it has to be executed again."""
        execution, scratch, request = self.execution, harness.process.scratch, self.sent[0]
        is_alone, within = not harness.served, execution.launch.timeout
        if request.pack is not None:
            within = execution.scheduled.limits.seconds(fresh=is_alone or request.pack.is_suspect)
        else:
            is_alone = is_alone and (self.doubted is not None or execution.ahead == 1)
        sent_at, began = self.sent_at.pop(request.seq), time.monotonic()
        outcome, state = await answer_to(request, execution.suite, harness.process, sent_at=sent_at, timeout=within)
        seconds = time.monotonic() - began
        harness.served += request.ids
        if not is_alone and is_changed(request):
            outcome, state = Error(sentence="the files of the case were changed before it was answered"), "spoilt"
        filled = not isinstance(outcome, Returned) and is_full(scratch.parent)
        if filled:
            sentence = "the disk of the temporary folder was full while the case was executed"
            outcome, state = Error(sentence=sentence), "spoilt"
        outcome = without_scratch(outcome, scratch)
        incidents = incidents_of(outcome, harness.served, last=len(request.ids))
        self.sent.popleft()
        is_doubtful = state == "exited" or (isinstance(outcome, Error) and execution.confirmed_errors < CONFIRMATIONS)
        if request.pack is not None:
            is_doubtful = bool(incidents) and not request.pack.is_suspect
        if is_doubtful and not is_alone:
            self.doubted = Doubt(item=request.item, outcome=outcome, incidents=incidents)
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
        if request.pack is None:
            execution.note(request.entry, request.case, outcome, *incidents)
        else:
            execution.scheduled.settle(request.pack, outcome, incidents, seconds)

    def _confirmed(self, outcome: Outcome, incidents: tuple[Incident, ...]) -> tuple[Outcome, tuple[Incident, ...]]:
        """The outcome that counts of what may have been executed before, and what happened to the process.

        What happened to the process of a pack, and happens again, is looked for in its cases.
        """
        if self.doubted is None:
            return outcome, incidents
        doubt, self.doubted = self.doubted, None
        if isinstance(doubt.item, Pack):
            return outcome, () if incidents else doubt.incidents
        if not isinstance(doubt.outcome, Error):
            return outcome, doubt.incidents
        is_same = isinstance(outcome, Error | TimedOut)
        self.execution.confirmed_errors = self.execution.confirmed_errors + 1 if is_same else 0
        return (doubt.outcome, ()) if is_same else (outcome, doubt.incidents)
