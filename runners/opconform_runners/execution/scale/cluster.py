"""A dask cluster: tasks go to its workers, and its failures become errors of opconform."""

import contextlib
import errno
import importlib.metadata
import logging
import os
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from opconform import __version__
from opconform.errors import ClusterError, KilledWorkersError, UsageError
from opconform.suite.storage.url import without_credentials
from opconform.system import tasks

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")

#: How long the scheduler may take to answer at first, and how long no worker or no scheduler may be there, in seconds.
CONNECT_LIMIT, ABSENCE_LIMIT = 10.0, 60.0
#: The interval between looks at the cluster, in seconds.
_GLANCE = 1.0
#: How many tasks may be finished or submitted while the oldest one is not finished, so that memory stays bounded.
AHEAD = 128
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
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(
            f"--executor {without_credentials(url)!r} is not the address of a Dask scheduler. Write it as dask://HOST:8786."
        )
    try:
        from distributed import Client
    except ImportError as error:
        advice = "Install it with: pip install 'opconform[cluster]'"
        raise UsageError(f"--executor {url} needs the package distributed. {advice}") from error
    for name in ("distributed", "distributed.client"):  # their failures are reported as errors
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        _check_answers(match["address"])
        client = Client(f"tcp://{match['address']}", timeout=CONNECT_LIMIT, set_as_default=False)
    except (OSError, ValueError) as error:
        advice = "Start it with `dask scheduler`, and check host, port and firewall."
        raise ClusterError(f"The dask scheduler {url} cannot be reached. {advice}") from error
    cluster = Cluster(client, url)
    try:
        cluster.check_versions()
        yield cluster
    finally:
        with contextlib.suppress(Exception):  # the scheduler may have ended
            client.close(timeout=2)  # which cancels all tasks


def _check_answers(address: str) -> None:
    """Raise an `OSError` if an address does not answer as a scheduler of dask.

    A scheduler begins each connection with the length of a short message. Dask itself would wait for minutes.
    """
    host, _, port = address.rpartition(":")
    ends = time.monotonic() + CONNECT_LIMIT
    greeting = b""
    with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_LIMIT) as connection:
        while len(greeting) < _LENGTH:
            connection.settimeout(max(ends - time.monotonic(), _LEAST))
            part = connection.recv(_LENGTH - len(greeting))
            if not part:
                break
            greeting += part
    if len(greeting) < _LENGTH or int.from_bytes(greeting, "little") > _LONGEST_GREETING:
        raise OSError(errno.EPROTO, os.strerror(errno.EPROTO))


class Cluster:
    """A connected cluster, or the workers that have some resources; each task holds a part of these."""

    def __init__(self, client: "Client", url: str, resources: Mapping[str, float] | None = None) -> None:
        self._client, self._url, self._resources = client, url, dict(resources or {})

    def check_versions(self) -> None:
        """Check that each worker has the same version of opconform as this machine."""
        versions = self._client.run(importlib.metadata.version, "opconform", on_error="return")
        for worker, version in sorted(versions.items()):
            if isinstance(version, Exception) and not isinstance(version, importlib.metadata.PackageNotFoundError):
                continue  # the worker was lost
            if version != __version__:
                has = f"opconform {version}" if isinstance(version, str) else "no opconform"
                raise ClusterError(f"The worker {worker} has {has}. Install opconform {__version__} there.")

    def having(self, resources: Mapping[str, float]) -> "Cluster":
        """The workers that have some resources."""
        return Cluster(self._client, self._url, resources)

    def in_order(
        self, function: Callable[[T], R], items: Iterable[tuple[K, T]]
    ) -> Generator[tuple[K, R | KilledWorkersError]]:
        """See `tasks.Workers`. Raises `ClusterError` if there is no scheduler, or no fitting worker for a minute.

        Dask gives the tasks of a worker that ends to others, a few times, and blames the worker's end on all of them.
        So no task is submitted before a thread is idle, since those that wait in a worker's queue are blamed too.
        """
        window: deque[tuple[K, Future]] = deque()
        try:
            for key, item in items:
                while True:
                    while window and window[0][1].done():
                        yield window[0][0], self._outcome(window[0][1])
                        window.popleft()
                    running = [task for _, task in window if not task.done()]
                    if not running or (len(running) < self._threads() and len(window) < AHEAD):
                        break
                    self._wait(running)
                window.append((key, self._submit(function, item)))
            while window:
                yield window[0][0], self._outcome(window[0][1])
                window.popleft()
        finally:
            with contextlib.suppress(Exception):  # the scheduler may have ended
                self._client.cancel([task for _, task in window])

    def _submit(self, function: Callable[[Any], Any], item: object) -> "Future":
        try:
            return self._client.submit(
                tasks.call, __version__, function, item, pure=False, resources=self._resources or None
            )
        except Exception as error:
            raise self._lost() from error

    def _outcome(self, task: "Future") -> Any:
        """What a task returned, or the error of one that ended its workers."""
        from distributed import KilledWorker

        while True:
            self._wait([task])  # again where a worker with the result was lost
            try:
                return task.result(timeout=ABSENCE_LIMIT)
            except KilledWorker as error:
                count = error.allowed_failures + 1
                return KilledWorkersError(f"{count} workers ended, one after another, while they executed one batch.")
            except TimeoutError:
                continue
            except (CancelledError, OSError) as error:
                raise self._lost() from error

    def _wait(self, running: "Sequence[Future]") -> None:
        """Wait until one of some tasks is finished; give up when no fitting worker is there for too long."""
        from distributed import wait

        seen = time.monotonic()
        while True:
            try:
                with self._client.as_current():
                    wait(running, timeout=_GLANCE, return_when="FIRST_COMPLETED")
            except TimeoutError:
                seen = time.monotonic() if self._threads() else seen
                if time.monotonic() - seen > ABSENCE_LIMIT:
                    raise self._lost() from None
            except (CancelledError, OSError) as error:
                raise self._lost() from error
            else:
                return

    def _threads(self) -> int:
        """How many tasks the workers can execute at a time."""
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        except Exception:  # noqa: BLE001 - the scheduler may have ended
            return 0
        needs = self._resources.items()
        return sum(
            min([worker["nthreads"], *(int(worker["resources"].get(name, 0) // need) for name, need in needs)])
            for worker in workers
        )

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
