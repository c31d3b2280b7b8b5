"""The work folder: a generation touches nothing beside its suite that is not its own, and a killed one leaves no part."""

import errno
import itertools
import os
import stat
from collections.abc import Callable
from multiprocessing import synchronize
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import SuiteError, UsageError
from opconform.generation.options import Limits, Options
from opconform.generation.output import workers, writer
from opconform.generation.pipeline import Generated, generate
from opconform.specs.loader import load_specs
from opconform.suite.storage.ownership import replace_named, replace_ours
from opconform.suite.storage.work_folder import work_folder
from opconform.suite.verification import problems_of
from opconform.system.files import replace_file, replacement, write_file
from tests.conftest import Run
from tests.robustness.test_killed_generations import tree


def generated(spec: Path, out: Path) -> Generated:
    """A suite of the small spec."""
    return generate(load_specs([spec]), out, Options())


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_workers_need_no_named_semaphores(tmp_path: Path, small_spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would stay behind in /dev/shm when a process group is killed."""
    monkeypatch.setattr(synchronize.SemLock, "__init__", lambda *_: pytest.fail("a semaphore was made"))
    for jobs in (1, 2):
        generate(load_specs([small_spec]), tmp_path / str(jobs), Options(jobs=jobs))

    assert tree(tmp_path / "1") == tree(tmp_path / "2")


def test_a_killed_worker_ends_a_generation_in_one_sentence(
    tmp_path: Path, small_spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And leaves nothing."""
    start = workers.started

    def started(*arguments: Any) -> list[workers.Worker]:
        begun = start(*arguments)
        begun[0].process.kill()
        return begun

    monkeypatch.setattr(workers, "started", started)
    with pytest.raises(SuiteError) as raised:
        generate(load_specs([small_spec]), tmp_path / "suite", Options(jobs=2))

    assert str(raised.value) == "A worker process was killed. Run the same command again."
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["suite", "suite.zip"])
def test_nothing_beside_a_suite_is_touched(tmp_path: Path, small_spec: Path, name: str) -> None:
    """Whatever its name."""
    for item in ("lock", "partial", "replaced", "packing", "lock-workers"):
        (tmp_path / f"{name}.{item}").mkdir()
        (tmp_path / f"{name}.{item}" / "mine").write_text("mine")
    (tmp_path / "suite.toml.lock").write_text("mine")
    before = tree(tmp_path)
    generated(small_spec, tmp_path / name)
    generated(small_spec, tmp_path / name)

    after = tree(tmp_path)
    assert before.items() <= after.items()
    assert {key.partition("/")[0] for key in after.keys() - before.keys()} == {name}


FOREIGN: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a zip file that is not a suite": (
        "my.zip",
        lambda path: path.write_bytes(b"PK\5\6" + bytes(18)),
        "The suite is not replaced: remove",
    ),
    "a file named as a zip file": ("my.zip", lambda path: path.write_text("mine"), "The suite is not replaced: remove"),
    "a folder named as a zip file": ("my.zip", Path.mkdir, "is not a file; --out must be a folder or a file NAME.zip."),
    "a FIFO named as a zip file": ("my.zip", os.mkfifo, "is not a file; --out must be a folder or a file NAME.zip."),
    "a linked folder": ("suite", lambda path: path.symlink_to(path.parent), "is a link, and links are not replaced."),
    "a link to nothing": ("suite", lambda path: path.symlink_to("nothing"), "is a link, and links are not replaced."),
    "a work folder without its mark": (
        "suite",
        lambda path: (path.with_name(".suite.opconform-work") / "mine").mkdir(parents=True),
        "was not created by opconform.",
    ),
    "a work folder that is a link": (
        "suite",
        lambda path: path.with_name(".suite.opconform-work").symlink_to(path.parent),
        "was not created by opconform.",
    ),
}


def states(folder: Path) -> dict[Path, tuple[float, ...]]:
    """What is in a folder, with what changes if one of it is replaced or written to; reading a link changes its time."""
    return {path: (*path.lstat()[:7], path.lstat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_not_a_suite_is_not_replaced(tmp_path: Path, small_spec: Path, what: str) -> None:
    """One sentence, and everything is as it was."""
    name, make, sentence = FOREIGN[what]
    make(tmp_path / name)
    before = states(tmp_path)
    with pytest.raises(UsageError) as raised:
        generated(small_spec, tmp_path / name)

    assert sentence in str(raised.value)
    assert states(tmp_path) == before


def test_what_is_foreign_in_a_work_folder_stays(tmp_path: Path, small_spec: Path) -> None:
    """Files, and what links lead to, even where the folder has its mark; a leftover is removed."""
    work, target = tmp_path / ".suite.opconform-work", tmp_path / "target"
    for folder in (target, work / "mine", work / "partial-of-a-killed-process"):
        folder.mkdir(parents=True)
        (folder / "file").write_text("mine")
    (work / "opconform.lock").touch()
    for name in ("partial-link", "lines.jsonl", "packed.zip"):
        (work / name).symlink_to(target)
    generated(small_spec, tmp_path / "suite")

    assert tree(target) == tree(work / "mine")
    assert names(work) == ["mine", "opconform.lock", "partial-link"]
    assert not list(problems_of(tmp_path / "suite"))


@pytest.mark.parametrize("name", ["suite", "suite.zip"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_a_generation_that_ends_early_changes_nothing(
    tmp_path: Path, small_spec: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException
) -> None:
    """Interrupted, or on a full disk: the suite is the earlier one, and nothing else is there."""
    generated(small_spec, tmp_path / name)
    before, count = tree(tmp_path), itertools.count()

    def write(*arguments: Any) -> None:
        if next(count) == 5:
            raise error
        write_file(*arguments)

    monkeypatch.setattr(writer, "write_file", write)
    with pytest.raises((KeyboardInterrupt, SuiteError), match=r"^$|cannot be written: No space left on device"):
        generated(small_spec, tmp_path / name)

    assert tree(tmp_path) == before
    assert names(tmp_path) == [name]


def test_only_one_generation_writes_at_a_time(tmp_path: Path, small_spec: Path) -> None:
    """The second one is refused, and the work folder goes with the first."""
    out = tmp_path / "suite"
    with work_folder(out):
        with pytest.raises(
            UsageError, match=r"^Another process is writing .*suite\. Wait for it, or use another --out\.$"
        ):
            generated(small_spec, out)
        assert names(tmp_path) == [".suite.opconform-work"]

    assert names(tmp_path) == []


def test_a_second_generate_command_ends_with_one_sentence(opconform: Run, tmp_path: Path, small_spec: Path) -> None:
    """It exits with 2, and the first one is not disturbed."""
    with work_folder(tmp_path / "suite"):
        done = opconform("generate", small_spec, "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr == "error: Another process is writing suite. Wait for it, or use another --out.\n"


def test_a_suite_that_was_about_to_be_replaced_is_restored(tmp_path: Path, small_spec: Path) -> None:
    """A process was killed between the two renames, and the next one ends with an error."""
    out, work = tmp_path / "suite", tmp_path / ".suite.opconform-work"
    generated(small_spec, out)
    before = tree(out)
    work.mkdir()
    (work / "opconform.lock").touch()
    out.rename(work / "replaced")
    with pytest.raises(UsageError, match="the suite takes at least"):
        generate(load_specs([small_spec]), out, Options(limits=Limits(bytes=1)))

    assert tree(out) == before
    assert names(tmp_path) == ["suite"]


def test_a_suite_can_be_read_by_others(tmp_path: Path, small_spec: Path) -> None:
    """Its work folder is private, and it is not."""
    before = os.umask(0o022)
    try:
        generated(small_spec, tmp_path / "suite")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "suite").stat().st_mode) == 0o755


def test_a_file_that_is_replaced_disturbs_no_other(tmp_path: Path) -> None:
    """Nor does one that cannot be replaced leave anything behind."""
    (tmp_path / f"file.{os.getpid()}.new").write_text("mine")
    replace_file(tmp_path / "file", b"content")
    with pytest.raises(TypeError), replacement(tmp_path / "file") as file:
        file.write("no bytes")  # type: ignore[call-overload]

    assert names(tmp_path) == ["file", f"file.{os.getpid()}.new"]
    assert (tmp_path / "file").read_bytes() == b"content"


def test_no_command_replaces_a_link(tmp_path: Path) -> None:
    """A file that the user names is refused where it is one; a device is written to as it is."""
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "device").symlink_to("/dev/null")
    for write in (replace_named, lambda path, content: replace_ours(path, content, b"mine")):
        with pytest.raises(
            UsageError, match=r"link is a link, and links are not replaced\. Name its target: .*target\."
        ):
            write(tmp_path / "link", b"content")
        write(tmp_path / "device", b"content")

    assert (tmp_path / "target").read_text() == "mine"
    assert (tmp_path / "device").is_symlink()
