"""Executing: cases go to harness processes and outcomes come back, whatever a harness does on the way."""

import asyncio
import shutil
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.errors import DiskError, HarnessError, OpconformError, UsageError
from opconform.suite import Entry, Suite, inputs_name
from opconform.tensors import Array
from opconform_runners.backend import Implementation, Placement
from opconform_runners.commands import Command
from opconform_runners.connecting import Harness, HarnessEnded, connect
from opconform_runners.outputs import PLENTY, OversizedOutputs, UnreadableOutputs, output_limit, read_outputs
from opconform_runners.protocol import Failed, Feed, NotSupported, Ok, ProtocolError, Refused, reply_of, run_line
from opconform_runners.scratch_paths import check_room, is_full, scratch_folder, without_scratch

#: How many requests a harness is given ahead, so that it never waits for us.
IN_FLIGHT = 4
#: How often a harness is started again in vain before the run is given up.
STARTS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Returned:
    """The backend executed the case; `outputs` are those of each feed."""

    outputs: tuple[tuple[Array, ...], ...]
    element_types: tuple[tuple[str, ...], ...] | None
    seconds: float | None
    placement: Placement | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Oversized:
    """The backend executed the case; its outputs are too large to be those that are expected, and were not read."""

    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Crashed:
    """The harness process ended while it worked on the case."""

    how: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut:
    """The harness did not answer in time."""

    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """The harness, and not the backend, failed."""

    sentence: str
    log: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotSent:
    """The case is nothing that this kind of backend can be given."""

    why: str


Outcome = Returned | Oversized | Refused | NotSupported | Crashed | TimedOut | Broken | NotSent


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
    with scratch_folder() as scratch:
        execution = Execution(suite, command, deque(entries), timeout, scratch, tell, 1 if alone else IN_FLIGHT)
        return asyncio.run(execution.run(max(1, min(jobs, len(entries))), ready))


@dataclass(slots=True)
class Sent:
    """A request that has no reply yet."""

    seq: int
    entry: Entry
    case: Case
    folder: Path
    outputs: list[Path]


@dataclass(slots=True)
class Execution:
    """Cases that wait for harnesses, and who is told what came of them."""

    suite: Suite
    command: Command
    waiting: deque[Entry]
    timeout: float
    scratch: Path
    tell: Callable[[Entry, Case, Outcome], None]
    ahead: int
    seq: int = 0
    gave_up: str | None = None
    implementation: Implementation | None = field(default=None)

    async def run(self, jobs: int, ready: Callable[[Implementation], None]) -> Executed:
        """Execute all that waits, by that many harnesses."""
        first = await connect(self.command)
        self.implementation = first.implementation
        try:
            check_dialects(self.suite, first.implementation)
            ready(first.implementation)
        except OpconformError:
            await first.stop()
            raise
        tasks = [asyncio.create_task(self._serve(first if number == 0 else None)) for number in range(jobs)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return Executed(implementation=first.implementation, gave_up=self.gave_up)

    async def _serve(self, harness: Harness | None) -> None:
        """Keep one harness busy until no case is left."""
        sent: deque[Sent] = deque()
        try:
            while (self.waiting or sent) and self.gave_up is None:
                if harness is None and (harness := await self.connected()) is None:
                    return
                self.fill(harness, sent)
                if sent and (not await self.settle(harness, sent) or self.ahead == 1):
                    await harness.kill()
                    harness = None
        finally:
            self.waiting.extendleft(each.entry for each in reversed(sent))
            if harness is not None:
                await harness.stop()

    async def connected(self) -> Harness | None:
        """A harness, or None where it could not be started several times in a row."""
        for attempt in range(STARTS):
            try:
                return await connect(self.command)
            except HarnessError as fault:
                if attempt == STARTS - 1:
                    self.gave_up = f"The harness could not be started again {STARTS} times in a row. {fault}"
        return None

    def fill(self, harness: Harness, sent: deque[Sent]) -> None:
        """Send a harness as many requests as it is given ahead."""
        while self.waiting and len(sent) < self.ahead:
            entry = self.waiting.popleft()
            case = self.suite.case(entry)
            dialect, why = dialect_of(self.suite, entry, case, harness.implementation)
            if why is not None:
                self.tell(entry, case, NotSent(why=why))
                continue
            try:
                sent.append(self._send(harness, entry, case, dialect))
            except OSError as fault:
                if DiskError.is_full(fault):
                    raise DiskError(self.scratch.parent, fault) from fault
                raise

    def _send(self, harness: Harness, entry: Entry, case: Case, dialect: str | None) -> Sent:
        self.seq += 1
        folder = self.scratch / f"{self.seq}"
        folder.mkdir()
        for name in entry.files:
            if name.startswith("inputs.") or (dialect is not None and name.startswith(f"{dialect}/")):
                place = folder / name
                if "/" in name:
                    place.parent.mkdir(exist_ok=True)
                place.write_bytes(self.suite.read(entry, name))
        outputs = [self.scratch / f"{self.seq}{f'.{feed}' if feed else ''}.npz" for feed in range(case.feeds)]
        feeds = [Feed(inputs=inputs_name(feed), outputs=str(outputs[feed])) for feed in range(case.feeds)]
        model = None if dialect is None else self.suite.header.dialects[dialect]
        harness.send(run_line(self.seq, case, folder=str(folder), dialect=dialect, model=model, feeds=feeds))
        return Sent(seq=self.seq, entry=entry, case=case, folder=folder, outputs=outputs)

    async def settle(self, harness: Harness, sent: deque[Sent]) -> bool:
        """Wait for the oldest request's outcome; tell whether the harness can be used further.

        The others that were sent to a harness that cannot are sent again to the next one, and are not to blame.
        """
        oldest = sent[0]
        usable = False
        outcome: Outcome
        try:
            async with asyncio.timeout(self.timeout):
                line = await harness.receive()
            reply = reply_of(line)
            if reply.seq == oldest.seq:
                outcome, usable = self._outcome(oldest, reply), True
            else:
                outcome = Broken(sentence=f"the harness answered seq {reply.seq} where {oldest.seq} was due")
        except TimeoutError:
            outcome = TimedOut(seconds=self.timeout)
        except HarnessEnded as ending:
            outcome = Crashed(how=ending.how)
        except ProtocolError as fault:
            outcome = Broken(sentence=str(fault), log=harness.said_last or None)
        filled = not isinstance(outcome, Returned) and is_full(self.scratch.parent)
        usable = usable and not filled
        sent.popleft()
        self._clear(oldest)
        if not usable:
            for each in sent:
                self._clear(each)
            self.waiting.extendleft(each.entry for each in reversed(sent))
            sent.clear()
        if filled:
            check_room(self.scratch.parent)
            outcome = Broken(sentence="the disk of the temporary folder was full while the case was executed")
        self.tell(oldest.entry, oldest.case, without_scratch(outcome, self.scratch))
        return usable

    def _outcome(self, sent: Sent, reply: Ok | Refused | NotSupported | Failed) -> Outcome:
        match reply:
            case Ok():
                return _returned(self.suite, sent, reply)
            case Failed(message=message, traceback=log):
                return Broken(sentence=message, log=log)
            case Refused() | NotSupported():
                return reply

    def _clear(self, sent: Sent) -> None:
        shutil.rmtree(sent.folder, ignore_errors=True)
        for each in sent.outputs:
            each.unlink(missing_ok=True)


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
        why = f"the context `{case.context}` is a graph, and this backend neither reads a dialect nor declares it"
        return None, None if case.context in implementation.contexts else why
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
