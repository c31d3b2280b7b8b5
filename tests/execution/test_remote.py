"""Execution on workers: the results are those of a local run."""

import pickle
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import ClusterError, KilledWorkersError, UsageError
from opconform.suite.reader import open_suite
from opconform.system.tasks import Workers
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.run import Run
from opconform_runners.execution.runner import execute_batch, run_suite
from opconform_runners.execution.scale import remote
from opconform_runners.execution.scale.cluster import connected
from opconform_runners.execution.scale.remote import RemoteExecution, machine_of_worker
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


@dataclass
class Here:
    """Workers that are this process; they end with one of the batches, however often it is repeated."""

    deadly: int = 0
    batches: list[Any] = field(default_factory=list)

    def in_order(self, function: Callable[[Any], Any], items: Iterable[tuple[Any, Any]]) -> Generator[tuple[Any, Any]]:
        """Execute any other task; what is sent and returned can be pickled."""
        for key, item in items:
            self.batches += [item] if function is execute_batch else []
            is_deadly = function is execute_batch and len(self.batches) == self.deadly
            sent = pickle.loads(pickle.dumps(item))  # noqa: S301 - just written
            yield key, KilledWorkersError("4 workers ended.") if is_deadly else function(sent)


def run(suite: Path, out: Path, name: str, executor: Workers | None) -> Run:
    """A run of a miniature backend."""
    return run_suite(open_suite(suite), backend_command(name), out, RunOptions(executor=executor))


def timeless(results: tuple[Result, ...]) -> list[Result]:
    """Results without their durations."""
    return [replace(result, seconds=None) for result in results]


@pytest.mark.parametrize("name", ["numpy", f"{MINIATURES}:AcceptsEverything", f"{MINIATURES}:LosesAll"])
def test_the_results_are_those_of_a_local_run(small_suite: Path, tmp_path: Path, name: str) -> None:
    """The header, every verdict, its reasons and the kept outputs."""
    here, there = (run(small_suite, tmp_path / n, name, Here() if n == "there" else None) for n in ("here", "there"))

    assert timeless(there.results) == timeless(here.results)
    assert there.header == here.header
    assert len(there.results) == 6
    assert [path.read_bytes() for path in tmp_path.glob("here/outputs.zip")] == [
        path.read_bytes() for path in tmp_path.glob("there/outputs.zip")
    ]


def test_a_backend_that_ends_its_workers_is_quarantined(small_suite: Path, tmp_path: Path) -> None:
    """The cases of that batch are errors that name it, the other cases are not executed, and the run can continue."""
    ended = run(small_suite, tmp_path, "numpy", deadly := Here(deadly=2))
    cases = [entry.id for entry in open_suite(small_suite).entries]

    assert ended.gave_up == "The backend numpy is quarantined: 4 workers ended."
    assert {result.id: result.sentence for result in ended.results if result.verdict == "error"} == dict.fromkeys(
        cases[2:4], "quarantined: numpy ended the workers that executed a batch of 2 cases with this one"
    )
    assert list(ended.missing) == cases[4:]
    assert len(deadly.batches) == 2

    continued = run(small_suite, tmp_path, "numpy", Here())
    assert (continued.gave_up, continued.missing, continued.continued) == (None, (), 4)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(UsageError, match=r"pip install 'opconform\[cluster\]'$"), connected("dask://host:8786"):
        pass


def test_workers_that_differ_are_refused(small_suite: Path) -> None:
    """The sentence says in what."""
    command = backend_command("numpy")
    machine = machine_of_worker(Here(), command)
    older = replace(machine, environment=replace(machine.environment, driver="1.2"))
    suite = open_suite(small_suite)
    execution = RemoteExecution(Here(), Launch(command=command), older, suite)

    with pytest.raises(
        ClusterError, match=r"^Two workers differ in driver \(1\.2, None\)\. Use workers that are alike"
    ):
        list(execution.execute(suite.entries, (), execute_batch))
