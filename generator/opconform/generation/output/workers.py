"""Worker processes, among others those that evaluate, render and write cases."""

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from multiprocessing import (
    connection,
    current_process,
    get_all_start_methods,
    get_context,
    parent_process,
    resource_tracker,
)
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from opconform.errors import SuiteError
from opconform.generation.case_files import content_parts, files_of_cases
from opconform.generation.options import Options
from opconform.generation.output.writer import CaseWriter, WrittenCase
from opconform.model.draft import Draft
from opconform.model.golden import file_bytes
from opconform.suite.manifest import Entry
from opconform.system.interrupts import defer_interrupts
from opconform.system.tasks import Workers, batches, result_of
from opconform.system.temporary import TemporaryFolder

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

#: How many cases are expanded, then evaluated, and then written, which is quicker than each case in turn.
BATCH = 64
#: How many batches a worker has at once, so that it has work while this process writes one and expands the next.
_WAITING = 3
#: How many cases a worker on another machine gets at once.
_REMOTE_BATCH = 250

#: Called in a worker when it starts; gives the function that answers what the worker is sent.
Begin = Callable[[], Callable[[Any], object]]


class GenerationWorker(NamedTuple):
    """A process that answers what it is sent, in order.

    It is connected by a pipe: the semaphores of `ProcessPoolExecutor` would outlive a process group that is killed.
    """

    process: BaseProcess
    pipe: "Connection[Any, Any]"


def write_cases(
    cases: Iterable[Draft], writer: CaseWriter, *, jobs: int, is_large: Callable[[Draft], bool]
) -> Iterator[WrittenCase]:
    """Write cases in batches, in several processes if there is more than one job; a large case is written alone.

    This process is one of them: it writes what the workers have no time for.
    """
    if writer.options.executor is not None:
        yield from _remotely_evaluated(cases, writer, writer.options.executor, is_large)
        return
    workers = started(partial(_begin_writing, writer), jobs - 1) if jobs > 1 else []
    waiting, rest = dict.fromkeys(workers, 0), iter(cases)
    try:
        while batch := list(islice(rest, BATCH)):
            large = [x for x in batch if is_large(x)]
            small = [x for x in batch if x not in large] if large else batch
            worker = min(workers, key=lambda x: waiting[x], default=None)
            if worker is not None and waiting[worker] < _WAITING:
                with _translated():
                    worker.pipe.send(small)
                waiting[worker] += 1
            else:
                yield from writer.write(small)
            yield from _answers(waiting, wait=bool(large))
            yield from writer.write(large)
        yield from _answers(waiting, wait=True)
    finally:
        for item in workers:
            item.pipe.close()  # which ends the process
        for item in workers:
            item.process.join()


def _answers(waiting: dict[GenerationWorker, int], *, wait: bool) -> Iterator[WrittenCase]:
    """The cases that workers have written; those of all batches that they wait for, or what is there already."""
    for worker, count in waiting.items():
        for _ in range(count):
            if wait or worker.pipe.poll():
                yield from received(worker)
                waiting[worker] -= 1


def _remotely_evaluated(
    cases: Iterable[Draft], writer: CaseWriter, executor: Workers, is_large: Callable[[Draft], bool]
) -> Iterator[WrittenCase]:
    """Write cases whose files other machines compute, except those of large cases."""
    plain = replace(writer.options, executor=None)
    pairs = (
        ([x for x in batch if is_large(x)], (plain, [x for x in batch if not is_large(x)]))
        for batch in batches(cases, _REMOTE_BATCH, file_bytes)
    )
    for large, outcome in executor.in_order(case_contents, pairs):
        yield from (writer.write_files(*x) for x in result_of(outcome))
        yield from writer.write(large)


def case_contents(batch: tuple[Options, Sequence[Draft]]) -> list[tuple[Entry, dict[str, bytes]]]:
    """The lines of the manifest and the files of some cases, as bytes that can be sent."""
    options, drafts = batch
    contents = files_of_cases(drafts, options)
    return [(entry, {name: b"".join(content_parts(file)) for name, file in files.items()}) for entry, files in contents]


def started(begin: Begin, jobs: int) -> list[GenerationWorker]:
    """Start processes that ignore Ctrl-C: forked from one clean process with the imports, where the system can."""
    current_process()._config.setdefault("tempdir", _folder().name)  # type: ignore[attr-defined]
    with _safe_path():
        return _started(begin, jobs)


#: The longest name of a folder, in bytes, in whose temporary folders a socket can be made.
_LONG = 60


@cache
def _folder() -> TemporaryFolder:
    """The folder for the socket of the process that workers are forked from, in place of one that a kill leaves.

    The path of a socket has at most 107 bytes, so that one in a folder with a long name cannot be made.
    """
    return TemporaryFolder("/tmp" if len(os.fsencode(tempfile.gettempdir())) > _LONG else "")  # noqa: S108 - mkdtemp's


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Let Python processes that are started import no module from the current folder, as the option -P does."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _started(begin: Begin, jobs: int) -> list[GenerationWorker]:
    if "forkserver" not in get_all_start_methods():
        return [_start(get_context("spawn"), begin) for _ in range(jobs)]
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    with defer_interrupts():  # numpy's threads do not block the signal
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the processes inherit it
        try:
            return [_start(context, begin) for _ in range(jobs)]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start(context: "ForkServerContext | SpawnContext", begin: Begin) -> GenerationWorker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(begin, theirs))
    process.start()
    theirs.close()
    return GenerationWorker(process, ours)


def received(worker: GenerationWorker) -> Any:
    """The next answer of a worker.

    Raises:
        SuiteError: The worker was killed.
    """
    with _translated():
        result = worker.pipe.recv()
    if isinstance(result, Exception):
        raise result
    return result


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Say in one sentence that the other end of a pipe is closed."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise SuiteError("A worker process was killed. Run the same command again.") from error


def _begin_writing(writer: CaseWriter) -> Callable[[Sequence[Draft]], list[WrittenCase]]:
    return lambda batch: list(writer.write(batch))


def _work(begin: Begin, pipe: "Connection[Any, Any]") -> None:
    answer = begin()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    results: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_send, args=(pipe, results), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            question = pipe.recv()
            try:
                results.put(answer(question))
            except Exception as error:  # noqa: BLE001 - it is raised again in the main process
                results.put(error)


def _send(pipe: "Connection[Any, Any]", results: "SimpleQueue[Any]") -> None:
    """Send results; in a thread of its own, so that both ends never wait for each other to read."""
    with contextlib.suppress(OSError):
        while True:
            pipe.send(results.get())


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
