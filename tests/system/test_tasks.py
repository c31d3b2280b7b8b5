"""Tasks on executors: in order, ahead of one another, and cancelled with the iterator."""

import itertools
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import ClusterError, DiskError
from opconform.system import tasks


class Idle(Executor):
    """An executor that finishes the first task when it has as many as are submitted ahead."""

    def __init__(self) -> None:
        self.submitted: list[Future[Any]] = []

    def submit(self, _function: Callable[..., Any], /, *_: Any, **__: Any) -> "Future[Any]":
        """Keep the task."""
        self.submitted.append(Future())
        if len(self.submitted) == tasks.AHEAD:
            self.submitted[0].set_result(0)
        return self.submitted[-1]


def endless() -> Iterator[tuple[int, int]]:
    """Items."""
    return ((n, n) for n in itertools.count())


def test_results_come_in_the_order_of_the_items() -> None:
    """Whichever is finished first."""
    with ThreadPoolExecutor(3) as pool:
        found = [(key, x.result()) for key, x in tasks.in_order(pool, abs, ((-n, -n) for n in range(300)))]

    assert found == [(-n, n) for n in range(300)]


def test_what_is_not_finished_is_cancelled_with_the_iterator() -> None:
    """So that a run that ends early leaves no work behind."""
    idle = Idle()
    with closing(tasks.in_order(idle, abs, endless())) as found:
        assert next(found)[0] == 0
    first, *others = idle.submitted

    assert (first.result(), {other.cancelled() for other in others}) == (0, {True})


def test_only_so_many_batches_are_submitted_ahead() -> None:
    """Memory stays bounded where the oldest batch takes longest."""
    idle = Idle()
    with closing(tasks.in_order(idle, abs, endless())) as found:
        next(found)

    assert len(idle.submitted) == tasks.AHEAD


def test_a_worker_of_another_version_is_refused() -> None:
    """Its results would not be those of this one."""
    with pytest.raises(ClusterError, match=r"A worker has opconform .* instead of 0\.0\.9\. Install 0\.0\.9 there\."):
        tasks._call("0.0.9", abs, 1)


def test_a_full_disk_of_a_worker_is_reported() -> None:
    """An error goes from one process to another as pickled bytes."""
    fault = DiskError(Path("out"), OSError(28, os.strerror(28)))

    assert str(pickle.loads(pickle.dumps(fault))) == str(fault)  # noqa: S301 - just written
