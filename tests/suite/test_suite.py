"""Suites: the same bytes everywhere, whole or not at all, and nothing changed goes unseen."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.reader import open_suite
from tests.conftest import EVERY_DIALECT, FEW, SMALL_SPEC, Run


def tree(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file, by its path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_process_counts_and_order_do_not_change_a_byte(opconform: Run, tmp_path: Path) -> None:
    """Three processes write the same files as one."""
    for jobs in (1, 3):
        operations = ("Sqrt-1", "Squeeze-1")
        options = ("--profile", "core", *EVERY_DIALECT, "--jobs", jobs)
        opconform("generate", *operations, *options, "--out", tmp_path / str(jobs))

    assert tree(tmp_path / "3") == tree(tmp_path / "1")


def test_other_programs_read_a_suite(few_core: Path) -> None:
    """Numpy loads every array without pickles, and json every document; here, of one case in twenty."""
    for entry in open_suite(few_core).entries[::20]:
        folder = few_core / entry.id
        for path in folder.glob("*.npz"):
            with np.load(path, allow_pickle=False) as arrays:
                assert all(arrays[name].dtype != object for name in arrays.files)
        case = json.loads((folder / "case.json").read_text())
        assert case["id"] == entry.id
        inputs = np.load(folder / "inputs.npz")
        assert {input_["name"]: input_["shape"] for input_ in case["inputs"]} == {
            name: list(inputs[name].shape) for name in inputs.files
        }


def test_a_zip_file_is_the_same_suite(opconform: Run, tmp_path: Path, small_spec: Path, small_suite: Path) -> None:
    """A zip file holds the folder's files, twice the same bytes, and is read as the folder is."""
    for name in ("a.zip", "b.zip"):
        opconform("generate", small_spec, "--out", tmp_path / name)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        content = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}

    assert content == tree(small_suite)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    opconform("verify", tmp_path / "a.zip")
    opconform("run", tmp_path / "a.zip", "--backend", "numpy", "--out", tmp_path / "out")


def test_a_blind_suite_holds_no_outputs(opconform: Run, tmp_path: Path, small_spec: Path) -> None:
    """A blind suite has the same cases, no outputs, and cannot be judged here."""
    opconform("generate", small_spec, "--out", tmp_path / "suite", "--blind")
    done = opconform("run", tmp_path / "suite", "--backend", "numpy", "--out", tmp_path / "out", code=1)

    assert not list(tmp_path.rglob("expected*.npz"))
    assert "is blind: it has no expected outputs." in done.stderr
    opconform("verify", tmp_path / "suite")


def test_another_seed_gives_other_bits(opconform: Run, tmp_path: Path) -> None:
    """The seed changes random elements and no id."""
    (tmp_path / "spec.yaml").write_text(SMALL_SPEC.replace("special", "bits"))
    for seed in ("0", "1"):
        opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / seed, "--seed", seed)

    one, other = open_suite(tmp_path / "0"), open_suite(tmp_path / "1")
    assert [entry.id for entry in one.entries] == [entry.id for entry in other.entries]
    assert one.header.digest != other.header.digest


def test_a_suite_is_brought_up_to_date(opconform: Run, tmp_path: Path) -> None:
    """The result is that of a new generation, without the cases that are gone."""
    spec = tmp_path / "small.yaml"
    spec.write_text(SMALL_SPEC)
    opconform("generate", spec, "--out", tmp_path / "suite")
    spec.write_text(SMALL_SPEC.replace("[2, 2, 2]]", "[3, 2, 1]]").replace("title: at most one -1", "title: changed"))
    for name in ("suite", "new"):
        opconform("generate", spec, "--out", tmp_path / name)

    assert tree(tmp_path / "suite") == tree(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "small.yaml", "suite"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"notes.txt": "mine"}, "contains other files but no suite; opconform does not overwrite them"),
        (None, "mine is not a folder; --out must be a folder or a file NAME.zip."),
    ],
)
def test_what_is_not_a_suite_is_not_overwritten(
    opconform: Run, tmp_path: Path, small_spec: Path, content: dict[str, str] | None, sentence: str
) -> None:
    """A folder with other files, or a file, stays as it is."""
    out = tmp_path / "mine"
    if content is None:
        out.write_text("mine")
    else:
        out.mkdir()
        for name, text in content.items():
            (out / name).write_text(text)
    done = opconform("generate", small_spec, "--out", out, code=2)

    assert sentence in done.stderr
    assert (out if content is None else out / "notes.txt").read_text() == "mine"


def test_a_file_put_into_a_suite_is_not_lost(opconform: Run, tmp_path: Path, small_spec: Path) -> None:
    """A suite that holds something else is not replaced."""
    opconform("generate", small_spec, "--out", tmp_path / "suite")
    (tmp_path / "suite" / "notes.txt").write_text("mine")
    done = opconform("generate", small_spec, "--out", tmp_path / "suite", code=2)

    assert "notes.txt does not belong to the suite" in done.stderr
    assert (tmp_path / "suite" / "notes.txt").read_text() == "mine"


def a_case(suite: Path) -> Path:
    """The folder of a valid case."""
    return min(suite.rglob("expected.npz")).parent


def become_a_link(path: Path) -> None:
    """Put a link in a file's place."""
    path.unlink()
    path.symlink_to("/dev/null")


TAMPERINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed byte": (
        lambda suite: (a_case(suite) / "expected.npz").write_bytes(b"x"),
        "expected.npz was changed after the suite was generated.",
    ),
    "a missing file": (
        lambda suite: (a_case(suite) / "inputs.npz").unlink(),
        "inputs.npz is missing. Generate the suite again.",
    ),
    "a missing case": (lambda suite: shutil.rmtree(a_case(suite)), "case.json is missing. Generate the suite again."),
    "a foreign file": (lambda suite: (a_case(suite) / "notes").touch(), "notes does not belong to the suite."),
    "a link": (lambda suite: (suite / "link").symlink_to("/etc/passwd"), "link does not belong to the suite."),
    "a file that became a link": (
        lambda suite: become_a_link(a_case(suite) / "case.json"),
        "case.json cannot be read: it is a symbolic link",
    ),
    "a manifest without a line": (
        lambda suite: (suite / "manifest.jsonl").write_text((suite / "manifest.jsonl").read_text().partition("\n")[2]),
        "manifest.jsonl does not match suite.json.",
    ),
    "a changed header": (
        lambda suite: (suite / "suite.json").write_text(
            (suite / "suite.json").read_text().replace('"normative"', '"interpretation"', 1)
        ),
        "suite.json was changed after it was written, or is of another build of opconform.",
    ),
    "a header of an earlier build": (
        lambda suite: (suite / "suite.json").write_text(
            (suite / "suite.json").read_text().replace('"cases": {', '"unknown": {', 1)
        ),
        "suite.json: cases: Field required. Generate the suite again.",
    ),
    "a header cut short": (
        lambda suite: (suite / "suite.json").write_text((suite / "suite.json").read_text()[:-20]),
        "suite.json: Invalid JSON",
    ),
    "no header": (
        lambda suite: (suite / "suite.json").unlink(),
        "contains no suite.json: it is not a suite or is incomplete.",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_verify_finds_every_tampering(opconform: Run, tmp_path: Path, small_suite: Path, name: str) -> None:
    """Whatever was done to a suite, `verify` ends with 1 and says what."""
    tamper, sentence = TAMPERINGS[name]
    suite = tmp_path / "suite"
    shutil.copytree(small_suite, suite)
    tamper(suite)
    done = opconform("verify", suite, code=1)

    assert sentence in done.stdout


def test_a_run_refuses_a_changed_suite(opconform: Run, tmp_path: Path, small_suite: Path) -> None:
    """A golden that was edited gives no verdict at all."""
    suite = tmp_path / "suite"
    shutil.copytree(small_suite, suite)
    (a_case(suite) / "expected.npz").write_bytes(b"x")
    done = opconform("run", suite, "--backend", "numpy", "--out", tmp_path / "out", code=1)

    assert "was changed after the suite was generated" in done.stderr
    assert not (tmp_path / "out" / "report.json").exists()


def test_no_path_of_a_manifest_leaves_the_suite(opconform: Run, tmp_path: Path, small_suite: Path) -> None:
    """A line of a manifest has no id or file name with `..`."""
    suite = tmp_path / "suite"
    shutil.copytree(small_suite, suite)
    lines = (suite / "manifest.jsonl").read_text().replace("inputs.npz", "../inputs.npz")
    (suite / "manifest.jsonl").write_text(lines)
    header = json.loads((suite / "suite.json").read_text())
    header["digest"] = hashlib.sha256(lines.encode()).hexdigest()
    del header["checksum"]
    canonical = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    header["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    (suite / "suite.json").write_text(json.dumps(header, indent=1, ensure_ascii=False) + "\n")
    done = opconform("verify", suite, code=1)

    assert "is not a line of a manifest" in done.stdout


def test_a_full_disk_is_reported_and_nothing_is_lost(tmp_path: Path, small_spec: Path) -> None:
    """Where a file cannot be written the command ends in a sentence, and no suite appears."""
    program = str(Path(sys.executable).with_name("opconform"))
    command = f"ulimit -f 0; exec {program} generate {small_spec} --out {tmp_path / 'suite'} --jobs 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "cannot be written: File too large. Free some space and run the same command again" in done.stderr
    assert not (tmp_path / "suite").exists()


@pytest.mark.ci_only
def test_ctrl_c_is_answered_in_one_sentence(tmp_path: Path, few_core: Path) -> None:
    """Interrupted while workers start or write, it says so once, and the same command then gives the same bytes."""
    out = tmp_path / "suite"
    program = str(Path(sys.executable).with_name("opconform"))
    command = [program, "generate", *FEW, "--profile", "core", *EVERY_DIALECT, "--out", str(out), "--jobs", "2"]
    for moment in (0.3, 0.45, 0.6):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[1].strip()
        if process.returncode == 130:
            assert said == "Interrupted. No part of the suite is written, and an earlier one is unchanged."
        else:
            assert process.returncode in (0, -signal.SIGINT)
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert tree(out) == tree(few_core)
