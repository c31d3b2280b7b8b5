"""Worker processes that evaluate, render and write cases."""

import contextlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing import connection, get_all_start_methods, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from opconform.errors import SuiteError
from opconform.generation.work_folder import hold_worker_lock
from opconform.generation.writer import CaseWriter, Written
from opconform.interrupts import put_off
from opconform.model.draft import Draft

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

#: How many cases a worker gets at once.
BATCH = 64
#: How many batches per worker are queued, so that memory does not grow with the number of cases.
_WAITING = 4


def written(
    cases: Iterable[Draft], writer: CaseWriter, *, jobs: int, is_large: Callable[[Draft], bool]
) -> Iterator[Written]:
    """Write cases, on several processes if there is more than one job; a large case is written alone."""
    if jobs == 1:
        yield from map(writer.write, cases)
        return
    workers = _started(writer, jobs)
    number, waiting = 0, deque[_Worker]()
    rest = iter(cases)
    try:
        while batch := list(islice(rest, BATCH)):
            large = [each for each in batch if is_large(each)]
            small = [each for each in batch if each not in large] if large else batch
            worker, number = workers[number % jobs], number + 1
            with _translated():
                worker.pipe.send(small)
            waiting.append(worker)
            while len(waiting) > (0 if large else jobs * _WAITING):
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


def _started(writer: CaseWriter, jobs: int) -> list[_Worker]:
    context = _context()
    workers = []
    with _uninterrupted():
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(writer, theirs))
            process.start()
            theirs.close()
            workers.append(_Worker(process, ours))
    return workers


def _received(worker: _Worker) -> list[Written]:
    """The result of the oldest batch of a worker."""
    with _translated():
        result: list[Written] | Exception = worker.pipe.recv()
    if isinstance(result, Exception):
        raise result
    return result


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


def _work(writer: CaseWriter, pipe: "Connection[Any, Any]") -> None:
    """Write batches until the other end of the pipe is closed."""
    hold_worker_lock(writer.partial.parent)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    results: SimpleQueue[list[Written] | Exception] = SimpleQueue()
    threading.Thread(target=_send, args=(pipe, results), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            batch: list[Draft] = pipe.recv()
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
