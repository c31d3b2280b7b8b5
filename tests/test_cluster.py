"""A real dask cluster: scheduler and workers are processes, and some of them are killed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from opconform.errors import ClusterError, KilledWorkersError
from opconform.system.tasks import result_of
from opconform_runners.execution.scale import cluster
from opconform_runners.execution.scale.cluster import connected
from opconform_runners.verdicts.results import read_written
from tests.conftest import ROOT, Run

pytestmark = pytest.mark.ci_only

#: What is tested on clusters: their core takes long enough to be interrupted, and all of it would take minutes.
OPERATIONS = ("Gather-8", "Pad-12", "Split-1", "StridedSlice-1", "Transpose-1", "VariadicSplit-1")
CORE = (*OPERATIONS, "--profile", "core")
SELECTED = tuple(word for op in OPERATIONS for word in ("--select", f"{op}/*"))

#: How long a process of dask may take to start, or a suite to be generated, in seconds.
PATIENCE = 300.0


DEADLY = """
from dataclasses import replace

import psutil
from opconform_runners.backends.numpy.backend import Numpy

class Deadly(Numpy):
    def describe(self):
        return replace(super().describe(), name="deadly")

    def run(self, case, model, feeds):
        supervisor = psutil.Process().parent()
        supervisor.parent().kill()
        return super().run(case, model, feeds)
"""


class Farm:
    """A scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.commands: list[subprocess.Popen[str]] = []
        self._file = folder / "scheduler.json"
        self.start_scheduler()

    @property
    def url(self) -> str:
        """The address for `--executor`."""
        return json.loads(self._file.read_text())["address"].replace("tcp://", "dask://")  # type: ignore[no-any-return]

    def start_scheduler(self) -> None:
        """Start a scheduler on any port."""
        self._file.unlink(missing_ok=True)
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", self._file)
        self._start("scheduler", *words)
        wait_for(lambda: self._file.exists() and self._file.read_text().endswith("}"))

    def start_workers(self, count: int, *words: str) -> None:
        """Start workers with a nanny each, and wait until they are connected."""
        for _ in range(count):
            local = ("--local-directory", self.folder, "--no-dashboard", "--host", "127.0.0.1")
            self._start("worker", self.url.replace("dask://", "tcp://"), *local, *(words or ("--nthreads", "1")))
        with connected(self.url) as found:
            wait_for(lambda: len(found._client.scheduler_info(n_workers=-1)["workers"]) >= count)

    def command(self, out: Path, *words: object) -> "subprocess.Popen[str]":
        """The command line in a process of its own, on the cluster."""
        line = [sys.executable, "-m", "opconform", *map(str, words), "--out", str(out), "--executor", self.url]
        made = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.commands.append(made)
        return made

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """Kill a process of dask with the one that it watches, as a failing machine does."""
        watched = psutil.Process(process.pid).children()
        process.kill()
        for item in watched:
            with contextlib.suppress(psutil.NoSuchProcess):
                item.kill()
        process.wait()

    def close(self) -> None:
        """End every process."""
        for command in self.commands:
            command.kill()
            command.communicate()
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)

    def _start(self, kind: str, *words: object) -> None:
        with (self.folder / f"{kind}.log").open("ab") as log:
            command = [sys.executable, "-m", "dask", kind, *map(str, words)]
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT))


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    """A scheduler without workers."""
    made = Farm(tmp_path)
    try:
        yield made
    finally:
        made.close()


def wait_for(is_done: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.05)


def begun(out: Path, cases: int) -> None:
    """Wait until a run has executed some cases."""
    wait_for(lambda: (out / "outcomes.jsonl").exists() and (out / "outcomes.jsonl").read_bytes().count(b"\n") > cases)


def timeless(out: Path) -> bytes:
    """The results of a run without durations, and without the digest in the footer, which covers them."""
    content = re.sub(rb'"seconds":[\d.e-]+,', b"", (out / "results.jsonl").read_bytes())
    return re.sub(rb'"digest":"\w+",(?="footer")', b"", content)


def test_a_certification_survives_a_killed_worker(farm: Farm, opconform: Run, tmp_path: Path) -> None:
    """The results and the suite are those of a local certification, byte for byte."""
    opconform("certify", "numpy", *CORE, "--out", tmp_path / "here")
    farm.start_workers(2)
    running = farm.command(tmp_path / "there", "certify", "numpy", *CORE)
    begun(tmp_path / "there", 100)
    farm.kill(farm.processes[1])
    out, err = running.communicate()

    assert running.returncode == 0, out + err
    assert timeless(tmp_path / "there") == timeless(tmp_path / "here")
    assert [(tmp_path / name / "suite" / "manifest.jsonl").read_bytes() for name in ("there", "here")].count(
        (tmp_path / "here" / "suite" / "manifest.jsonl").read_bytes()
    ) == 2
    assert (
        read_written(tmp_path / "there" / "results.jsonl").header
        == read_written(tmp_path / "here" / "results.jsonl").header
    )


def test_a_lost_cluster_loses_no_results(farm: Farm, core_suite: Path, opconform: Run, tmp_path: Path) -> None:
    """The command says what to start, and continues with it."""
    opconform("run", core_suite, "numpy", *SELECTED, "--out", tmp_path / "here")
    farm.start_workers(1)
    running = farm.command(tmp_path / "there", "run", core_suite, "numpy", *SELECTED)
    begun(tmp_path / "there", 100)
    farm.kill(farm.processes[0])
    _, err = running.communicate()
    assert running.returncode == 3
    assert err.endswith(
        f"error: The dask scheduler {farm.url} was lost. Start it, and run the same command again: it continues.\n"
    )
    assert "Traceback" not in err
    held = (tmp_path / "there" / "outcomes.jsonl").read_bytes().count(b"\n")

    farm.start_scheduler()
    farm.start_workers(1)
    running = farm.command(tmp_path / "there", "run", core_suite, "numpy", *SELECTED)
    _, err = running.communicate()
    assert running.returncode == 0
    assert f"was continued; {held - 1:,} of" in err
    assert timeless(tmp_path / "there") == timeless(tmp_path / "here")


def test_a_run_waits_for_another_worker(farm: Farm, core_suite: Path, opconform: Run, tmp_path: Path) -> None:
    """The only worker's machine fails, and another one takes over."""
    opconform("run", core_suite, "numpy", *SELECTED, "--out", tmp_path / "here")
    farm.start_workers(1)
    running = farm.command(tmp_path / "there", "run", core_suite, "numpy", *SELECTED)
    begun(tmp_path / "there", 100)
    farm.kill(farm.processes[1])
    farm.start_workers(1)
    _, err = running.communicate()

    assert running.returncode == 0, err
    assert timeless(tmp_path / "there") == timeless(tmp_path / "here")


def test_ctrl_c_ends_a_run(farm: Farm, core_suite: Path, tmp_path: Path) -> None:
    """No task remains, and the same command continues."""
    farm.start_workers(1)
    running = farm.command(tmp_path / "out", "run", core_suite, "numpy", *SELECTED)
    begun(tmp_path / "out", 0)  # numpy is done soon
    os.kill(running.pid, signal.SIGINT)
    _, err = running.communicate()

    assert running.returncode == 130, err
    assert err.endswith("Interrupted. Completed results are kept; run the same command to continue.\n")
    with connected(farm.url) as found:
        wait_for(lambda: not any(found._client.processing().values()))


def test_a_backend_that_kills_its_workers_is_quarantined(farm: Farm, core_suite: Path, tmp_path: Path) -> None:
    """It is named; the other backend of the matrix is not affected, and its workers are started again."""
    (tmp_path / "deadly.py").write_text(DEADLY)
    farm.start_workers(2)
    name = f"{tmp_path / 'deadly.py'}:Deadly"
    selected = ("-k", "Split-1/page-example/*", "-k", "Split-1/axis-other-types/*")
    running = farm.command(tmp_path / "out", "run", core_suite, "-b", name, "-b", "numpy", *selected)
    out, _ = running.communicate()

    deadly, numpy = (read_written(tmp_path / "out" / name / "results.jsonl") for name in ("deadly", "numpy"))
    assert running.returncode == 1
    assert f"quarantined: {name} ended the workers" in out + str(deadly.results)
    assert {result.verdict for result in deadly.results} == {"error"}
    assert {result.verdict for result in numpy.results} == {"pass"}
    with connected(farm.url) as found:
        [(_, ended)] = found.in_order(die, [(None, None)])
    assert isinstance(ended, KilledWorkersError)
    assert str(ended) == "4 workers ended, one after another, while they executed one batch."


def test_a_device_has_one_harness_at_a_time(farm: Farm) -> None:
    """A worker with four threads and one device executes one task after another."""
    farm.start_workers(1, "--nthreads", "4", "--resources", "NPU=1")
    with connected(farm.url) as found:
        spans, free = (
            sorted(result_of(outcome) for _, outcome in workers.in_order(span, [(None, None)] * 4))
            for workers in (found.having({"NPU": 1}), found)
        )

    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert any(before[1] > after[0] for before, after in pairwise(free))


def test_a_scheduler_that_is_not_there_is_an_error() -> None:
    """It says how to start one."""
    expected = "The dask scheduler dask://127.0.0.1:1 cannot be reached. Start it with `dask scheduler`"
    with pytest.raises(ClusterError, match=re.escape(expected)), connected("dask://127.0.0.1:1"):
        pass


def die(_: None) -> None:
    """End the worker that executes this."""
    os.kill(os.getpid(), signal.SIGKILL)


def span(_: None) -> tuple[float, float]:
    """When a task began and ended."""
    began = time.time()
    time.sleep(0.2)
    return began, time.time()


def test_workers_without_the_resources_are_not_waited_for(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the resources and how to start a worker with them."""
    monkeypatch.setattr(cluster, "ABSENCE_LIMIT", 2.0)
    farm.start_workers(1)
    expected = f'The dask scheduler {farm.url} has no worker with the resources NPU=1. Start one with `dask worker {farm.url.removeprefix("dask://")} --resources "NPU=1"`'
    with connected(farm.url) as found, pytest.raises(ClusterError, match=re.escape(expected)):
        list(found.having({"NPU": 1}).in_order(span, [(None, None)]))


def test_results_come_in_order_and_the_rest_is_cancelled_with_the_iterator(farm: Farm) -> None:
    """Only so many tasks are submitted as there are threads."""
    farm.start_workers(1, "--nthreads", "2")
    with connected(farm.url) as found:
        items, taken = [(n, 0.3 - n / 10) for n in range(4)], list[int]()
        assert [key for key, _ in found.in_order(time.sleep, items)] == [0, 1, 2, 3]

        def endless() -> Iterator[tuple[int, float]]:
            while True:
                taken.append(len(taken))
                yield taken[-1], 30 if taken[-1] else 0.05

        with contextlib.closing(found.in_order(time.sleep, endless())) as results:
            next(results)
        wait_for(lambda: not any(found._client.processing().values()))

    assert taken in ([0, 1, 2], [0, 1])  # the first may end before a third is taken
