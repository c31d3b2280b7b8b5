"""Connecting: a harness process, started without a shell, spoken to in lines, and killed with all its children."""

import asyncio
import contextlib
import os
import re
import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from opconform.errors import HarnessError
from opconform_runners.backend import Implementation
from opconform_runners.commands import GIB, Command
from opconform_runners.installed import UNUSABLE, is_shipped
from opconform_runners.protocol import LINE_LIMIT, ProtocolError, said_of, start_line, stop_line

#: How long a harness may take to answer `start`, and to end after `stop`, in seconds.
START_LIMIT = 120.0
STOP_LIMIT = 2.0

#: How long the last words of a process that has ended may take to arrive, in seconds.
_GRACE = 0.5

#: How often a process is looked at that ought to end, in seconds.
_PERIOD = 0.02
#: How often the memory of a harness is looked at, in seconds.
_GLANCE = 0.2

_TAIL = 4_096

#: How Python says that a module is not there.
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[^']+)'")


class HarnessEnded(Exception):  # noqa: N818 - an event, and no error of ours
    """The harness process ended; `how` says with which code or signal, which `code` is, and what it wrote last."""

    def __init__(self, how: str, code: int | None = None) -> None:
        super().__init__(how, code)
        self.how, self.code = how, code


@dataclass(slots=True)
class Process:
    """A harness process, of which nothing is known yet but that it was started."""

    command: Command
    _process: asyncio.subprocess.Process
    _tail: deque[bytes]
    _drain: "asyncio.Task[None]"
    _watch: "asyncio.Task[str]"

    def send(self, line: bytes) -> None:
        """Send a request; it is buffered, so that a harness that does not read cannot stop us."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(line)

    def send_end(self) -> None:
        """End its standard input."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def receive(self) -> bytes:
        """The next line.

        Raises:
            HarnessEnded: The process ended.
            ProtocolError: The line is too long.
        """
        try:
            return await _line_of(self._process, self._tail, self._drain)
        except HarnessEnded as ending:
            if self._watch.done():
                raise HarnessEnded(self._watch.result()) from ending
            raise

    @property
    def said_last(self) -> str:
        """The end of what the harness wrote to standard error."""
        return _text(self._tail)

    async def has_ended(self, *, within: float) -> bool:
        """Whether the process itself ends in time, whatever its children do."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._process.returncode is None:
                    await asyncio.sleep(_PERIOD)
        return self._process.returncode is not None

    def has_children(self) -> bool:
        """Whether a child of a process that has ended is still there."""
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def stop(self) -> None:
        """Let the harness end, and kill it with all its children if it does not."""
        with contextlib.suppress(TimeoutError):
            self.send(stop_line())
            self.send_end()
            async with asyncio.timeout(STOP_LIMIT):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the harness and all its children; its last words have arrived afterwards."""
        _kill(self._process)
        self._watch.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._drain)
        self._drain.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._drain
        await self._process.wait()
        _close(self._process)


@dataclass(slots=True)
class Harness:
    """A harness that has answered `start`."""

    implementation: Implementation
    _process: Process

    def send(self, line: bytes) -> None:
        """Send a request."""
        self._process.send(line)

    async def receive(self) -> bytes:
        """The next line.

        Raises:
            HarnessEnded: The process ended.
            ProtocolError: The line is too long.
        """
        return await self._process.receive()

    @property
    def said_last(self) -> str:
        """The end of what the harness wrote to standard error."""
        return self._process.said_last

    async def stop(self) -> None:
        """Let the harness end, and kill it with all its children if it does not."""
        await self._process.stop()

    async def kill(self) -> None:
        """Kill the harness and all its children."""
        await self._process.kill()


async def started(command: Command) -> Process:
    """Start a harness, and say nothing to it yet.

    Raises:
        HarnessError: There is no such program, or it cannot be executed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            start_new_session=True,
        )
    except OSError as fault:
        raise HarnessError(f"{command.arguments[0]} cannot be started: {fault.strerror}.") from fault
    tail: deque[bytes] = deque(maxlen=16)
    drain = asyncio.create_task(_drained(process, tail))
    return Process(command, process, tail, drain, asyncio.create_task(_watched(process, command)))


async def connect(command: Command) -> Harness:
    """Start a harness and ask it what it is.

    Raises:
        HarnessError: It cannot be started, ends, stays silent, or does not speak the protocol.
    """
    process = await started(command)
    try:
        process.send(start_line())
        async with asyncio.timeout(START_LIMIT):
            implementation = said_of(await process.receive())
    except (TimeoutError, HarnessEnded, ProtocolError) as fault:
        await process.kill()
        raise HarnessError(start_sentence(command, fault, process.said_last)) from fault
    except BaseException:
        await process.kill()
        raise
    return Harness(implementation, process)


async def described(command: Command) -> Implementation:
    """What a harness says of itself; it is started for that, and stopped.

    Raises:
        HarnessError: It cannot be started, ends, stays silent, or does not speak the protocol.
    """
    harness = await connect(command)
    await harness.stop()
    return harness.implementation


def start_sentence(command: Command, fault: BaseException, last: str) -> str:
    """Why a harness cannot be started, for a person; `last` is the end of its standard error."""
    if isinstance(fault, TimeoutError):
        why = f"it did not answer `start` within {START_LIMIT:.0f} seconds"
    elif isinstance(fault, HarnessEnded):
        if command.python is not None and last:
            said = last.splitlines()[-1]
            if missing := _MISSING.search(said):
                return _missing_sentence(command, missing["module"], began=fault.code == UNUSABLE)
            if fault.code == UNUSABLE:
                return said
        why = fault.how
    else:
        why = f"{fault}; see docs/protocol.md"
    said = f" It said: {last.splitlines()[-1]}" if last and not isinstance(fault, HarnessEnded) else ""
    return f"The harness {command.name} cannot be started: {why.rstrip('.')}.{said}"


def _missing_sentence(command: Command, module: str, *, began: bool) -> str:
    """Why a Python backend cannot be loaded that lacks a module, or not even the harness, which had not begun then."""
    package = module.partition(".")[0]
    if command.elsewhere and (not began or is_shipped(command.name)):
        needs = "the product, numpy, pydantic and ml_dtypes"
        return f"{command.name} cannot be used: {command.python} has no {package}; it needs {needs}."
    if is_shipped(command.name):
        extra = command.name.partition(":")[0]
        extra = f'pip install "opconform[{extra}]", or ".[{extra}]" in a clone'
        return f"{command.name} cannot be used: {package} is not installed; {extra}."
    return f"{command.name} needs the module {module}, which is not installed in {command.python}."


async def _line_of(process: asyncio.subprocess.Process, tail: deque[bytes], drain: "asyncio.Task[None]") -> bytes:
    line = await _line_while_alive(process)
    if line.endswith(b"\n"):
        return line
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await process.wait()
            await asyncio.shield(drain)
    raise HarnessEnded(_how(process.returncode, _text(tail)), process.returncode)


async def _line_while_alive(process: asyncio.subprocess.Process) -> bytes:
    """The next line; an empty one where the process has ended, though a child of it may hold its standard output."""
    if process.stdout is None:
        return b""
    reading = asyncio.ensure_future(process.stdout.readline())
    try:
        while not (await asyncio.wait({reading}, timeout=_GRACE))[0]:
            if process.returncode is not None:
                return b""
        return reading.result()
    except ValueError as fault:
        raise ProtocolError(f"the harness wrote a line of more than {LINE_LIMIT:,} bytes") from fault
    finally:
        reading.cancel()


async def _drained(process: asyncio.subprocess.Process, tail: deque[bytes]) -> None:
    """Read standard error to its end and keep the last of it, so that a talkative harness is never blocked."""
    while process.stderr is not None and (chunk := await process.stderr.read(_TAIL)):
        tail.append(chunk)


async def _watched(process: asyncio.subprocess.Process, command: Command) -> str:
    """Kill a process that takes too much memory, and say so."""
    while command.memory is None or _resident(process.pid) <= command.memory:
        await asyncio.sleep(_GLANCE)
    _kill(process)
    return f"it was killed when it took more than {command.memory / GIB:g} GiB of memory"


def _resident(pid: int) -> int:
    """The bytes of memory that a process and its children hold now; 0 where it has ended."""
    size = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                size += each.memory_info().rss
    return size


def _how(code: int | None, last: str) -> str:
    if code is None:
        how = "it closed its standard output"
    elif code < 0:
        how = f"it was ended by {_signal(-code)}"
    else:
        how = f"it ended with code {code}"
    return f"{how}; its last words: {' / '.join(last.splitlines()[-3:])}" if last else how


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _text(tail: Sequence[bytes]) -> str:
    return b"".join(tail)[-_TAIL:].decode(errors="replace").strip()


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process and all its children; the process itself is asked only where the group cannot be reached.

    To ask it polls it, which takes its exit code away from asyncio.
    """
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        with contextlib.suppress(ProcessLookupError):
            process.kill()


def _close(process: asyncio.subprocess.Process) -> None:
    """Close the pipes now, and not when the event loop is gone."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
