"""Execution on the workers of an executor: the results are those of a local run."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import ClusterError, KilledWorkersError, UsageError
from opconform.suite.reader import open_suite
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import Run, run_suite
from opconform_runners.execution.scale import remote
from opconform_runners.execution.scale.cluster import connected
from opconform_runners.execution.scale.remote import RemoteExecution, execute_batch, machine_of_worker
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.verdicts.results import Result
from tests.conftest import MINIATURES
from tests.in_process import served_in_process


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Batches of two cases, and harnesses in this process."""
    monkeypatch.setattr(remote, "SMALLEST", 2)
    with served_in_process():
        yield


@pytest.fixture
def pool() -> Iterator[Executor]:
    """Two workers that need no process."""
    with ThreadPoolExecutor(2) as made:
        yield made


class Deadly(ThreadPoolExecutor):
    """Workers that end with the second batch, however often it is repeated."""

    batches = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Execute any other task."""
        self.batches += execute_batch in args
        future = super().submit(fn, *args, **kwargs)
        if self.batches != 2:
            return future
        ended: Future[Any] = Future()
        ended.set_exception(KilledWorkersError("3 workers ended."))
        return ended


def run(suite: Path, out: Path, name: str, executor: Executor | None) -> Run:
    """A run of a miniature backend."""
    return run_suite(open_suite(suite), backend_command(name), out, RunOptions(executor=executor))


def timeless(results: tuple[Result, ...]) -> list[Result]:
    """Results without their durations."""
    return [replace(result, seconds=None) for result in results]


@pytest.mark.parametrize("name", ["numpy", f"{MINIATURES}:AcceptsEverything", f"{MINIATURES}:LosesAll"])
def test_the_results_are_those_of_a_local_run(small_suite: Path, tmp_path: Path, pool: Executor, name: str) -> None:
    """The header, every verdict, its reasons and the kept outputs."""
    here, there = (run(small_suite, tmp_path / n, name, pool if n == "there" else None) for n in ("here", "there"))

    assert timeless(there.results) == timeless(here.results)
    assert there.header == here.header
    assert len(there.results) == 6
    assert [path.read_bytes() for path in tmp_path.glob("here/outputs.zip")] == [
        path.read_bytes() for path in tmp_path.glob("there/outputs.zip")
    ]


def test_a_backend_that_ends_its_workers_is_quarantined(small_suite: Path, tmp_path: Path) -> None:
    """The cases of that batch are errors that name it, the other cases are not executed, and the run can continue."""
    with Deadly(1) as deadly:
        ended = run(small_suite, tmp_path, "numpy", deadly)
    cases = [entry.id for entry in open_suite(small_suite).entries]

    assert ended.gave_up == "The backend numpy is quarantined: 3 workers ended."
    assert {result.id: result.sentence for result in ended.results if result.verdict == "error"} == dict.fromkeys(
        cases[2:4], "quarantined: numpy ended the workers that executed a batch of 2 cases with this one"
    )
    assert list(ended.missing) == cases[4:]
    assert deadly.batches == 3  # the third was submitted before the second had ended, and is cancelled

    with ThreadPoolExecutor(1) as pool:
        continued = run(small_suite, tmp_path, "numpy", pool)
    assert (continued.gave_up, continued.missing, continued.continued) == (None, (), 4)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(UsageError, match=r"pip install 'opconform\[cluster\]'$"), connected("dask://host:8786"):
        pass


def test_workers_that_differ_are_refused(small_suite: Path, pool: Executor) -> None:
    """The sentence says in what."""
    command = backend_command("numpy")
    machine = machine_of_worker(pool, command)
    older = replace(machine, environment=replace(machine.environment, driver="1.2"))
    suite = open_suite(small_suite)
    execution = RemoteExecution(pool, suite, Launch(command=command), older)

    with pytest.raises(
        ClusterError, match=r"^Two workers differ in driver \(1\.2, None\)\. Use workers that are alike"
    ):
        list(execution.execute(suite.entries, ()))
