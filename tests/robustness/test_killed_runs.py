"""Runs whose processes are killed or stopped at seeded moments: no result is lost, none is wrong, nothing is left."""

import contextlib
import json
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.robustness import attempts, seeded
from tests.robustness.processes import PROGRAM, all_left, environment

#: The most bytes that the log grows between two kills: about 80 cases.
MOST = 20_000
KILLS = 10
#: How long a case may take, and how long opconform is stopped, in seconds.
TIMEOUT, STOP = 5, 7.0

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(1_800)]


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """An empty folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


def started(suite: Path, out: Path, temporary: Path) -> "subprocess.Popen[str]":
    """A run in a process of its own."""
    command = [PROGRAM, "run", str(suite), "numpy", "--out", str(out), "--jobs", "1", "--timeout", str(TIMEOUT)]
    marked = environment(str(out), temporary)
    return subprocess.Popen(command, env=marked, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def moments(run: "subprocess.Popen[str]", out: Path, draws: random.Random) -> Iterator[None]:
    """Random moments of a run, until it ends: when its log has grown by so many bytes."""
    due = size_of(out) + draws.randrange(MOST)
    while run.poll() is None:
        if size_of(out) >= due:
            yield
            due = size_of(out) + draws.randrange(MOST)
        time.sleep(0.001)


def size_of(out: Path) -> int:
    """The bytes of the log so far."""
    log = out / "outcomes.jsonl"
    return log.stat().st_size if log.is_file() else 0


def verdicts(out: Path) -> dict[str, dict[str, Any]]:
    """The results of a complete run, without what differs between two runs."""
    _, *lines, footer = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert footer["footer"]
    return {case["id"]: {key: value for key, value in case.items() if key != "seconds"} for case in lines}


def test_a_run_that_is_killed_again_and_again_ends_as_another(few_core: Path, tmp_path: Path, temporary: Path) -> None:
    """The same command continues it each time; the processes and files of a killed one end with it."""
    draws, killed, whole = seeded("runs"), tmp_path / "killed", tmp_path / "whole"
    for _ in range(attempts(KILLS)):
        run = started(few_core, killed, temporary)
        next(moments(run, killed, draws), None)
        run.kill()
        run.communicate()
        assert all_left(str(killed), temporary) == []
    for out in (killed, whole):
        run = started(few_core, out, temporary)
        _, said = run.communicate()
        assert run.returncode == 0, said

    assert verdicts(killed) == verdicts(whole)


def test_a_harness_that_is_killed_is_one_incident_each_time(few_core: Path, tmp_path: Path, temporary: Path) -> None:
    """The case that it executed passes alone, unless that process was killed as well."""
    draws, out, kills = seeded("harnesses"), tmp_path / "out", 0
    run = started(few_core, out, temporary)
    for _ in moments(run, out, draws):
        for process in psutil.Process(run.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if kills < attempts(KILLS) and "opconform_runners.harness.server" in process.cmdline()[-2:]:
                    process.kill()
                    kills += 1
    _, said = run.communicate()
    found = verdicts(out).values()
    failed = [case for case in found if case["verdict"] not in ("pass", "inconclusive")]
    deaths = [incident for case in found for incident in case.get("incidents", ())]

    assert run.returncode in (0, 1), said
    assert 0 < len(failed) + len(deaths) <= kills
    assert {case["reason"] for case in failed} <= {"crash", "nondeterministic"}
    assert {incident["sentence"] for incident in deaths} <= {"the backend process was terminated by SIGKILL"}
    assert all_left(str(out), temporary) == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGSTOP"])
def test_a_signal_at_any_moment_leaves_right_verdicts_and_nothing_else(
    few_core: Path, tmp_path: Path, temporary: Path, name: str
) -> None:
    """A run that is stopped goes on; one that is asked to end does, also while it starts."""
    draws, number = seeded(name), signal.Signals[name]
    for attempt in range(attempts(1 if name == "SIGSTOP" else 3)):
        out = tmp_path / f"{attempt}"
        run = started(few_core, out, temporary)
        time.sleep(draws.uniform(0.2, 3.0))
        run.send_signal(number)
        if name == "SIGSTOP":
            time.sleep(STOP)
            run.send_signal(signal.SIGCONT)
        _, said = run.communicate(timeout=600)
        lines = (out / "results.jsonl").read_text().splitlines() if size_of(out) else []
        found = [json.loads(line).get("verdict", "pass") for line in lines if line.endswith("}")]

        assert run.returncode in ((0,) if name == "SIGSTOP" else (0, -number, 128 + number)), said
        assert "Traceback" not in said
        assert set(found) <= {"pass", "inconclusive"}
        assert all_left(str(out), temporary) == []
