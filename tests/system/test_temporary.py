"""Temporary folders: removed whatever is in them, also after opconform was killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from opconform.system import temporary
from opconform.system.removal import remove_folder
from opconform.system.temporary import PREFIX, TemporaryFolder

#: Starts a worker process, and is killed with all processes of its group.
KILLED = """
import os, signal
from opconform.generation.output.workers import started
from opconform.system.temporary import TemporaryFolder
def begin():
    return lambda given: given
if __name__ == "__main__":
    folder = TemporaryFolder()
    started(begin, 1)
    os.killpg(0, signal.SIGKILL)
"""


def deepen(folder: Path, levels: int) -> None:
    """Make folders in folders, with a file in each."""
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.mkdir("d" * 100, dir_fd=inner)
        outer, inner = inner, os.open("d" * 100, os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)


@pytest.fixture
def temporary_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files, in which nothing old was looked for yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    """Deeper than Python recurses, than paths are long, and than files can be open at once."""
    (tmp_path / "folder").mkdir()
    deepen(tmp_path / "folder", 2_000)
    remove_folder(str(tmp_path / "folder"))

    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    """In the folder, and in its place."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    for name in ("folder", "link", "missing"):
        remove_folder(str(tmp_path / name))

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept" / "file").read_text() == "kept"


def test_folders_without_permissions_are_removed(tmp_path: Path) -> None:
    """Their owner may change that."""
    inner = tmp_path / "folder" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("")
    for item in (inner, inner.parent, inner.parent.parent):
        item.chmod(0)
    remove_folder(str(tmp_path / "folder"))

    assert list(tmp_path.iterdir()) == []


def test_the_next_start_removes_only_what_a_killed_process_left(temporary_root: Path) -> None:
    """Neither the folders of running processes, nor those of other users."""
    kept = TemporaryFolder()
    for name in (f"{PREFIX}old", f"{PREFIX}new", "opconform-mine"):
        (temporary_root / name / "inner").mkdir(parents=True)
    for item in temporary_root.iterdir():
        if item.name != f"{PREFIX}new":
            os.utime(item, (0, 0))
    temporary._remove_old.cache_clear()
    with TemporaryFolder() as folder:
        names = {path.name for path in temporary_root.iterdir()}
    kept.cleanup()

    assert names == {f"{PREFIX}new", "opconform-mine", Path(kept.name).name, Path(folder).name}


@pytest.mark.parametrize(("name", "count"), [("short", 2), ("long" * 20, 1)])
def test_a_killed_process_leaves_only_what_the_next_start_removes(
    monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    """Also of its worker processes, whose socket is elsewhere if the folder's name is too long for it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        root = Path(short, name)
        root.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(root))
        environment = {**os.environ, "TMPDIR": str(root)}
        done = subprocess.run([sys.executable, "-c", KILLED], env=environment, start_new_session=True, check=False)
        left = list(root.iterdir())
        for item in left:
            os.utime(item, (0, 0))
        with TemporaryFolder() as folder:
            now = [str(path) for path in root.iterdir()]

    assert done.returncode == -signal.SIGKILL
    assert len(left) == count
    assert now == [folder]
