"""Runs whose processes are killed at fifty seeded moments: no result is lost, and none is wrong."""

import contextlib
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from opconform_runners.verdicts.results import OUTCOMES, RESULTS

KILLS, SEED = 50, 2026
#: The most bytes that the log grows between two kills: about 25 cases.
MOST = 6_000

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(600)]


def started(suite: Path, out: Path) -> "subprocess.Popen[str]":
    """A run in a process of its own."""
    program = [str(Path(sys.executable).with_name("opconform")), "run", str(suite), "numpy", "--out", str(out)]
    return subprocess.Popen([*program, "--jobs", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def moments(run: "subprocess.Popen[str]", log: Path, draws: random.Random) -> Iterator[None]:
    """Random moments of a run, until it ends: when its log has grown by so many bytes."""
    due = size_of(log) + draws.randrange(MOST)
    while run.poll() is None:
        if size_of(log) >= due:
            yield
            due = size_of(log) + draws.randrange(MOST)
        time.sleep(0.001)


def size_of(log: Path) -> int:
    """The bytes of the log so far."""
    return log.stat().st_size if log.is_file() else 0


def verdicts(results: Path) -> dict[str, dict[str, Any]]:
    """The results of a complete run, without what differs between two runs."""
    _, *lines, footer = [json.loads(line) for line in results.read_text().splitlines()]
    assert footer["footer"]
    return {each["id"]: {key: value for key, value in each.items() if key != "seconds"} for each in lines}


def test_a_run_that_is_killed_fifty_times_ends_as_another(core_suite: Path, tmp_path: Path) -> None:
    """The same command continues it each time."""
    draws, log = random.Random(SEED), tmp_path / "killed" / OUTCOMES  # noqa: S311 - seeded on purpose
    for _ in range(KILLS):
        run = started(core_suite, tmp_path / "killed")
        next(moments(run, log, draws))
        run.kill()
        run.communicate()
    for each in ("killed", "whole"):
        run = started(core_suite, tmp_path / each)
        _, said = run.communicate()
        assert run.returncode == 0, said

    assert verdicts(tmp_path / "killed" / RESULTS) == verdicts(tmp_path / "whole" / RESULTS)


def test_a_harness_that_is_killed_fifty_times_is_fifty_incidents(core_suite: Path, tmp_path: Path) -> None:
    """The case that it executed passes alone, unless that process was killed as well."""
    draws, out, kills = random.Random(SEED), tmp_path / "out", 0  # noqa: S311 - the same
    run = started(core_suite, tmp_path / "out")
    for _ in moments(run, out / OUTCOMES, draws):
        for each in psutil.Process(run.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if kills < KILLS and "opconform_runners.harness.server" in each.cmdline()[-2:]:
                    each.kill()
                    kills += 1
    _, said = run.communicate()
    found = verdicts(out / RESULTS).values()
    failed = [each for each in found if each["verdict"] not in ("pass", "inconclusive")]
    deaths = [incident for each in found for incident in each.get("incidents", ())]

    assert run.returncode in (0, 1), said
    assert kills == KILLS
    assert 0 < len(failed) + len(deaths) <= KILLS
    assert len(deaths) > len(failed)
    assert {each["reason"] for each in failed} <= {"crash", "nondeterministic"}
    assert {each["sentence"] for each in deaths} == {"the backend process was terminated by SIGKILL"}
