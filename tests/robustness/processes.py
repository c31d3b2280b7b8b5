"""Commands in processes of their own, which have a mark, and what they leave behind."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from opconform_runners.cli.main import main
from tests.forked import forked

PROGRAM = str(Path(sys.executable).with_name("opconform"))
#: How long the processes of a killed command may take to end, in seconds.
_PATIENCE = 60.0


def environment(mark: str, temporary: Path) -> dict[str, str]:
    """That of a process with a mark and a temporary folder, which writes no coverage."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return {**own, "OPCONFORM_TEST_MARK": mark, "TMPDIR": str(temporary), "OPENBLAS_NUM_THREADS": "1"}


def run(
    *words: object,
    limit: Callable[[], None] | None = None,
    temporary: Path | None = None,
    timeout: int = 120,
) -> "subprocess.CompletedProcess[str]":
    """A command that ended by itself, in time, and without an internal error."""
    surroundings = environment("", temporary) if temporary else {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = forked(_opconform, [*map(str, words)], surroundings, limit=limit, timeout=timeout)
    assert done.returncode in (0, 1, 2), (words, done.returncode, done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def _opconform(words: list[str]) -> None:
    """The command line."""
    sys.argv = ["opconform", *words]
    main()


def left_behind(mark: str) -> list[str]:
    """The processes with a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("OPCONFORM_TEST_MARK") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{process.pid} {process.cmdline()}")
        except psutil.Error:
            continue
    return found


def all_left(mark: str, temporary: Path) -> list[str]:
    """The processes and temporary files that are left, after some patience."""
    end = time.monotonic() + _PATIENCE
    while (left := [*left_behind(mark), *map(str, temporary.iterdir())]) and time.monotonic() < end:
        time.sleep(0.1)
    return left
