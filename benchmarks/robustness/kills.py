"""Kills of runs: opconform or a harness is killed, stopped or asked to end at a seeded moment.

It held when nothing is left behind, every verdict that is there is right, and the case that a killed harness worked on
is the only one to fail. A harness that is killed while it starts ends the run with an error that says so.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from .attempt import Attempt
from .hostile_harnesses import VARIABLE, left_behind

_PROGRAM = Path(sys.executable).with_name("opconform")
#: How many attempts there are by default.
_COUNT = 60
#: How long the processes of a killed opconform may take to end, and how long a run may, in seconds.
_PATIENCE, _LIMIT = 60.0, 600
#: How long a case may take, and how long opconform is stopped, in seconds.
_TIMEOUT, _STOP = 5, 7.0
_KINDS = ("kill opconform", "kill a harness", "stop opconform", "SIGTERM", "SIGHUP")


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Attempts of each kind in turn, each at another moment.

    Args:
        scratch: A folder for the suite and the results.
        count: How many attempts there are; 60 by default.
    """
    suite = scratch / "suite"
    subprocess.run([_PROGRAM, "generate", "--profile", "core", "--out", suite], check=True, capture_output=True)
    moments = random.Random(0)  # noqa: S311 - not for secrets
    for number in range(_COUNT if count is None else count):
        yield _attempt(_KINDS[number % len(_KINDS)], moments.uniform(0.2, 4.0), suite, scratch / f"{number}")


def _attempt(kind: str, moment: float, suite: Path, folder: Path) -> Attempt:
    what = f"{kind} after {moment:.2f} s"
    (folder / "tmp").mkdir(parents=True)
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), VARIABLE: str(folder)}
    arguments = [str(_PROGRAM), "run", str(suite), "--backend", "numpy", "--jobs", "2", "--out", str(folder / "out")]
    with subprocess.Popen(
        [*arguments, "--timeout", str(_TIMEOUT)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        time.sleep(moment)
        killed = _strike(kind, run)
        try:
            _, said = run.communicate(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            run.kill()
            return Attempt(what=what, outcome="hang", detail=f"the run took more than {_LIMIT} seconds")
    return _judged(what, kind, run.returncode, said, folder, killed=killed)


def _strike(kind: str, run: "subprocess.Popen[str]") -> bool:
    """Do to a run what is to be done; whether there was anything to do it to."""
    match kind:
        case "kill opconform":
            run.kill()
        case "kill a harness":
            try:
                below = psutil.Process(run.pid).children(recursive=True)
                harnesses = [each for each in below if "opconform_runners.harness.server" in each.cmdline()[-2:]]
                if harnesses:
                    harnesses[run.pid % len(harnesses)].kill()  # a harness, or the supervisor of one
            except psutil.Error:
                return False
            return bool(harnesses)
        case "stop opconform":
            run.send_signal(signal.SIGSTOP)
            time.sleep(_STOP)
            run.send_signal(signal.SIGCONT)
        case _:
            run.send_signal(signal.Signals[kind])
    return True


def _judged(what: str, kind: str, code: int, said: str, folder: Path, *, killed: bool) -> Attempt:
    if "Traceback" in said or "internal error" in said:
        return Attempt(what=what, outcome="traceback", detail=said[-300:])
    if kind.startswith("SIG") and code not in (0, -signal.Signals[kind], 128 + signal.Signals[kind]):
        return Attempt(what=what, outcome="run-ended", detail=f"exit code {code}: {said[-300:]}")
    is_start = kind == "kill a harness" and "cannot be started: it was terminated by SIGKILL" in said
    if kind in ("kill a harness", "stop opconform") and code not in (0, 1) and not is_start:
        return Attempt(what=what, outcome="run-ended", detail=f"exit code {code}: {said[-300:]}")
    end = time.monotonic() + _PATIENCE
    while (left_behind(str(folder)) or any((folder / "tmp").iterdir())) and time.monotonic() < end:
        time.sleep(0.1)
    if left := left_behind(str(folder)):
        return Attempt(what=what, outcome="hang", detail=f"left behind: {left}")
    if kept := sorted(each.name for each in (folder / "tmp").iterdir()):
        return Attempt(what=what, outcome="lost", detail=f"not removed: {kept}")
    # A harness is killed in the middle of one case; one that had ended its last case costs none.
    wrong = _wrong(folder / "out" / "results.jsonl")
    if len(wrong) > (1 if kind == "kill a harness" and killed else 0):
        return Attempt(what=what, outcome="false-verdict", detail=f"{wrong}"[:300])
    return Attempt(what=what, outcome="held")


def _wrong(results: Path) -> list[tuple[str, str]]:
    """The cases of a right backend that neither pass nor wait for their twin, on which a harness was killed."""
    if not results.is_file():
        return []
    lines = [json.loads(line) for line in results.read_text().splitlines() if line.endswith("}")]
    return [
        (each["id"], each["sentence"]) for each in lines if each.get("verdict", "pass") not in ("pass", "inconclusive")
    ]
