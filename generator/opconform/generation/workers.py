"""Worker processes that evaluate, render and write cases."""

import contextlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_all_start_methods, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from opconform.errors import SuiteError
from opconform.generation.case_files import case_files
from opconform.generation.expansion import Expanded
from opconform.generation.options import Recipe
from opconform.generation.work_folder import hold_worker_lock
from opconform.generation.writer import Leftovers, write_case
from opconform.interrupts import put_off
from opconform.suite.manifest import entry_line

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

#: How many cases a worker gets at once.
BATCH = 64
#: How many batches per worker are queued, so that memory does not grow with the number of cases.
_WAITING = 4


@dataclass(frozen=True, kw_only=True)
class Written:
    """A case whose folder is written: its line of the manifest, and whether the folder was taken over."""

    id: str
    line: bytes
    accepted: bool
    taken: bool
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseWriter:
    """Writes the folders of cases; the same in every process."""

    leftovers: Leftovers
    recipe: Recipe

    def write(self, expanded: Expanded) -> Written:
        """Write a case, unless its folder can be taken over."""
        files = case_files(expanded, self.recipe)
        taken = self.leftovers.keep(files)
        if not taken:
            write_case(self.leftovers.partial, files)
        entry, size = files.entry, sum(len(each) for each in files.contents.values())
        line = entry_line(entry).encode()
        return Written(id=entry.id, line=line, accepted=entry.expect == "accept", taken=taken, size=size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """How cases are spread over processes.

    Attributes:
        jobs: The number of processes.
        folder: The folder of the workers' locks.
        is_large: Whether a case takes so much memory that it has to be written alone.
    """

    jobs: int
    folder: Path
    is_large: Callable[[Expanded], bool]


def written(cases: Iterable[Expanded], writer: CaseWriter, pool: Pool) -> Iterator[Written]:
    """Write cases, on several processes if there is more than one job.

    Raises:
        SuiteError: A worker process was killed, or a case cannot be written.
    """
    if pool.jobs == 1:
        yield from map(writer.write, cases)
        return
    workers = _started(writer, pool)
    number, waiting = 0, deque[_Worker]()
    rest = iter(cases)
    try:
        while batch := list(islice(rest, BATCH)):
            large = [each for each in batch if pool.is_large(each)]
            worker, number = workers[number % pool.jobs], number + 1
            small = [each for each in batch if each not in large] if large else batch
            with _translated():
                worker.pipe.send(small)
            waiting.append(worker)
            while len(waiting) > (0 if large else pool.jobs * _WAITING):
                yield from _received(waiting.popleft())
            yield from map(writer.write, large)
        while waiting:
            yield from _received(waiting.popleft())
    finally:
        for each in workers:
            each.pipe.close()  # which ends the process
        for each in workers:
            each.process.join()


@dataclass(frozen=True, slots=True)
class _Worker:
    """A process that writes batches of cases in the order in which they are sent.

    It is connected by a pipe: the semaphores of `ProcessPoolExecutor` would outlive a process group that is killed.
    """

    process: BaseProcess
    pipe: "Connection[Any, Any]"


def _started(writer: CaseWriter, pool: Pool) -> list[_Worker]:
    context = _context()
    workers = []
    with _uninterrupted():
        for _ in range(pool.jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(writer, pool.folder, theirs))
            process.start()
            theirs.close()
            workers.append(_Worker(process, ours))
    return workers


def _received(worker: _Worker) -> list[Written]:
    """The result of the oldest batch of a worker."""
    with _translated():
        result = worker.pipe.recv()
    if isinstance(result, Exception):
        raise result
    batch: list[Written] = result
    return batch


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Say in one sentence that the other end of a pipe is closed."""
    try:
        yield
    except (EOFError, OSError) as fault:
        raise SuiteError("A worker process was killed. Run the same command again: finished cases are kept.") from fault


def _context() -> "ForkServerContext | SpawnContext":
    """How workers are started: forked from one clean process that has the imports, where the system supports it."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Defer Ctrl-C; processes that are started in this block ignore it for good.

    They inherit the blocked signal. In this process one of numpy's threads may receive it, so it is deferred as well.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    with put_off():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _work(writer: CaseWriter, folder: Path, pipe: "Connection[Any, Any]") -> None:
    """Write batches until the other end of the pipe is closed."""
    hold_worker_lock(folder)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    results: SimpleQueue[list[Written] | Exception] = SimpleQueue()
    threading.Thread(target=_send, args=(pipe, results), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            batch: Sequence[Expanded] = pipe.recv()
            try:
                results.put([writer.write(each) for each in batch])
            except Exception as fault:  # noqa: BLE001 - it is raised again in the main process
                results.put(fault)


def _send(pipe: "Connection[Any, Any]", results: "SimpleQueue[list[Written] | Exception]") -> None:
    """Send results; in a thread of its own, so that both ends never wait for each other to read."""
    with contextlib.suppress(OSError):
        while True:
            pipe.send(results.get())


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
