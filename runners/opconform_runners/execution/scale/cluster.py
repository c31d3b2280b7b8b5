"""A dask cluster as an executor: tasks go to its workers, and its failures become errors of opconform."""

import contextlib
import errno
import importlib.metadata
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any

from opconform import __version__
from opconform.errors import ClusterError, KilledWorkersError, UsageError
from opconform.suite.storage.url import without_credentials

if TYPE_CHECKING:
    from distributed import Client, Scheduler
    from distributed import Future as Task

#: How long the scheduler may take to answer at first, and how long no worker or no scheduler may be there, in seconds.
CONNECT_LIMIT, ABSENCE_LIMIT = 10.0, 60.0
#: The interval between looks at the cluster, in seconds.
_GLANCE = 1.0
#: How many workers may end while they execute a task. Dask allows one more, unless the scheduler is set otherwise.
_MOST_LOST = 3
#: The bytes of the length of a message, the largest length of the first one, and the least time to wait for a part.
_LENGTH, _LONGEST_GREETING, _LEAST = 8, 1 << 20, 0.01
_URL = re.compile(r"dask://(?P<address>(?:\[[\da-fA-F:]+\]|[^/\s:\[\]]+):\d{1,5})/?")


@contextlib.contextmanager
def connected(url: str) -> Iterator["Cluster"]:
    """The cluster whose scheduler has a URL such as `dask://HOST:PORT`.

    Raises:
        ClusterError: The scheduler cannot be reached, or a worker has another version of opconform.
        UsageError: The URL is malformed, or the extra `cluster` is not installed.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise UsageError(
            f"--executor {without_credentials(url)!r} is not a cluster. Name its scheduler and the port, as in dask://HOST:8786."
        )
    try:
        from distributed import Client
    except ImportError as error:
        advice = "Install it with: pip install 'opconform[cluster]'"
        raise UsageError(f"--executor {url} needs the package distributed. {advice}") from error
    for name in ("distributed", "distributed.client"):  # their failures are reported as errors
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        _check_answers(found["address"])
        client = Client(f"tcp://{found['address']}", timeout=CONNECT_LIMIT, set_as_default=False)
    except (OSError, ValueError) as error:
        advice = "Start it with `dask scheduler`, and check host, port and firewall."
        raise ClusterError(f"The dask scheduler {url} cannot be reached. {advice}") from error
    cluster = Cluster(client, url)
    try:
        cluster.check_versions()
        yield cluster
    finally:
        cluster.close()


def _check_answers(address: str) -> None:
    """Raise an `OSError` if there is no scheduler of dask at an address.

    A scheduler begins each connection with the length of a short message. Dask itself would wait for minutes.
    """
    host, _, port = address.rpartition(":")
    ends = time.monotonic() + CONNECT_LIMIT
    said = b""
    with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_LIMIT) as connection:
        while len(said) < _LENGTH:
            connection.settimeout(max(ends - time.monotonic(), _LEAST))
            part = connection.recv(_LENGTH - len(said))
            if not part:
                break
            said += part
    if len(said) < _LENGTH or int.from_bytes(said, "little") > _LONGEST_GREETING:
        raise OSError(errno.EPROTO, os.strerror(errno.EPROTO))


class Cluster:
    """A connected cluster, and its executors."""

    def __init__(self, client: "Client", url: str) -> None:
        self._client, self._url = client, url
        self._executors: list[ClusterExecutor] = []

    def check_versions(self) -> None:
        """Check that each worker has the same version of opconform as this machine."""
        versions = self._client.run(importlib.metadata.version, "opconform", on_error="return")
        for worker, found in sorted(versions.items()):
            if isinstance(found, Exception) and not isinstance(found, importlib.metadata.PackageNotFoundError):
                continue  # the worker was lost
            if found != __version__:
                has = f"opconform {found}" if isinstance(found, str) else "no opconform"
                raise ClusterError(f"The worker {worker} has {has}. Install opconform {__version__} there.")

    def executor(self, resources: Mapping[str, float]) -> "ClusterExecutor":
        """An executor whose tasks hold some of their worker's resources."""
        made = ClusterExecutor(self._client, self._url, dict(resources))
        self._executors.append(made)
        return made

    def close(self) -> None:
        """Cancel all tasks, and disconnect."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(Exception):  # the scheduler may have ended
            self._client.close(timeout=2)


class ClusterExecutor(Executor):
    """Executes functions on workers that have some resources, one task at a time on each of their threads.

    A worker that ends takes the tasks that it executes with it, and dask gives these to other workers, a few times. So
    no task waits in a worker's queue, where it would be blamed for another one. `submit` waits for an idle thread.
    """

    def __init__(self, client: "Client", url: str, resources: Mapping[str, float]) -> None:
        self._client, self._url, self._resources = client, url, resources
        self._pending: dict[Future[Any], Task[Any]] = {}
        self._changed = threading.Condition()
        self._error: ClusterError | None = None
        self._is_closed = False
        self._slots = self._counted()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a task once a thread of a worker is idle."""
        future: Future[Any] = Future()
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or len(self._pending) < self._slots)
            if self._error is not None:
                raise self._error
            task = self._client.submit(_guarded, fn, *args, **kwargs, pure=False, resources=self._resources or None)
            self._pending[future] = task
        future.add_done_callback(self._forget)
        task.add_done_callback(lambda done: self._settle(done, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop; `cancel_futures` cancels what is not finished."""
        if cancel_futures:
            for future in list(self._pending):
                future.cancel()
        elif wait:
            with self._changed:
                self._changed.wait_for(lambda: not self._pending)
        self._is_closed = True

    def _settle(self, task: "Task[Any]", future: "Future[Any]") -> None:
        """Pass on how a task ended; called in a thread of dask."""
        with contextlib.suppress(Exception):  # it was cancelled, or given up, meanwhile
            try:
                future.set_result(task.result(timeout=ABSENCE_LIMIT))
            except BaseException as error:  # noqa: BLE001 - it is raised again where the result is needed
                future.set_exception(self._translated(error))

    def _translated(self, error: BaseException) -> BaseException:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if isinstance(error, KilledWorker):
            return _killed(error.allowed_failures + 1)
        if isinstance(error, FutureCancelledError | OSError | TimeoutError):
            return self._error or self._lost()
        return error

    def _forget(self, future: "Future[Any]") -> None:
        with self._changed:
            task = self._pending.pop(future, None)
            self._changed.notify_all()
        if task is not None and future.cancelled():
            with contextlib.suppress(Exception):
                task.cancel()

    def _watch(self) -> None:
        """Follow the number of idle threads, and give up when no fitting worker is there for too long."""
        absent = 0.0
        while not self._is_closed:
            before = time.monotonic()
            slots = self._counted()
            with self._changed:
                self._slots = slots
                self._changed.notify_all()
            time.sleep(_GLANCE)
            absent = 0.0 if slots else absent + time.monotonic() - before
            if absent > ABSENCE_LIMIT:
                self._give_up()
                return

    def _counted(self) -> int:
        """How many tasks the workers can execute at a time."""
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        except Exception:  # noqa: BLE001 - the scheduler may have ended
            return 0
        return sum(
            min(
                worker["nthreads"],
                *(int(worker["resources"].get(name, 0) // need) for name, need in self._resources.items()),
            )
            if self._resources
            else worker["nthreads"]
            for worker in workers
        )

    def _give_up(self) -> None:
        with self._changed:
            self._error = self._lost()
            self._changed.notify_all()
        for future in list(self._pending):
            with contextlib.suppress(Exception):
                future.set_exception(self._error)

    def _lost(self) -> ClusterError:
        """What to do when there is no scheduler, or no fitting worker."""
        again = "and run the same command again: it continues"
        if self._client.status != "running":
            return ClusterError(f"The dask scheduler {self._url} was lost. Start it, {again}.")
        options = " ".join(f"{name}={need:g}" for name, need in self._resources.items())
        having = f" with the resources {options}" if options else ""
        address = self._url.removeprefix("dask://").rstrip("/")
        start = f"dask worker {address}" + (f' --resources "{options}"' if options else "")
        return ClusterError(f"The dask scheduler {self._url} has no worker{having}. Start one with `{start}`, {again}.")


def _guarded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function on a worker, unless too many workers have ended while they executed it."""
    from distributed import get_client, get_worker

    lost = get_client().run_on_scheduler(_lost_workers, get_worker().get_current_task())
    if lost >= _MOST_LOST:
        raise _killed(lost)
    return function(*args, **kwargs)


def _lost_workers(task: str, dask_scheduler: "Scheduler") -> int:
    return int(dask_scheduler.tasks[task].suspicious)


def _killed(count: int) -> KilledWorkersError:
    return KilledWorkersError(f"{count} workers ended, one after another, while they executed the same batch.")
