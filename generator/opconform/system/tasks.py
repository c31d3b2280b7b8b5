"""Tasks on an executor, such as one of a cluster: batches of work whose results come back in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from opconform import __version__
from opconform.errors import ClusterError

#: How many batches are submitted ahead of the oldest one that is not finished, so that memory stays bounded.
AHEAD = 128
#: The most bytes of the files of a batch, unless a single item has more.
ROOM = 1 << 23

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")


def in_order(
    executor: Executor, function: Callable[[T], R], items: Iterable[tuple[K, T]]
) -> Generator[tuple[K, "Future[R]"]]:
    """Submit a function for the second of each pair; gives the first and the finished future, in order.

    What is not finished when the iterator is closed is cancelled.
    """
    window: deque[tuple[K, Future[R]]] = deque()
    try:
        for key, item in items:
            window.append((key, executor.submit(_call, __version__, function, item)))
            while window[0][1].done() or len(window) >= AHEAD:
                yield _finished(window)
                if not window:
                    break
        while window:
            yield _finished(window)
    finally:
        for _, future in window:
            future.cancel()


def batches(items: Iterable[T], most: int, size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Consecutive items in lists of some length, or shorter where the items take more bytes than `ROOM`."""
    batch: list[T] = []
    size = 0
    for item in items:
        batch.append(item)
        size += size_of(item)
        if len(batch) == most or size >= ROOM:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _finished(window: deque[tuple[K, "Future[R]"]]) -> tuple[K, "Future[R]"]:
    """The oldest pair, once its future is finished; it stays in the window while it is waited for."""
    window[0][1].exception()
    return window.popleft()


def _call(version: str, function: Callable[[Any], R], item: Any) -> R:
    """Call a function on the machine of a worker, which must have the same version of opconform."""
    if version != __version__:
        raise ClusterError(f"A worker has opconform {__version__} instead of {version}. Install {version} there.")
    return function(item)
