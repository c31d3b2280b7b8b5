"""Generations that are killed end with the same bytes, and leave nothing else behind."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.verification import problems_of
from tests.robustness import attempts, seeded
from tests.robustness.processes import PROGRAM

SPEC = """\
op: Split-1
groups:
  - id: halves
    title: two halves
    matrix: {rows: [ROWS]}
    data:
      shape: ["${{ rows }}", 2]
    axis: 0
    num_splits: 2
"""
#: What the operating system is asked to change, by the names of Python's audit events.
CHANGES = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate", "os.chmod"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
#: The fast test kills before every seventh change of the disk.
STEP = 7


def tree(suite: Path) -> Mapping[str, str]:
    """The SHA-256 of every file of a folder, or of one file, by path; nothing where there is none."""
    paths = [suite] if suite.is_file() else sorted(path for path in suite.rglob("*") if not path.is_dir())
    return {str(path.relative_to(suite)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def ended_before(moment: int, action: Callable[[], object]) -> bool:
    """Whether a child process that does it was killed before a change of the disk, counted from 0."""
    child = os.fork()
    if child == 0:
        left = moment

        def kill_in_time(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING):
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        try:
            sys.addaudithook(kill_in_time)
            action()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.ci_only)])
@pytest.mark.parametrize("earlier", ["", "2, 4"], ids=["new", "replacing"])
@pytest.mark.parametrize("name", ["suite", "suite.zip"])
def test_a_generation_that_is_killed_is_continued(tmp_path: Path, name: str, earlier: str, step: int) -> None:
    """Killed before a change of the disk, it leaves the old suite or the new one, and can be repeated."""

    def generated(rows: str, out: Path) -> None:
        (tmp_path / "spec.yaml").write_text(SPEC.replace("ROWS", rows))
        generate(load_specs([tmp_path / "spec.yaml"]), out, Options())

    out = tmp_path / "out" / name
    generated("4, 6", tmp_path / "whole" / name)
    whole = tree(tmp_path / "whole" / name)
    for moment in count(0, step):
        shutil.rmtree(out.parent, ignore_errors=True)
        if earlier:
            generated(earlier, out)
        before = tree(out)
        if not ended_before(moment, lambda: generated("4, 6", out)):
            break
        assert not tree(out) or tree(out) in (before, whole), moment
        generated("4, 6", out)
        assert tree(out) == whole, moment
        assert [path.name for path in out.parent.iterdir()] == [name], moment
    assert moment > 3 * step


@pytest.mark.ci_only
@pytest.mark.timeout(1_800)
def test_a_generation_whose_processes_are_killed_is_continued(tmp_path: Path) -> None:
    """Real processes, since workers that outlive their parent must not write into the suite of the next one."""
    draws, out = seeded("generations"), tmp_path / "out" / "suite"
    command = [PROGRAM, "generate", "--select", "Split-1/axis*", "--jobs", "2", "--out"]
    began = time.monotonic()
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True)
    duration = time.monotonic() - began
    for _ in range(attempts(6)):
        process = subprocess.Popen([*command, out], start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(draws.uniform(0.05, 1.1) * duration)
        with contextlib.suppress(ProcessLookupError):
            draws.choice((os.kill, os.killpg))(process.pid, signal.SIGKILL)
        process.wait()
        assert not out.exists() or not list(problems_of(out))
    subprocess.run([*command, out], check=True, capture_output=True)

    assert tree(out) == tree(tmp_path / "whole")
    assert [path.name for path in out.parent.iterdir()] == ["suite"]
