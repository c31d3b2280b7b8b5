"""Full disks: every command that writes, with its place or its temporary folder on a disk that fills while it works.

A command must end in one sentence and with 1, claim nothing that it did not find, keep what was there and what it
found, and come to its right end once there is room. The disk is a small tmpfs, which needs root to mount; without it,
the size of each file is limited instead.
"""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .attempt import Attempt, Outcome

#: The room that is left on the disk, in KiB. What a command writes is between a few KiB and some 100.
ROOMS = (0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96)
_SIZE = 32 << 20
#: How long a command may take, in seconds.
_PATIENCE = 300
_PROGRAM = Path(sys.executable).with_name("opconform")
_SPEC = """\
op: Split-1
groups:
  - id: parts
    title: equal parts
    matrix: {rows: [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]}
    data: {shape: ["${{ rows }}", 3]}
    axis: 0
    num_splits: 2
  - id: indivisible
    title: three parts of four
    data: {shape: [4, 2]}
    axis: 0
    num_splits: 3
    expect: {reject: num_splits.divides}
    twin: {num_splits: 2}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """A disk that can be filled, or a limit on the size of a file where none can be mounted."""

    folder: Path
    is_mounted: bool

    def fill(self, room: int) -> None:
        """Leave so many bytes of room."""
        if self.is_mounted:
            with (self.folder / "ballast").open("wb") as file:
                file.truncate(0)
                state = os.statvfs(self.folder)
                file.write(bytes(max(0, state.f_bavail * state.f_frsize - room)))

    def empty(self) -> None:
        """Free some space again."""
        (self.folder / "ballast").unlink(missing_ok=True)

    def limit(self, room: int) -> Callable[[], None] | None:
        """What a process does before it starts."""
        return None if self.is_mounted else partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A command and its place.

    Attributes:
        what: What is tried.
        words: The command, after the name of the program.
        out: The folder of results that it writes, or None.
        temporary: Whether the temporary folder is on the disk.
    """

    what: str
    words: Sequence[object]
    out: Path | None = None
    temporary: bool = False


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Every command on a disk with ever more room."""
    (scratch / "spec.yaml").write_text(_SPEC)
    _must("generate", scratch / "spec.yaml", "--out", scratch / "suite", "--jobs", "1")
    _must("run", scratch / "suite", "--backend", "numpy", "--out", scratch / "done")
    _must("certify", scratch / "spec.yaml", "--backend", "numpy", "--out", scratch / "certified", "--jobs", "1")
    _must("certificate", "keygen", scratch / "me")
    with _disk(scratch / "disk") as disk:
        for room in ROOMS[:count]:
            for trial in _trials(scratch, disk.folder):
                yield _attempt(trial, disk, room << 10, scratch)
                _clear(disk.folder)


def _trials(scratch: Path, disk: Path) -> Iterator[Trial]:
    run = ("run", scratch / "suite", "--backend", "numpy", "--out")
    yield Trial(what="run", words=(*run, disk / "out"), out=disk / "out")
    yield Trial(what="run, temporary folder", words=(*run, scratch / "out"), out=scratch / "out", temporary=True)
    certify = ("certify", scratch / "spec.yaml", "--backend", "numpy", "--jobs", "1", "--out")
    yield Trial(what="certify", words=(*certify, disk / "out"), out=disk / "out")
    yield Trial(what="report", words=("report", disk / "done"), out=disk / "done")
    yield Trial(
        what="sign",
        words=("certificate", "sign", disk / "certified", "--key", scratch / "me.key"),
        out=disk / "certified",
    )
    yield Trial(what="keygen", words=("certificate", "keygen", disk / "you"))
    yield Trial(what="generate", words=("generate", scratch / "spec.yaml", "--out", disk / "suite", "--jobs", "1"))
    yield Trial(what="run --record", words=("run", scratch / "suite", "--backend", "numpy", "--record", disk / "o.zip"))


def _attempt(trial: Trial, disk: Disk, room: int, scratch: Path) -> Attempt:
    """Carry a command out with little room, look at what it left, and carry it out again with enough."""
    what = f"{trial.what}, {room >> 10} KiB"
    shutil.rmtree(scratch / "out", ignore_errors=True)
    for each in ("done", "certified"):
        if trial.out == disk.folder / each:
            shutil.copytree(scratch / each, disk.folder / each)
    before = _contents(disk.folder)
    disk.fill(room)
    temporary = disk.folder if trial.temporary else None
    try:
        first = _run(trial.words, disk.limit(room), temporary)
    except subprocess.TimeoutExpired:
        return Attempt(what=what, outcome="hang")
    disk.empty()
    fault = _fault(trial, first, before, disk.folder)
    if fault is None:
        again = _run(trial.words, None, None)
        taken = first.returncode == 0 and trial.what == "keygen"  # no key is ever overwritten
        if again.returncode != 0 and not taken:
            fault = "lost", f"with room it ends with {again.returncode}: {again.stderr[-300:]}"
    return (
        Attempt(what=what, outcome="held") if fault is None else Attempt(what=what, outcome=fault[0], detail=fault[1])
    )


def _fault(
    trial: Trial, done: "subprocess.CompletedProcess[str]", before: dict[str, bytes], disk: Path
) -> tuple[Outcome, str] | None:
    """What is wrong with how a command ended and with what it left, or None."""
    said = done.stderr.strip()
    if "Traceback" in said or done.returncode not in (0, 1):
        return "traceback", f"ended with {done.returncode}: {said[-300:]}"
    harness_was_full = "the disk of the temporary folder was full" in done.stdout
    if done.returncode == 1 and "cannot be written" not in said and not harness_was_full:
        return "run-ended", f"does not say that the disk is full: {said[-300:]}"
    after = _contents(disk)
    lost = [name for name, content in before.items() if after.get(name) != content and not name.endswith(".html")]
    if lost:
        return "lost", f"{lost[0]} is not what it was"
    if trial.what == "keygen" and done.returncode == 1 and after:
        return "lost", f"a part of a pair of keys is left: {', '.join(after)}"
    if trial.what.startswith(("run", "certify")) and trial.out is not None and done.returncode == 1:
        return _false_verdict(trial.out)
    return None


def _false_verdict(out: Path) -> tuple[Outcome, str] | None:
    """What the results of a run that was ended claim and cannot know, or None."""
    if not (out / "results.jsonl").exists():
        return None
    shown = _run(("report", out, "--junit", "-"), None, None)
    if "Traceback" in shown.stderr or shown.returncode not in (0, 1):
        return "traceback", f"report ended with {shown.returncode}: {shown.stderr[-300:]}"
    if "<failure " in shown.stdout:
        return "false-verdict", "a case of numpy fails"
    whole = (out / "results.jsonl").read_bytes().splitlines()[-1:]
    is_complete = bool(whole) and "footer" in json.loads(whole[0])
    if shown.returncode == 0 and not is_complete:
        return "false-verdict", "the report of incomplete results is complete"
    return None


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[Disk]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
    mounted = (
        shutil.which("mount") is not None and not subprocess.run(command, capture_output=True, check=False).returncode
    )
    try:
        yield Disk(folder=folder, is_mounted=mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _run(
    words: Sequence[object], limit: Callable[[], None] | None, temporary: Path | None
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **({} if temporary is None else {"TMPDIR": str(temporary)})}
    return subprocess.run(
        [str(_PROGRAM), *map(str, words)],
        preexec_fn=limit,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )


def _must(*words: object) -> None:
    done = _run(words, None, None)
    if done.returncode:
        raise RuntimeError(f"{words[0]} ends with {done.returncode}: {done.stderr}")


def _contents(folder: Path) -> dict[str, bytes]:
    files = [each for each in sorted(folder.rglob("*")) if each.is_file() and each.name != "ballast"]
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def _clear(folder: Path) -> None:
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
