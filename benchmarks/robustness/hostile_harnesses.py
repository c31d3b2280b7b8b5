"""Hostile harnesses: each does one hostile thing at one case, beside cases at which it is right.

It held when that case has a verdict that it may have, every other case passes, the run ends in time, and no process and
no scratch folder is left behind.
"""

import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs

from .attempt import Attempt
from .hostile_harness import HOSTILE, MARK

_PROGRAM = Path(sys.executable).with_name("opconform")
_HARNESS = Path(__file__).with_name("hostile_harness.py")
#: How long a case may take, and how long a run may, in seconds.
_TIMEOUT, _LIMIT = 5, 300
#: What marks the processes of an attempt in their environment.
VARIABLE = "OPCONFORM_ROBUSTNESS"

_SPEC = f"""\
op: VariadicSplit-1
groups:
  - id: before
    title: cases that come before
    requirements: [outputs.order]
    matrix: {{lengths: [[-1, 1, 2], [1, -1, 2], [1, 2, -1]]}}
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: ${{{{ lengths }}}}
  - id: here
    title: the {MARK} case
    requirements: [outputs.order]
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: [2, 2, 2]
  - id: later
    title: cases that come after
    requirements: [outputs.order]
    matrix: {{lengths: [[6], [3, 3], [1, 5], [5, 1]]}}
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: ${{{{ lengths }}}}
  - id: refused
    title: a case to be refused
    requirements: [lengths.single-remainder]
    data: {{shape: [6, 4]}}
    axis: 0
    split_lengths: [-1, -1, 2]
    expect: {{reject: lengths.single-remainder}}
    twin: {{split_lengths: [-1, 2, 2]}}
"""


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """One attempt for each hostile thing, or for as many as are wanted, chosen at random.

    Args:
        scratch: A folder for the suite and the results.
        count: How many attempts there are; all by default.
    """
    suite = suite_in(scratch)
    names = list(HOSTILE) if count is None else random.Random(0).sample(list(HOSTILE), min(count, len(HOSTILE)))  # noqa: S311
    for number, name in enumerate(names):
        yield _attempt(name, suite, scratch / f"{number}")


def suite_in(scratch: Path) -> Path:
    """A suite of ten cases, of which one is for hostile things."""
    (scratch / "hostile.yaml").write_text(_SPEC)
    generate(load_specs([scratch / "hostile.yaml"]), scratch / "suite", Options(dialects=()))
    return scratch / "suite"


def harness_of(name: str, suite: Path, out: Path) -> str:
    """The command line of a hostile harness."""
    return shlex.join([sys.executable, "-I", "-S", str(_HARNESS), name, str(suite), str(out)])


def _attempt(name: str, suite: Path, folder: Path) -> Attempt:
    out, temporary = folder / "out", folder / "tmp"
    temporary.mkdir(parents=True)
    environment = {**os.environ, "TMPDIR": str(temporary), VARIABLE: str(folder)}
    arguments = [str(_PROGRAM), "run", str(suite), "--out", str(out), "--timeout", f"{_TIMEOUT}", "--memory", "0.5"]
    arguments += ["--harness", harness_of(name, suite, out)]
    try:
        done = subprocess.run(
            arguments, env=environment, capture_output=True, text=True, timeout=_LIMIT, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return Attempt(what=name, outcome="hang", detail=f"the run took more than {_LIMIT} seconds")
    said = done.stderr[-300:]
    if "Traceback" in done.stderr or "internal error" in done.stderr:
        return Attempt(what=name, outcome="traceback", detail=said)
    if done.returncode not in (0, 1) or not (out / "report.json").is_file():
        return Attempt(what=name, outcome="run-ended", detail=f"exit code {done.returncode}: {said}")
    if left := left_behind(str(folder)):
        return Attempt(what=name, outcome="hang", detail=f"left behind: {left}")
    if kept := sorted(each.name for each in temporary.iterdir() if not each.name.endswith("-moved")):
        return Attempt(what=name, outcome="lost", detail=f"not removed: {kept}")
    return _judged(name, json.loads((out / "report.json").read_text())["cases"])


def _judged(name: str, cases: list[dict[str, str]]) -> Attempt:
    verdicts = {each["id"].split("/")[1]: each for each in cases if each["id"].split("/")[1] == "here"}
    others = [each for each in cases if each["id"].split("/")[1] != "here" and each["verdict"] != "pass"]
    if len(cases) != 10 or "here" not in verdicts:  # noqa: PLR2004 - as many as the spec says
        return Attempt(what=name, outcome="lost", detail=f"{len(cases)} of 10 cases have a verdict")
    if others:
        first = others[0]
        return Attempt(what=name, outcome="false-verdict", detail=f"{first['id']}: {first.get('sentence', '')[:200]}")
    own = verdicts["here"]
    if own["verdict"] not in HOSTILE[name].verdicts:
        detail = f"its own case is {own['verdict']}: {own.get('sentence', '')[:200]}"
        return Attempt(what=name, outcome="false-verdict", detail=detail)
    return Attempt(what=name, outcome="held")


def left_behind(mark: str) -> list[int]:
    """The processes that an attempt left, by what is in their environment."""
    found = []
    for each in psutil.process_iter():
        try:
            if each.environ().get(VARIABLE) == mark and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each.pid)
        except psutil.Error:
            continue
    return found
