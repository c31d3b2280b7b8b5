"""The folder of results: what opconform did not write there stays, and two commands do not write to it at once."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from opconform.generation.output.stream import Stream
from opconform_runners.cli.shared import certification
from opconform_runners.execution.log.results_folder import LOCK
from opconform_runners.execution.log.suite_place import suite_of_results
from opconform_runners.execution.runner import Judgement
from tests.conftest import EXHAUSTIVE_SPEC, MINIATURES, Run

LENIENT = f"{MINIATURES}:AcceptsEverything"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec of few cases, in small batches."""
    monkeypatch.setattr(certification, "Stream", partial(Stream, size=4))
    (tmp_path / "small.yaml").write_text(EXHAUSTIVE_SPEC)
    return tmp_path / "small.yaml"


@pytest.fixture(scope="module")
def shards(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The results of two shards."""
    folder = tmp_path_factory.mktemp("shards")
    for number in (1, 2):
        opconform("run", small_suite, "numpy", "--shard", f"{number}/2", "--out", folder / str(number))
    return [folder / "1", folder / "2"]


def states(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """What is in a folder: the type of each path, and the content of a file or the target of a link."""
    return {
        path.relative_to(folder).as_posix(): (
            path.lstat().st_mode,
            os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None,
        )
        for path in folder.rglob("*")
    }


def interrupted(opconform: Run, spec: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """A streamed certification that was interrupted in its second batch; returns its command."""
    certify = ("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--out", out)
    execute, executed = Judgement.execute, list[object]()

    def stops(judgement: Judgement) -> str | None:
        executed.append(judgement)
        if len(executed) == 2:
            raise KeyboardInterrupt
        return execute(judgement)

    with monkeypatch.context() as patched:
        patched.setattr(Judgement, "execute", stops)
        opconform(*certify, code=130)
    return certify


def write(path: Path) -> None:
    """Write a file of the user's own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")


FOREIGN: dict[str, Callable[[Path], object]] = {
    "a file among the batches": lambda out: write(out / "batches" / "mine.txt"),
    "a folder among the batches": lambda out: (out / "batches" / "mine").mkdir(),
    "a file in the suite of a batch": lambda out: write(out / "batches" / "000001" / "mine.txt"),
    "a file instead of the suite of a batch": lambda out: write(out / "batches" / "000009"),
    "a folder that looks like a work folder": lambda out: write(out / "batches" / ".000001.opconform-work" / "mine"),
    "a suite that is none": lambda out: write(out / "suite" / "mine.txt"),
    "a work folder that is none": lambda out: write(out / ".suite.opconform-work" / "mine.txt"),
    "a page": lambda out: write(out / "report.html"),
}


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("what", FOREIGN)
def test_a_streamed_run_loses_nothing_foreign(
    opconform: Run, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, force: tuple[str, ...]
) -> None:
    """It is refused in a sentence before anything changes, also with --force."""
    out = tmp_path / "out"
    certify = interrupted(opconform, spec, out, monkeypatch)
    FOREIGN[what](out)
    before = states(out)
    done = opconform(*certify, *force, code=2)

    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert str(out) in done.stderr
    assert states(out) == before


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_what_a_kill_leaves_among_batches_is_no_obstacle(
    opconform: Run, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: tuple[str, ...]
) -> None:
    """A lock that nothing holds, and a suite that was being written."""
    out = tmp_path / "out"
    certify = interrupted(opconform, spec, out, monkeypatch)
    (out / LOCK).touch()
    (out / "batches" / ".000001.opconform-work").mkdir()
    opconform(*certify, *force, code=1)

    assert {path.name for path in out.iterdir()} == {
        "outcomes.jsonl",
        "outputs.zip",
        "report.html",
        "report.json",
        "results.jsonl",
        "suite",
    }


def test_merge_replaces_no_shard(opconform: Run, shards: list[Path], tmp_path: Path) -> None:
    """Neither by a link to its folder, nor by links to its files, nor by other names of them."""
    copies = [shutil.copytree(shard, tmp_path / shard.name) for shard in shards]
    (tmp_path / "link").symlink_to(copies[0])
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "results.jsonl").symlink_to(copies[0] / "results.jsonl")
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "results.jsonl").hardlink_to(copies[1] / "results.jsonl")
    before = states(tmp_path)
    for out, sentence in (
        ("link", f"link is one of the shards, {copies[0]}. Use another --out."),
        ("links", f"results.jsonl is a link, and links are not replaced. Name its target: {copies[0]}/results.jsonl."),
    ):
        assert sentence in opconform("merge", *copies, "--out", tmp_path / out, "--force", code=2).stderr
        assert states(tmp_path) == before
    opconform("merge", *copies, "--out", tmp_path / "names", "--force")

    assert [states(copy) for copy in copies] == [states(shard) for shard in shards]


def test_merge_replaces_no_foreign_suite(opconform: Run, spec: Path, small_suite: Path, tmp_path: Path) -> None:
    """Neither a folder that is not a suite, nor without --force a suite of other specs."""
    shards = [tmp_path / "1", tmp_path / "2"]
    for number, shard in enumerate(shards, 1):
        certify = ("certify", spec, "--backend", LENIENT, "--profile", "exhaustive", "--shard", f"{number}/2")
        opconform(*certify, "--out", shard, code=1)
    other, merge = tmp_path / "other.yaml", ("merge", *shards, "--out", tmp_path / "merged")
    other.write_text((small_suite.parent / "small.yaml").read_text())
    write(tmp_path / "merged" / "suite" / "mine.txt")
    for force in ((), ("--force",)):
        assert "contains other files but no suite" in opconform(*merge, *force, code=2).stderr
    assert states(tmp_path / "merged").keys() == {"suite", "suite/mine.txt"}
    shutil.rmtree(tmp_path / "merged")
    opconform("generate", other, "--out", tmp_path / "merged" / "suite")
    before = states(tmp_path / "merged")
    assert "merged/suite is a suite of other specs: VariadicSplit-1/other.yaml." in opconform(*merge, code=2).stderr

    assert states(tmp_path / "merged") == before
    opconform(*merge, "--force", code=1)


def test_nothing_is_written_into_a_suite(opconform: Run, small_spec: Path, shards: list[Path], tmp_path: Path) -> None:
    """Whatever the command, also through a link: the suite would not verify any longer."""
    suite, results = tmp_path / "suite", shards[0]
    opconform("generate", small_spec, "--out", suite)
    (tmp_path / "link").symlink_to(suite)
    before = states(suite)
    for inside in (suite, tmp_path / "link"):
        for command in (
            ("generate", small_spec, "--out", inside / "inner"),
            ("generate", small_spec, "--out", inside / "a" / "b.zip"),
            ("run", suite, "numpy", "--out", inside),
            ("run", suite, "numpy", "--out", inside / "out"),
            ("certify", small_spec, "numpy", "--out", inside),
            ("run", suite, "numpy", "onnx-reference", "--out", inside),
            ("run", suite, "numpy", "--record", inside / "record.zip"),
            ("certify", small_spec, "numpy", "--out", inside / "out"),
            ("merge", *shards, "--out", inside / "out"),
            ("report", results, "--html", inside / "page.html"),
            ("report", results, "--junit", inside / "junit.xml"),
            ("certificate", "keygen", inside / "me"),
            ("repro", "VariadicSplit-1/page-example/*", "openvino", "-o", inside / "repro.py"),
            ("fuzz", "numpy", "Split-1", "--tests", 1, "--out", inside / "finds"),
        ):
            done = opconform(*command, code=2)
            assert f"it is part of the suite {suite}. Use another" in done.stderr, command
            assert states(suite) == before, command


def test_an_empty_foreign_folder_in_a_suite_stays(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """The suite is not replaced, and does not verify."""
    suite = tmp_path / "suite"
    opconform("generate", small_spec, "--out", suite)
    (suite / "mine" / "empty").mkdir(parents=True)
    done = opconform("generate", small_spec, "--out", suite, code=2)

    assert f"{suite}: mine/empty/ does not belong to the suite." in done.stderr
    assert (suite / "mine" / "empty").is_dir()
    assert "mine/empty/ does not belong to the suite." in opconform("verify", suite, code=1).stdout


def test_an_emptied_case_of_a_suite_is_generated_again(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """Its folder is not foreign."""
    suite = tmp_path / "suite"
    opconform("generate", small_spec, "--out", suite)
    case = min(suite.rglob("case.json")).parent
    shutil.rmtree(case)
    case.mkdir()
    opconform("generate", small_spec, "--out", suite)

    assert (case / "case.json").is_file()
    assert opconform("verify", suite).returncode == 0


def test_two_commands_do_not_write_to_one_folder_at_once(
    opconform: Run, small_suite: Path, small_spec: Path, shards: list[Path], tmp_path: Path
) -> None:
    """The second is refused in a sentence, and changes nothing; afterwards no lock is left."""
    out, taken = tmp_path / "out", tmp_path / "matrix" / "numpy"
    commands = (
        (out, ("run", small_suite, "numpy", "--out", out)),
        (out, ("certify", small_spec, "numpy", "--out", out)),
        (out, ("merge", *shards, "--out", out)),
        (taken, ("run", small_suite, "numpy", "onnx-reference", "--out", tmp_path / "matrix")),
    )
    for folder, command in commands:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK):
            done = opconform(*command, code=2)
            assert done.stderr == (
                f"error: Another process is writing to {folder}. Wait for it, or use another --out.\n"
            ), command
            assert [path.name for path in folder.iterdir()] == [LOCK]
    opconform("run", small_suite, "numpy", "--out", out)

    assert {path.name for path in out.iterdir()} == {"outcomes.jsonl", "results.jsonl", "report.json", "suite.txt"}


def test_another_suite_beside_the_results_is_not_taken_for_theirs(
    opconform: Run, small_suite: Path, spec: Path, tmp_path: Path
) -> None:
    """The note of the run comes first; a run of the suite beside its folder needs none, and mends an earlier one."""
    own, beside, out = tmp_path / "own", tmp_path / "suite", tmp_path / "out"
    shutil.copytree(small_suite, own)
    opconform("generate", spec, "--profile", "exhaustive", "--out", beside)
    opconform("run", own, "numpy", "--out", out)
    first = suite_of_results(out)
    opconform("run", beside, "numpy", "--out", out, "--force")
    opconform("run", beside, "numpy", "--out", tmp_path / "other")

    assert (first, suite_of_results(out), suite_of_results(tmp_path / "other")) == (own, beside, beside)
    assert not (tmp_path / "other" / "suite.txt").exists()


def test_a_run_that_cannot_start_leaves_no_folder(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The folder was made for the lock only."""
    opconform("run", small_suite, "--harness", "false", "--out", tmp_path / "a" / "b", code=3)

    assert list(tmp_path.iterdir()) == []
