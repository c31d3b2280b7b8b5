"""Generations that are killed and started again end with the same bytes, and leave nothing else behind.

A small one is killed before each of its changes of the disk, its finishing renames among them. That of the shipped
profile `core` is killed at seeded moments, alone or with its worker processes.
"""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.verification import faults_of

from .attempt import Attempt

#: How many generations of the profile `core` are killed.
KILLS = 66
_SEED = 2026
#: How many kills in a row one suite is generated through.
_ROW = 11
#: How long the whole generation may take, in seconds.
_PATIENCE = 600
_SPEC = """\
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
_CHANGES = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate", "os.chmod"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Kill small generations before every change of the disk, then larger ones at random moments."""
    yield from killed_at_every_change(scratch, 1)
    yield from killed_at_random(scratch, KILLS if count is None else count, "--profile", "core")


def killed_at_every_change(scratch: Path, step: int) -> Iterator[Attempt]:
    """Kill small generations before every change of the disk: a new one, and one that replaces a suite.

    Args:
        scratch: An empty folder.
        step: Kill before each change, or before every second, third, … one.
    """
    for name in ("suite", "suite.zip"):
        for earlier in (None, "2, 4"):
            yield from _killed(scratch, name, earlier, step)


def _killed(scratch: Path, name: str, earlier: str | None, step: int) -> Iterator[Attempt]:
    folder = scratch / "every-change"
    specs = {rows: _spec(scratch, rows) for rows in ("2, 4", "4, 6")}
    whole = tree(_generated(specs["4, 6"], scratch / "whole" / name))
    for moment in range(0, sys.maxsize, step):
        shutil.rmtree(folder, ignore_errors=True)
        if earlier is not None:
            _generated(specs[earlier], folder / name)
        before = tree(folder / name)
        if not _ended_before(moment, lambda: _generated(specs["4, 6"], folder / name)):
            break
        what = f"{name}, {'new' if earlier is None else 'replacing another'}, killed before change {moment + 1}"
        left = tree(folder / name)
        if left and left not in (before, whole):
            yield Attempt(what=what, outcome="lost", detail="a suite that is neither the old one nor the new one")
            continue
        yield _continued(what, lambda: _generated(specs["4, 6"], folder / name), folder / name, whole)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(scratch / "whole")


def killed_at_random(scratch: Path, count: int, *selection: str) -> Iterator[Attempt]:
    """Kill the generation of the shipped specs at seeded moments; after some kills it must come to its end.

    Args:
        scratch: An empty folder.
        count: How many times it is killed.
        selection: Options of `generate` that choose cases.
    """
    program = str(Path(sys.executable).with_name("opconform"))
    moments = random.Random(_SEED)  # noqa: S311 - no secret
    command = [program, "generate", *selection, "--jobs", "2", "--out"]
    folder, whole = scratch / "random", scratch / "whole"
    began = time.monotonic()
    subprocess.run([*command, str(whole)], capture_output=True, check=True, timeout=_PATIENCE)
    duration, expected = time.monotonic() - began, tree(whole)
    for first in range(0, count, _ROW):
        shutil.rmtree(folder, ignore_errors=True)
        for number in range(first, min(first + _ROW, count)):
            with_workers = moments.random() < 1 / 2
            seconds = moments.uniform(0.05, 1.1) * duration
            _kill_after(seconds, [*command, str(folder / "suite")], with_workers=with_workers)
            what = f"kill {number + 1} after {seconds:.2f} s{', with the workers' * with_workers}"
            faults = list(faults_of(folder / "suite")) if (folder / "suite").exists() else []
            if faults:
                yield Attempt(what=what, outcome="lost", detail=faults[0])
            elif number + 1 not in (first + _ROW, count):
                yield Attempt(what=what, outcome="held")

        def whole_again() -> object:
            return subprocess.run([*command, str(folder / "suite")], capture_output=True, check=True, timeout=_PATIENCE)

        if not faults:
            yield _continued(f"{what}, then started again", whole_again, folder / "suite", expected)
    shutil.rmtree(whole)


def tree(suite: Path) -> Mapping[str, str]:
    """The SHA-256 of every file of a folder, or of one file, by path; nothing where there is none."""
    paths = [suite] if suite.is_file() else sorted(each for each in suite.rglob("*") if not each.is_dir())
    return {str(each.relative_to(suite)): hashlib.sha256(each.read_bytes()).hexdigest() for each in paths}


def _spec(scratch: Path, rows: str) -> Path:
    path = scratch / f"{rows.replace(', ', '-')}.yaml"
    path.write_text(_SPEC.replace("ROWS", rows))
    return path


def _generated(spec: Path, out: Path) -> Path:
    return generate(load_specs([spec]), out, Options()).out


def _ended_before(moment: int, action: Callable[[], object]) -> bool:
    """Whether a child process that does it was killed before a change of the disk, counted from 0."""
    child = os.fork()
    if child == 0:
        left = moment

        def kill_in_time(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in _CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING):
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        try:
            sys.addaudithook(kill_in_time)
            action()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _kill_after(seconds: float, command: list[str], *, with_workers: bool) -> None:
    """Start a command and kill it, alone or with all that it started; what is left ends by itself."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if with_workers else os.kill)(process.pid, signal.SIGKILL)
    process.communicate()


def _continued(what: str, action: Callable[[], object], suite: Path, whole: Mapping[str, str]) -> Attempt:
    """Generate again, and compare with the suite of an undisturbed generation."""
    try:
        action()
    except Exception as fault:  # noqa: BLE001 - any exception is what is looked for
        return Attempt(what=what, outcome="run-ended", detail=repr(fault))
    if tree(suite) != whole:
        return Attempt(what=what, outcome="lost", detail="other files than those of an undisturbed generation")
    if beside := [each.name for each in suite.parent.iterdir() if each != suite]:
        return Attempt(what=what, outcome="lost", detail=f"left over: {', '.join(beside)}")
    return Attempt(what=what, outcome="held")
