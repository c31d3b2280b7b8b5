"""Executing: cases go to harness processes and outcomes come back, whatever a harness does on the way."""

import asyncio
import errno
import secrets
import shutil
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from opconform.errors import DiskError, HarnessError, OpconformError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.outputs import PLENTY, OversizedOutputs, UnreadableOutputs, output_limit, read_outputs
from opconform_runners.harness.command import Command
from opconform_runners.harness.outcome import Broken, Crashed, NotSent, Outcome, Oversized, Returned, TimedOut
from opconform_runners.harness.process import Harness, HarnessEnded, connect
from opconform_runners.harness.protocol import (
    Failed,
    Feed,
    NotSupported,
    Ok,
    ProtocolError,
    Refused,
    reply_of,
    run_line,
)
from opconform_runners.harness.scratch import check_room, is_full, without_scratch

#: How many requests a harness is given ahead, so that it never waits for us.
IN_FLIGHT = 4
#: How often a harness is started again in vain before the run is given up.
STARTS = 3
#: How many errors in a row must come again when their case is executed alone, for the next ones to be believed at once.
BELIEVED = 16
#: The numbers of requests: as large as the protocol allows, and all of one length.
_SEQS = range(10**15, 9 * 10**15)


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """What came of an execution.

    Attributes:
        implementation: What the harness says it drives.
        gave_up: Why the rest of the cases were not executed, or None.
    """

    implementation: Implementation
    gave_up: str | None


def execute(
    suite: Suite,
    entries: Sequence[Entry],
    command: Command,
    *,
    jobs: int,
    timeout: float,
    tell: Callable[[Entry, Case, Outcome], None],
    alone: bool = False,
    ready: Callable[[Implementation], None] = lambda _: None,
) -> Executed:
    """Execute cases of a suite.

    Args:
        suite: The suite.
        entries: The lines of the cases, in the order in which they are to be executed.
        command: How a harness is started.
        jobs: How many harness processes there are.
        timeout: How long a case may take, in seconds.
        tell: Told each outcome, in no certain order.
        alone: Whether each case has a harness process of its own, which no other case has touched.
        ready: Told what is tested once a harness is up and reads the suite, before the first case.

    Raises:
        DiskError: The disk of the temporary folder is full.
        HarnessError: The harness cannot be started at all.
        SuiteError: A file of the suite is not what it says.
    """
    execution = Execution(suite, command, deque(entries), timeout, tell, 1 if alone else IN_FLIGHT)
    return asyncio.run(execution.run(max(1, min(jobs, len(entries))), ready))


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """A request that has no reply yet.

    Attributes:
        alone: Whether the harness has been sent nothing else, so that no other case is to blame for what comes of it.
    """

    seq: int
    entry: Entry
    case: Case
    folder: Path
    outputs: tuple[Path, ...]
    alone: bool


@dataclass(slots=True)
class Execution:
    """Cases that wait for harnesses, and who is told what came of them.

    Attributes:
        suite: The suite of the cases.
        command: How a harness is started.
        waiting: The cases that no harness has been sent.
        timeout: How long a case may take, in seconds.
        tell: Told each outcome.
        ahead: How many requests a harness is sent before it replies.
        believed: How many errors in a row came again when their case was executed alone.
        gave_up: Why no harness can be started any more, or None.
        implementation: What the first harness says of itself.
    """

    suite: Suite
    command: Command
    waiting: deque[Entry]
    timeout: float
    tell: Callable[[Entry, Case, Outcome], None]
    ahead: int
    believed: int = 0
    gave_up: str | None = None
    implementation: Implementation | None = None

    async def run(self, jobs: int, ready: Callable[[Implementation], None]) -> Executed:
        """Execute all that waits, by that many harnesses."""
        workers = [Worker(self) for _ in range(jobs)]
        implementation = await workers[0].begin()
        try:
            ready(implementation)
        except OpconformError:
            await workers[0].end()
            raise
        tasks = [asyncio.create_task(each.run()) for each in workers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return Executed(implementation=implementation, gave_up=self.gave_up)


@dataclass(slots=True)
class Worker:
    """One harness at a time, and the requests that it has not answered.

    An error can be caused by another case, one that printed a line too many or removed files. So can an exit of the
    harness, which may have happened before it read the case. Such a case is executed again in a harness that is sent
    nothing else, and only that execution counts. The end by a signal is a crash and counts at once.

    Attributes:
        execution: Where its cases come from.
        harness: The harness, or None where the next case needs a new one.
        sent: The requests that were sent, the oldest first.
        doubted: The case that is executed again before all others, and what came of it first.
    """

    execution: Execution
    harness: Harness | None = None
    sent: deque[Sent] = field(default_factory=deque)
    doubted: tuple[Entry, Outcome] | None = None

    async def begin(self) -> Implementation:
        """Start the first harness, and tell what it says of itself.

        Raises:
            HarnessError: It cannot be started.
            UsageError: It reads nothing that the suite holds.
        """
        self.harness = await connect(self.execution.command)
        try:
            check_dialects(self.execution.suite, self.harness.implementation)
        except UsageError:
            await self.end()
            raise
        self.execution.implementation = self.harness.implementation
        return self.harness.implementation

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
            if self.harness is None and (harness := await self._connected()) is not None:
                self.harness = harness
            if self.harness is None:
                return
            if not self._fill(self.harness):
                await self._replace()
            elif self.sent:
                await self._settle(self.harness)

    async def end(self) -> None:
        """Stop the harness; what it has not answered waits again."""
        self._take_back()
        if self.harness is not None:
            harness, self.harness = self.harness, None
            await harness.stop()

    async def _connected(self) -> Harness | None:
        """A harness, or None where it could not be started several times in a row."""
        for attempt in range(STARTS):
            try:
                return await connect(self.execution.command)
            except HarnessError as fault:
                if attempt == STARTS - 1:
                    self.execution.gave_up = f"The harness could not be started again {STARTS} times in a row. {fault}"
        return None

    async def _replace(self) -> None:
        """Kill the harness; what it has not answered waits again."""
        self._take_back()
        if self.harness is not None:
            harness, self.harness = self.harness, None
            await harness.kill()

    def _take_back(self) -> None:
        self.execution.waiting.extendleft(
            each.entry for each in reversed(self.sent) if not self._is_doubted(each.entry)
        )
        self.sent.clear()

    def _is_doubted(self, entry: Entry) -> bool:
        return self.doubted is not None and self.doubted[0].id == entry.id

    def _fill(self, harness: Harness) -> bool:
        """Send a harness as many requests as it is given ahead; tells whether its scratch folder can be used.

        Raises:
            DiskError: The disk refuses the files of the first case that the harness is given.
        """
        execution = self.execution
        while len(self.sent) < (1 if self.doubted else execution.ahead) and (self.doubted or execution.waiting):
            entry = self.doubted[0] if self.doubted else execution.waiting[0]
            case = execution.suite.case(entry)
            dialect, why = dialect_of(execution.suite, entry, case, harness.implementation)
            if why is None:
                try:
                    self.sent.append(self._send(harness, entry, case, dialect))
                except OSError as fault:
                    if harness.served or self.sent:
                        return bool(self.sent)
                    raise DiskError(harness.scratch.parent, fault) from fault
            if not self.doubted:
                execution.waiting.popleft()
            if why is not None:
                execution.tell(entry, case, NotSent(why=why))
        return True

    def _send(self, harness: Harness, entry: Entry, case: Case, dialect: str | None) -> Sent:
        execution = self.execution
        seq = _SEQS.start + secrets.randbelow(len(_SEQS))  # so that no reply can be ahead of its request
        folder = harness.scratch / f"{seq}"
        if harness.scratch.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link", str(harness.scratch))
        folder.mkdir()
        for name in entry.files:
            if name.startswith("inputs.") or (dialect is not None and name.startswith(f"{dialect}/")):
                place = folder / name
                if "/" in name:
                    place.parent.mkdir(exist_ok=True)
                place.write_bytes(execution.suite.read(entry, name))
        outputs = tuple(harness.scratch / f"{seq}{f'.{feed}' if feed else ''}.npz" for feed in range(case.feeds))
        feeds = [Feed(inputs=inputs_name(feed), outputs=str(outputs[feed])) for feed in range(case.feeds)]
        model = None if dialect is None else execution.suite.header.dialects[dialect]
        harness.send(run_line(seq, case, folder=str(folder), dialect=dialect, model=model, feeds=feeds))
        alone = harness.served == 0 and not self.sent and (self.doubted is not None or execution.ahead == 1)
        return Sent(seq=seq, entry=entry, case=case, folder=folder, outputs=outputs, alone=alone)

    async def _settle(self, harness: Harness) -> None:
        """Wait for the oldest request's outcome, and tell it unless the case is to be executed again for it."""
        execution, oldest = self.execution, self.sent[0]
        outcome, state = await self._outcome(harness, oldest)
        harness.served += 1
        disk = harness.scratch.parent
        filled = not isinstance(outcome, Returned) and is_full(disk)
        if filled:
            sentence = "the disk of the temporary folder was full while the case was executed"
            outcome, state = Broken(sentence=sentence), "spoilt"
        doubtful = state == "left" or (isinstance(outcome, Broken) and execution.believed < BELIEVED)
        if doubtful and not oldest.alone:
            self.sent.popleft()
            self.doubted = (oldest.entry, without_scratch(outcome, harness.scratch))
            await self._replace()
            if filled:
                check_room(disk)
            return
        self.sent.popleft()
        _clear(oldest)
        if self.doubted is not None:
            (_, first), self.doubted = self.doubted, None
            if isinstance(first, Broken):
                same = isinstance(outcome, Broken | TimedOut)
                execution.believed = execution.believed + 1 if same else 0
                outcome = first if same else outcome
        scratch = harness.scratch
        if state != "usable" or execution.ahead == 1:
            await self._replace()
        if filled:
            check_room(disk)
        execution.tell(oldest.entry, oldest.case, without_scratch(outcome, scratch))

    async def _outcome(self, harness: Harness, sent: Sent) -> tuple[Outcome, Literal["usable", "spoilt", "left"]]:
        """The outcome of the oldest request, and the state of the harness: one that exited by itself has left."""
        try:
            reply = reply_of(await harness.receive(self.execution.timeout))
        except TimeoutError:
            return TimedOut(seconds=self.execution.timeout), "spoilt"
        except HarnessEnded as ending:
            return Crashed(how=ending.how), "spoilt" if ending.code is None or ending.code < 0 else "left"
        except ProtocolError as fault:
            return Broken(sentence=str(fault), log=harness.said_last or None), "spoilt"
        if reply.seq != sent.seq:
            return Broken(sentence="the harness answered another request than the one that was due"), "spoilt"
        match reply:
            case Ok():
                return _returned(self.execution.suite, sent, reply), "usable"
            case Failed(message=message, traceback=log):
                return Broken(sentence=message, log=log), "usable"
            case Refused() | NotSupported():
                return reply, "usable"


def _clear(sent: Sent) -> None:
    """Remove the files of a request, whatever a harness made of them."""
    shutil.rmtree(sent.folder, ignore_errors=True)
    for each in sent.outputs:
        try:
            each.unlink(missing_ok=True)
        except OSError:
            shutil.rmtree(each, ignore_errors=True)


def check_dialects(suite: Suite, implementation: Implementation) -> None:
    """Refuse a suite that holds nothing that a backend reads."""
    reads, held = implementation.dialects, suite.header.dialects
    if reads and not set(reads) & set(held):
        has = f"holds its cases in {', '.join(held)}" if held else "holds no models"
        wanted = " ".join(f"--dialect {each}" for each in reads)
        raise UsageError(
            f"{suite.store.root} {has}, and {implementation.name} reads {', '.join(reads)}. Generate it with {wanted}."
        )


def dialect_of(suite: Suite, entry: Entry, case: Case, implementation: Implementation) -> tuple[str | None, str | None]:
    """The dialect to give a backend a case in, and why there is none."""
    if not implementation.dialects:
        why = "the case is a graph of several operations, and this backend neither reads a dialect nor executes graphs"
        return None, None if case.is_bare or implementation.graphs else why
    for each in implementation.dialects:
        if suite.header.dialects.get(each) in entry.files:
            return each, None
    reasons: dict[str, list[str]] = {}
    for each in implementation.dialects:
        if each in entry.left_out:
            reasons.setdefault(entry.left_out[each], []).append(each)
    if reasons:
        said = "; ".join(f"{', '.join(dialects)}: {reason}" for reason, dialects in reasons.items())
        return None, f"the case cannot be said in {said}"
    return None, f"the suite holds the case in none of the backend's dialects: {', '.join(implementation.dialects)}"


def _returned(suite: Suite, sent: Sent, reply: Ok) -> Returned | Oversized | Broken:
    try:
        outputs = [_outputs(suite, sent, path) for path in sent.outputs]
    except FileNotFoundError:
        return Broken(sentence="the harness said `ok` and wrote no outputs")
    except OversizedOutputs as fault:
        return Oversized(size=fault.size)
    except UnreadableOutputs as fault:
        return Broken(sentence=str(fault))
    contradiction = _contradiction(outputs, reply)
    if contradiction is not None:
        return Broken(sentence=contradiction)
    return Returned(
        outputs=tuple(outputs), element_types=reply.element_types, seconds=reply.seconds, placement=reply.placement
    )


def _outputs(suite: Suite, sent: Sent, path: Path) -> tuple[Array, ...]:
    """The outputs of one feed. The exact limit takes time, and is computed for large or unreadable outputs only."""
    where = "the harness's output file"
    try:
        return read_outputs(path, where, limit=PLENTY)
    except (OversizedOutputs, UnreadableOutputs):
        return read_outputs(path, where, limit=output_limit(suite, sent.entry, sent.case))


def _contradiction(outputs: Sequence[Sequence[Array]], reply: Ok) -> str | None:
    """What a harness says of its outputs' element types and its files do not bear out, or None."""
    if reply.element_types is None:
        return None
    if len(reply.element_types) != len(outputs):
        return f"the harness says the element types of {len(reply.element_types)} feeds, and was given {len(outputs)}"
    for arrays, said in zip(outputs, reply.element_types, strict=True):
        if len(arrays) != len(said):
            return f"the harness says the element types of {len(said)} outputs, and wrote {len(arrays)}"
        for number, (array, name) in enumerate(zip(arrays, said, strict=True)):
            storage = ELEMENT_TYPES[name].storage if name in ELEMENT_TYPES else None
            if storage is None or (array.dtype != storage and not array.dtype.kind == storage.kind == "U"):
                return f"the harness says that output_{number} is {name}, and wrote {array.dtype}"
    return None
