"""Every command that writes, with its place or its temporary folder on a disk that fills while it works.

The disk is a small tmpfs, which needs root to mount; without it, the size of each file is limited instead.
"""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.robustness import attempts, seeded
from tests.robustness.processes import run

#: The room that is left on the disk, in KiB. What a command writes is between a few KiB and some 100.
ROOMS = (0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96)
SPEC = """\
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
RUN = "run SCRATCH/suite --backend numpy --out"
#: Of an operation as a whole, since a part of it cannot be certified.
CERTIFY = f"certify {ROOT / 'cases' / 'Split-1'} --profile core --backend numpy --jobs 1 --out"
#: The commands; DISK is the full disk, and those with `temporary` have their temporary folder there.
TRIALS = {
    "run": f"{RUN} DISK/out",
    "run, temporary": f"{RUN} SCRATCH/out",
    "run --record": "run SCRATCH/suite --backend numpy --record DISK/outputs.zip",
    "certify": f"{CERTIFY} DISK/out",
    "report": "report DISK/done",
    "sign": "certificate sign DISK/certified --key SCRATCH/me.key",
    "generate": "generate SCRATCH/spec.yaml --jobs 1 --out DISK/suite",
}

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(1_800)]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite, the results of a run, those of a certification, and a key."""
    folder = tmp_path_factory.mktemp("scratch")
    (folder / "spec.yaml").write_text(SPEC)
    for line in (
        "generate SCRATCH/spec.yaml --out SCRATCH/suite --jobs 1",
        f"{RUN} SCRATCH/done",
        f"{CERTIFY} SCRATCH/certified",
        "certificate keygen SCRATCH/me",
    ):
        run(*line.replace("SCRATCH", str(folder)).split())
    return folder


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MiB, or a folder where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    mounted = bool(shutil.which("mount")) and not subprocess.run(mount, capture_output=True, check=False).returncode
    yield folder
    if mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(disk: Path, room: int) -> Callable[[], None] | None:
    """Leave so many bytes on the disk; where none is mounted, what limits the files of a process."""
    if not disk.is_mount():
        return partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
    state = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - room)))
    return None


def contents(folder: Path) -> dict[str, bytes]:
    """The files in a folder. A page is written again by `report`."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".html")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "ballast"}


def claims_nothing_false(out: Path) -> None:
    """The results of a run that was ended have no failure of numpy, and are not complete."""
    if (out / "results.jsonl").exists():
        shown = run("report", out, "--junit", "-")
        last = (out / "results.jsonl").read_bytes().splitlines()[-1:]
        assert "<failure " not in shown.stdout
        assert shown.returncode == 1 or "footer" in json.loads(last[0])


@pytest.mark.parametrize("name", TRIALS)
def test_a_full_disk_ends_a_command_in_one_sentence(scratch: Path, disk: Path, name: str) -> None:
    """It exits with 1, keeps what was there, claims nothing false, and ends well when there is room."""
    words = TRIALS[name].replace("SCRATCH", str(scratch)).replace("DISK", str(disk)).split()
    for room in seeded(name).sample(ROOMS, min(len(ROOMS), attempts(1))):
        for folder in (scratch / "out", *(path for path in disk.iterdir() if path.is_dir())):
            shutil.rmtree(folder, ignore_errors=True)
        for name_of_results in ("done", "certified"):
            if f"{disk}/{name_of_results}" in words:
                shutil.copytree(scratch / name_of_results, disk / name_of_results)
        before = contents(disk)
        limit = filled(disk, room << 10)
        done = run(*words, limit=limit, temporary=disk if "temporary" in name else None)
        (disk / "ballast").unlink(missing_ok=True)
        after = contents(disk)

        says = "cannot be written" in done.stderr or "the disk of the temporary folder was full" in done.stdout
        assert done.returncode == 0 or (done.returncode == 1 and says), (room, done)
        assert [path for path in before if after.get(path) != before[path]] == [], room
        if done.returncode and name in ("run", "certify"):
            claims_nothing_false(disk / "out")
        assert run(*words).returncode == 0, room
