"""A harness process: started without a shell, exchanging lines, and killed with all its children."""

import asyncio
import contextlib
import math
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from opconform.errors import HarnessError
from opconform.system import removal
from opconform.system.temporary import TemporaryFolder
from opconform_runners.harness.command import GIB, Command
from opconform_runners.harness.processes import supervisor
from opconform_runners.harness.processes.children import MARK, below, kill_marked, proportional, resident
from opconform_runners.harness.processes.scratch import scratch_folder
from opconform_runners.harness.protocol import LINE_LIMIT, STOP_LINE, ProtocolError

#: How long a harness may take to answer `start`, and to end after `stop`, in seconds.
START_LIMIT = 120.0
STOP_LIMIT = 2.0
#: How long a harness whose standard output has ended may take to end itself, in seconds.
_EXIT_LIMIT = 5.0
#: How long the last output of an ended process may take to arrive, and the length of one wait, in seconds.
_GRACE = 0.5
#: A wait that takes this much longer than asked means that opconform was stopped or starved, in seconds.
_PAUSED = 0.25
#: How long a supervisor may take to kill everything that a harness started, in seconds.
_KILL_LIMIT = 10.0
#: The interval between checks that a process has ended, in seconds.
_PERIOD = 0.02
#: The interval between measurements of a harness's memory, in seconds.
_GLANCE = 0.2
#: The bytes of standard error that are read at a time and shown.
_TAIL = 4_096


#: The folder of the package `opconform`.
_HOME = str(Path(removal.__file__).parents[2])


class HarnessEnded(Exception):  # noqa: N818 - an event, not an error
    """The harness process ended; `how` says with which code or signal and what it wrote last."""

    def __init__(self, how: str, code: int | None = None) -> None:
        super().__init__(how, code)
        self.how, self.code = how, code


@dataclass(slots=True)
class Process:
    """A harness process; its scratch folder is removed with it."""

    scratch: Path
    _folder: TemporaryFolder
    _process: asyncio.subprocess.Process
    _channel: socket.socket
    _tail: deque[bytes]
    _drain: "asyncio.Task[None]"
    _watch: "asyncio.Task[str]"
    _received: bytearray = field(default_factory=bytearray)

    def send(self, line: bytes) -> None:
        """Send a request; it is buffered, so that a harness that does not read cannot block opconform."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(line)

    def send_end(self) -> None:
        """End its standard input."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def receive(self, within: float = math.inf) -> bytes:
        """The next line, within some seconds. Time in which opconform itself was stopped does not count.

        Raises `HarnessEnded`, `TimeoutError`, or for too long a line `ProtocolError`.
        """
        if b"\n" not in self._received:
            await _while_alive(self._process, self._read_line(), within)
        length = self._received.find(b"\n") + 1
        if max(length, len(self._received) if length == 0 else 0) > LINE_LIMIT:
            raise ProtocolError(f"the harness wrote a line of more than {LINE_LIMIT:,} bytes")
        if length > 0:
            line = bytes(self._received[:length])
            del self._received[:length]
            return line
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_LIMIT):
                await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._drain)
        if self._watch.done():
            raise HarnessEnded(self._watch.result())
        raise HarnessEnded(_how(self._process.returncode, self.said_last), self._process.returncode)

    async def _read_line(self) -> None:
        """Read until there is a line, or more than one may have, or the end."""
        stdout = self._process.stdout
        while stdout is not None and len(self._received) <= LINE_LIMIT and (chunk := await stdout.read(LINE_LIMIT)):
            self._received += chunk
            if b"\n" in chunk:
                return

    @property
    def said_last(self) -> str:
        """The end of what the harness wrote to standard error."""
        return b"".join(self._tail)[-_TAIL:].decode(errors="replace").strip()

    async def has_ended(self, *, within: float) -> bool:
        """Whether the process itself ends in time, whatever its children do."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within + supervisor.PATIENCE):
                while self._process.returncode is None:
                    await asyncio.sleep(_PERIOD)
        return self._process.returncode is not None

    def left_children(self) -> bool:
        """Whether the ended process left a child behind, which has been killed."""
        try:
            return supervisor.LEFT in self._channel.recv(16)
        except OSError:
            return False

    async def stop(self) -> None:
        """Ask the harness to end, and kill it with all that it started if it does not, or if the wait is cancelled."""
        try:
            _tell(self._channel, supervisor.DONE)
            self.send(STOP_LINE)
            self.send_end()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_LIMIT):
                    await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill the harness with all that it started, and read the rest of its standard error."""
        _tell(self._channel, supervisor.DONE)
        _ask_to_end(self._channel)
        self._watch.cancel()
        try:
            await self._wait_for_end()
        finally:
            self._drain.cancel()
            transport = getattr(self._process, "_transport", None)
            if transport is not None:  # its pipes are closed while there is an event loop
                transport.close()
            if (self._process.returncode or 0) < 0:
                kill_marked(self._folder.name)
            self._folder.cleanup()

    async def _wait_for_end(self) -> None:
        try:
            async with asyncio.timeout(_KILL_LIMIT):
                await self._process.wait()
        except TimeoutError:  # the harness stopped its supervisor
            for item in below(self._process.pid):
                with contextlib.suppress(psutil.Error):
                    item.kill()
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._drain)


async def started(command: Command) -> Process:
    """Start a harness without sending it anything."""
    folder = scratch_folder()
    own_end, child_end = socket.socketpair()
    own_end.setblocking(False)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", supervisor.__file__, str(child_end.fileno()), folder.name, _HOME),
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            start_new_session=True,
            pass_fds=(child_end.fileno(),),
            env={**os.environ, MARK: folder.name},
        )
    except OSError as error:
        own_end.close()
        folder.cleanup()
        raise HarnessError(f"{command.arguments[0]} cannot be started: {error.strerror}.") from error
    finally:
        child_end.close()
    tail: deque[bytes] = deque(maxlen=16)
    drain = asyncio.create_task(_drained(process, tail))
    watch = asyncio.create_task(_watched(process, own_end, command))
    started = Process(Path(folder.name), folder, process, own_end, tail, drain, watch)
    try:
        async with asyncio.timeout(START_LIMIT):
            report = await asyncio.get_running_loop().sock_recv(own_end, 16)
    except BaseException:
        await started.kill()
        raise
    if report.startswith(supervisor.FAILED):
        await started.kill()
        why = os.strerror(int(report.removeprefix(supervisor.FAILED)))
        raise HarnessError(f"{command.arguments[0]} cannot be started: {why}.")
    return started


async def _while_alive(process: asyncio.subprocess.Process, act: Coroutine[None, None, None], within: float) -> None:
    """Wait until a line is read, or the process has ended, though a child of it may hold its standard output.

    The wait is a series of short steps. Each counts with its nominal length, so that time in which opconform or the
    machine was suspended does not count. After such a step the line is waited for once more.
    """
    clock = asyncio.get_running_loop().time
    reading = asyncio.ensure_future(act)
    remaining = within
    try:
        while not reading.done():
            step, began = min(_GRACE, remaining) if remaining > 0 else _GRACE, clock()
            await asyncio.wait({reading}, timeout=step)
            paused = clock() - began > step + _PAUSED
            remaining -= step
            if not reading.done() and process.returncode is not None:
                return
            if not reading.done() and remaining <= 0 and not paused:
                raise TimeoutError
        reading.result()
    finally:
        reading.cancel()


async def _drained(process: asyncio.subprocess.Process, tail: deque[bytes]) -> None:
    """Read standard error to its end and keep the last of it, so that the harness never blocks on it."""
    while process.stderr is not None and (chunk := await process.stderr.read(_TAIL)):
        tail.append(chunk)


async def _watched(process: asyncio.subprocess.Process, channel: socket.socket, command: Command) -> str:
    """Kill a harness that takes too much memory with its children; returns the reason.

    Memory that they share, as after a fork, is counted once. That count is slow, so a simple one goes first.
    """
    limit = math.inf if command.memory is None else command.memory
    while any(sum(map(size_of, below(process.pid))) <= limit for size_of in (resident, proportional)):
        await asyncio.sleep(_GLANCE)
    _ask_to_end(channel)
    return f"was killed when it took more than {limit / GIB:g} GiB of memory"


def _how(code: int | None, last: str) -> str:
    if code is None:
        how = "closed its standard output"
    elif code < 0:
        names = {Signal.value: Signal.name for Signal in signal.Signals}
        how = f"was terminated by {names.get(-code, f'signal {-code}')}"
    else:
        how = f"ended with code {code}"
    return f"{how}; end of its standard error: {' / '.join(last.splitlines()[-3:])}" if last else how


def _ask_to_end(channel: socket.socket) -> None:
    """Ask a supervisor to kill everything that its harness started."""
    _tell(channel, supervisor.END)
    channel.close()


def _tell(channel: socket.socket, message: bytes) -> None:
    """Send a message to a supervisor, which may have ended."""
    with contextlib.suppress(OSError):
        channel.send(message)
