"""Tasks for other machines, such as the workers of a cluster: batches of work whose results come back in order."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from opconform import __version__
from opconform.errors import ClusterError, KilledWorkersError

#: The most bytes of the files of a batch, unless a single item has more.
ROOM = 1 << 23

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")


class Workers(Protocol):
    """What executes tasks elsewhere."""

    def in_order(
        self, function: Callable[[T], R], items: Iterable[tuple[K, T]]
    ) -> Generator[tuple[K, R | KilledWorkersError]]:
        """Call a function for the second of each pair; gives the first and what was returned, in order.

        A task that ended its workers gives an error instead. What is not finished when the iterator is closed is
        cancelled.
        """


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


def result_of(outcome: R | KilledWorkersError) -> R:
    """What a task returned; raises the error of one that ended its workers."""
    if isinstance(outcome, KilledWorkersError):
        raise outcome
    return outcome


def call(version: str, function: Callable[[Any], R], item: Any) -> R:
    """Call a function on the machine of a worker, which must have the same version of opconform."""
    if version != __version__:
        raise ClusterError(f"A worker has opconform {__version__} instead of {version}. Install {version} there.")
    return function(item)
