"""Harnesses and commands in this process: a process takes half a second to start, and few tests need its isolation."""

import asyncio
import contextlib
import io
import json
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from opconform_runners.execution import worker
from opconform_runners.harness import server
from opconform_runners.harness.command import Command
from opconform_runners.harness.processes.scratch import scratch_folder
from opconform_runners.harness.protocol import reply_line, said_line, said_of
from opconform_runners.harness.registry import load

#: The files of the backends that are served in this process.
FILES = ("backend.py", "backends.py", "declared.py", "harness.py", "miniatures.py", "misreturned.py", "two_devices.py")


#: A mutant that does not exist.
UNKNOWN = "remainder/nowhere"


#: The miniatures that end, block or fill their process, or are about another one.
ISOLATED = (
    *("Aborts", "AbortsUndeclared", "Chats", "Forks", "Hangs", "Leaks", "Missing", "RightTheSecondTime"),
    *("EndsLater", "ExitsLater", "KillsItsSupervisorLater", "StopsLater", UNKNOWN),
)


_connect = vars(worker)["connect"]


class Served:
    """A harness and its process as the worker sees them: lines of the protocol go in, lines come out."""

    def __init__(self, name: str) -> None:
        self._backend = load(name)
        self._folder = scratch_folder()
        self._requests: deque[bytes] = deque()
        self.process = self
        self.scratch = Path(self._folder.name)
        self.implementation, self.inline = said_of(said_line(self._backend.describe()))
        self.served: list[str] = []
        self.said_last = ""

    def send(self, line: bytes) -> None:
        """Keep requests until their replies are wanted."""
        self._requests.extend(line.splitlines(keepends=True))

    async def receive(self, within: float) -> bytes:  # noqa: ARG002
        """The reply to the oldest request."""
        with warnings.catch_warnings(action="ignore"):
            return reply_line(server._served(self._backend, json.loads(self._requests.popleft())))

    async def stop(self) -> None:
        """Remove the scratch folder."""
        self._folder.cleanup()

    async def kill(self) -> None:
        """Remove the scratch folder."""
        self._folder.cleanup()


async def connect(command: Command) -> Any:
    """A harness in this process where the backend is numpy's or a miniature that needs no process of its own."""
    *module, name = command.name.split(":")
    is_miniature = bool(module) and Path(module[0]).name in FILES and name not in ISOLATED
    if command.python == sys.executable and not command.elsewhere and (is_miniature or command.name == "numpy"):
        return Served(command.name)
    return await _connect(command)


@contextlib.contextmanager
def served_in_process() -> Iterator[None]:
    """Let commands connect to harnesses in this process."""
    with (
        mock.patch.object(worker, "connect", connect),
        mock.patch.dict(_connect.__globals__, connect=connect),
    ):
        yield


def in_free_thread(call: Callable[[], None]) -> None:
    """Call something here, or in another thread where playwright's event loop runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        call()
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(call).result()


def flushed(*streams: io.TextIOWrapper) -> tuple[io.TextIOWrapper, ...]:
    """Streams without anything left in their buffers."""
    for stream in streams:
        stream.flush()
    return streams
