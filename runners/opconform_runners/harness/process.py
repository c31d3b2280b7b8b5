"""Connecting: a harness process, started without a shell, spoken to in lines, and killed with all its children."""

import asyncio
import contextlib
import math
import os
import re
import signal
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from opconform.errors import HarnessError
from opconform_runners.backends.backend import Implementation
from opconform_runners.harness import supervisor
from opconform_runners.harness.command import GIB, Command
from opconform_runners.harness.protocol import LINE_LIMIT, ProtocolError, said_of, start_line, stop_line
from opconform_runners.harness.registry import UNUSABLE, is_shipped
from opconform_runners.harness.scratch import scratch_folder

#: How long a harness may take to answer `start`, and to end after `stop`, in seconds.
START_LIMIT = 120.0
STOP_LIMIT = 2.0

#: How long the last words of a process that has ended may take to arrive, and how long is waited at a time, in seconds.
_GRACE = 0.5
#: How much longer a wait takes only if opconform was stopped or starved meanwhile, in seconds.
_PAUSED = 0.25
#: How long a supervisor may take to kill everything that a harness started, in seconds.
_KILL_LIMIT = 10.0

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
    """A harness process, of which nothing is known yet but that it was started.

    Attributes:
        command: How it was started.
        scratch: Its scratch folder, which is removed with it.
    """

    command: Command
    scratch: Path
    _folder: "tempfile.TemporaryDirectory[str]"
    _process: asyncio.subprocess.Process
    _channel: socket.socket
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

    async def receive(self, within: float = math.inf) -> bytes:
        """The next line.

        Args:
            within: How long it may take, in seconds. Time in which opconform itself was stopped does not count.

        Raises:
            HarnessEnded: The process ended.
            ProtocolError: The line is too long.
            TimeoutError: There is none in time.
        """
        try:
            return await _line_of(self._process, self._tail, self._drain, within)
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
            async with asyncio.timeout(within + supervisor.PATIENCE):
                while self._process.returncode is None:
                    await asyncio.sleep(_PERIOD)
        return self._process.returncode is not None

    def left_children(self) -> bool:
        """Whether a process that has ended left a child behind, which was killed then."""
        try:
            return supervisor.LEFT in self._channel.recv(16)
        except OSError:
            return False

    async def stop(self) -> None:
        """Let the harness end, and kill it with all that it started if it does not."""
        with contextlib.suppress(TimeoutError):
            self.send(stop_line())
            self.send_end()
            async with asyncio.timeout(STOP_LIMIT):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the harness with all that it started; its last words have arrived afterwards."""
        _ask_to_end(self._channel)
        self._watch.cancel()
        try:
            async with asyncio.timeout(_KILL_LIMIT):
                await self._process.wait()
        except TimeoutError:  # the harness stopped its supervisor
            _kill_tree(self._process)
            await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._drain)
        self._drain.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._drain
        _close(self._process)
        if self.scratch.is_symlink():  # the harness put it there
            self.scratch.unlink(missing_ok=True)
        self._folder.cleanup()


@dataclass(slots=True)
class Harness:
    """A harness that has answered `start`.

    Attributes:
        implementation: What it says of itself.
        served: How many requests it has answered, or was to answer.
    """

    implementation: Implementation
    _process: Process
    served: int = 0

    @property
    def scratch(self) -> Path:
        """Its scratch folder, which is removed with it."""
        return self._process.scratch

    def send(self, line: bytes) -> None:
        """Send a request."""
        self._process.send(line)

    async def receive(self, within: float) -> bytes:
        """The next line.

        Args:
            within: How long it may take, in seconds. Time in which opconform itself was stopped does not count.

        Raises:
            HarnessEnded: The process ended.
            ProtocolError: The line is too long.
            TimeoutError: There is none in time.
        """
        return await self._process.receive(within)

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
        DiskError: The disk refuses a scratch folder.
    """
    folder = scratch_folder()
    own, other = socket.socketpair()
    own.setblocking(False)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", supervisor.__file__, str(other.fileno()), folder.name),
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            start_new_session=True,
            pass_fds=(other.fileno(),),
        )
    except OSError as fault:
        own.close()
        folder.cleanup()
        raise HarnessError(f"{command.arguments[0]} cannot be started: {fault.strerror}.") from fault
    finally:
        other.close()
    tail: deque[bytes] = deque(maxlen=16)
    drain = asyncio.create_task(_drained(process, tail))
    watch = asyncio.create_task(_watched(process, own, command))
    started = Process(command, Path(folder.name), folder, process, own, tail, drain, watch)
    try:
        async with asyncio.timeout(START_LIMIT):
            said = await asyncio.get_running_loop().sock_recv(own, 16)
    except BaseException:
        await started.kill()
        raise
    if said.startswith(supervisor.FAILED):
        await started.kill()
        why = os.strerror(int(said.removeprefix(supervisor.FAILED)))
        raise HarnessError(f"{command.arguments[0]} cannot be started: {why}.")
    return started


async def connect(command: Command) -> Harness:
    """Start a harness and ask it what it is.

    Raises:
        HarnessError: It cannot be started, ends, stays silent, or does not speak the protocol.
    """
    process = await started(command)
    try:
        process.send(start_line())
        implementation = said_of(await process.receive(START_LIMIT))
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


async def _line_of(
    process: asyncio.subprocess.Process, tail: deque[bytes], drain: "asyncio.Task[None]", within: float
) -> bytes:
    line = await _line_while_alive(process, within)
    if line.endswith(b"\n"):
        return line
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await process.wait()
            await asyncio.shield(drain)
    raise HarnessEnded(_how(process.returncode, _text(tail)), process.returncode)


async def _line_while_alive(process: asyncio.subprocess.Process, within: float) -> bytes:
    """The next line; an empty one where the process has ended, though a child of it may hold its standard output.

    It is waited for in short steps, each of which counts as long as it was meant to be: while opconform is stopped, or
    the machine is suspended, the harness cannot be heard. After such a step it is listened to once more.
    """
    if process.stdout is None:
        return b""
    clock = asyncio.get_running_loop().time
    reading = asyncio.ensure_future(process.stdout.readline())
    left = within
    try:
        while not reading.done():
            step, began = min(_GRACE, left) if left > 0 else _GRACE, clock()
            await asyncio.wait({reading}, timeout=step)
            paused = clock() - began > step + _PAUSED
            left -= step
            if not reading.done() and process.returncode is not None:
                return b""
            if not reading.done() and left <= 0 and not paused:
                raise TimeoutError
        return reading.result()
    except ValueError as fault:
        raise ProtocolError(f"the harness wrote a line of more than {LINE_LIMIT:,} bytes") from fault
    finally:
        reading.cancel()


async def _drained(process: asyncio.subprocess.Process, tail: deque[bytes]) -> None:
    """Read standard error to its end and keep the last of it, so that a talkative harness is never blocked."""
    while process.stderr is not None and (chunk := await process.stderr.read(_TAIL)):
        tail.append(chunk)


async def _watched(process: asyncio.subprocess.Process, channel: socket.socket, command: Command) -> str:
    """Kill a harness that takes too much memory, and say so."""
    while command.memory is None or _resident(process.pid) <= command.memory:
        await asyncio.sleep(_GLANCE)
    _ask_to_end(channel)
    return f"it was killed when it took more than {command.memory / GIB:g} GiB of memory"


def _resident(pid: int) -> int:
    """The bytes of memory that a harness and its children hold now, by its supervisor; 0 where it has ended."""
    size = 0
    with contextlib.suppress(psutil.Error):
        for each in psutil.Process(pid).children(recursive=True):
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


def _ask_to_end(channel: socket.socket) -> None:
    """Ask a supervisor to kill everything that its harness started."""
    with contextlib.suppress(OSError):
        channel.send(supervisor.END)
    channel.close()


def _kill_tree(process: asyncio.subprocess.Process) -> None:
    """Kill a supervisor that does not end, and everything below it."""
    with contextlib.suppress(psutil.Error):
        for each in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                each.kill()
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def _close(process: asyncio.subprocess.Process) -> None:
    """Close the pipes now, and not when the event loop is gone."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
