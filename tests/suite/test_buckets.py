"""Commands on suites, outputs and results at URLs: as on local ones."""

import errno
import hashlib
import json
import tempfile
from pathlib import Path

import pytest

from opconform.errors import MissingError
from opconform.suite.storage.bucket import bucket_at
from opconform_runners.verdicts.results import read_results, result_document
from tests.conftest import MINIATURES, Run, killed
from tests.suite.conftest import Store, failing, working
from tests.suite.test_suite import tree

FAULTY = f"{MINIATURES}:LosesAll"
pytestmark = pytest.mark.usefixtures("store")


def verdicts(folder: Path) -> list[dict[str, object]]:
    """The results of a run, without what differs each time."""
    return [result_document(read_result) | {"seconds": 0} for read_result in read_results(folder / "results.jsonl")]


def test_a_zip_file_at_a_url_is_the_local_one(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """Byte for byte."""
    for item in (tmp_path / "suite.zip", "test://bucket/suite.zip"):
        opconform("generate", small_spec, "--out", item, "--jobs", "1")

    assert [*Store.store] == ["/bucket/suite.zip"]
    assert Store.store["/bucket/suite.zip"].getvalue() == (tmp_path / "suite.zip").read_bytes()
    assert "test://bucket/suite.zip is intact" in opconform("verify", "test://bucket/suite.zip").stdout


def test_results_at_a_url_are_the_local_ones(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """They are read as a folder, and the suite as a zip file."""
    bucket_at("test://bucket/suite.zip").upload(small_suite, replace=False)
    run = ("run", "--backend", FAULTY, "--out")
    opconform(*run, tmp_path / "local", small_suite, code=1)
    done = opconform(*run, "test://bucket/results.zip", "test://bucket/suite.zip", code=1)
    bucket_at("test://bucket/results.zip").download(tmp_path / "copy")

    assert verdicts(tmp_path / "copy") == verdicts(tmp_path / "local")
    assert tree(tmp_path / "copy") == tree(Path("opconform-out/test-bucket-results"))
    assert "--suite test://bucket/suite.zip" in done.stdout
    assert "opconform-out/test-bucket-results was uploaded to test://bucket/results.zip." in done.stderr


def test_no_error_or_file_has_the_password_of_a_url(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Whatever the store says, and though the upload fails."""
    place = "test://user:secret@bucket/results.zip"
    said = opconform("verify", place, code=2).stderr
    Store.fail = failing(PermissionError("user:secret may not write"))
    said += opconform("verify", place, code=2).stderr
    Store.fail = failing(OSError(errno.EIO, "user:secret failed"), "put")
    done = opconform("run", small_suite, "numpy", "--out", place, code=2)
    said += done.stdout + done.stderr
    said += opconform("fuzz", "numpy", "--out", place, code=2).stderr
    said += opconform("run", "s3:/user:secret@bucket/suite", "numpy", code=2).stderr
    said += opconform("generate", "--out", "suite", "--executor", "dask://user:secret@host", code=2).stderr
    kept = [
        path
        for path in tmp_path.rglob("*")
        if "secret" in path.name or (path.is_file() and b"secret" in path.read_bytes())
    ]

    assert "test://***@bucket/results.zip" in said
    assert "secret" not in said
    assert kept == []


def test_a_folder_inside_a_stored_one_can_be_read(opconform: Run, small_spec: Path) -> None:
    """Such as the suite of a certification, but not written."""
    opconform("certify", "numpy", small_spec, "--jobs", "1", "--out", "test://bucket/certified.zip")

    assert "intact" in opconform("verify", "test://bucket/certified.zip/suite").stdout
    missing = opconform("verify", "test://bucket/certified.zip/other", code=2).stderr
    assert missing == "error: test://bucket/certified.zip/other is missing: the zip file has no such folder.\n"
    refused = opconform("generate", small_spec, "--out", "test://bucket/certified.zip/suite", code=2).stderr
    assert "is inside a zip file, which cannot be written." in refused


def test_commands_read_results_at_a_url(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The HTML report is written to the current folder, and does not name a copy, which is gone."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    bucket_at("test://bucket/suite.zip").upload(small_suite, replace=False)
    opconform("run", small_suite, "--backend", FAULTY, "--out", "test://bucket/results.zip", code=1)
    case = verdicts(Path("opconform-out/test-bucket-results"))[0]["id"]
    suite = ("--suite", "test://bucket/suite.zip")

    assert str(case) in opconform("show", case, "test://bucket/results.zip", *suite).stdout
    assert opconform("diff", "test://bucket/results.zip", "test://bucket/results.zip").returncode == 0
    assert opconform("report", "test://bucket/results.zip", *suite).stdout == "HTML report: report.html\n"
    assert str(temporary) not in (tmp_path / "report.html").read_text()
    assert not [*temporary.iterdir()]


def test_shards_at_urls_are_merged(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Into results at a URL."""
    for number in (1, 2):
        out = f"test://bucket/shard-{number}.zip"
        opconform("run", small_suite, "numpy", "--shard", f"{number}/2", "--out", out, code=None)
    opconform("merge", "test://bucket/shard-1.zip", "test://bucket/shard-2.zip", "--out", "test://bucket/merged.zip")
    opconform("run", small_suite, "numpy", "--out", tmp_path / "local")
    bucket_at("test://bucket/merged.zip").download(tmp_path / "copy")

    assert verdicts(tmp_path / "copy") == verdicts(tmp_path / "local")


def test_recorded_outputs_at_a_url_are_judged(opconform: Run, small_suite: Path) -> None:
    """The record is one zip file."""
    opconform("run", small_suite, "numpy", "--record", "test://bucket/record.zip")
    judged = opconform("certificate", "judge", "test://bucket/record.zip", "--suite", small_suite)

    assert "6 of 6 cases supported" in judged.stdout


def test_a_store_that_fails_for_good_loses_nothing(opconform: Run, small_spec: Path) -> None:
    """What was made is kept, and the same command uploads it."""
    generate = ("generate", small_spec, "--out", "test://bucket/suite.zip", "--jobs", "1")
    Store.fail = failing(OSError(errno.EIO, "no disk"), "put")
    failed = opconform(*generate, code=2)
    Store.fail = staticmethod(working)

    assert failed.stderr.splitlines() == [
        "note: opconform-out/test-bucket-suite.zip was not uploaded to test://bucket/suite.zip. It is kept.",
        (
            "error: test://bucket/suite.zip cannot be written: no disk. Check the URL, the credentials and the network, and "
            "run the same command again."
        ),
    ]
    with pytest.raises(MissingError, match=r"cannot be read: not found"):
        bucket_at("test://bucket/suite.zip").download(Path("copy"))
    again = opconform(*generate)
    assert again.stdout == ""
    assert again.stderr.splitlines() == [
        "note: Only the upload was left of this command, which was completed before.",
        "note: opconform-out/test-bucket-suite.zip was uploaded to test://bucket/suite.zip.",
    ]
    assert "intact" in opconform("verify", "test://bucket/suite.zip").stdout


def test_no_exit_code_is_taken_from_a_file_beside_the_results(opconform: Run, small_suite: Path) -> None:
    """A stranger's checkout could have it, and a folder of results."""
    run = ("run", small_suite, FAULTY, "--out", "test://bucket/results.zip")
    place = Path("opconform-out/test-bucket-results")
    place.mkdir(parents=True)
    arguments = hashlib.sha256(json.dumps([*map(str, run)]).encode()).hexdigest()
    note = json.dumps({"code": 0, "arguments": arguments})
    place.with_name(f"{place.name}.not-uploaded.json").write_text(note)
    done = opconform(*run, code=1)

    assert "Only the upload was left" not in done.stderr


def test_only_the_upload_of_a_completed_run_is_repeated(opconform: Run, small_suite: Path) -> None:
    """With the exit code of the run, however often the upload fails; a command with other arguments runs."""
    run = ("run", small_suite, FAULTY, "--out", "test://bucket/results.zip")
    Store.fail = failing(OSError(errno.EIO, "no disk"), "put")
    opconform(*run, code=2)
    results = Path("opconform-out/test-bucket-results/results.jsonl").read_bytes()
    opconform(*run, code=2)
    Store.fail = staticmethod(working)
    done = opconform(*run, code=1)

    assert "Only the upload was left" in done.stderr
    assert Path("opconform-out/test-bucket-results/results.jsonl").read_bytes() == results
    assert {path.name for path in Path("opconform-out").iterdir()} == {"test-bucket-results"}
    Store.fail = failing(OSError(errno.EIO, "no disk"), "put")
    opconform(*run, "--force", code=2)
    Store.fail = staticmethod(working)
    assert "Only the upload" not in opconform(*run, "--force", "--quiet", code=1).stderr


@pytest.mark.parametrize("note", ["[]", "null", "{", '{"code": null, "arguments": "ARGUMENTS"}'])
def test_a_damaged_note_of_a_failed_upload_is_none(
    opconform: Run, small_suite: Path, tmp_path: Path, note: str
) -> None:
    """The run is repeated, and nothing is taken from the note."""
    run = ("run", small_suite, "numpy", "--out", "test://bucket/results.zip")
    Store.fail = failing(OSError(errno.EIO, "no disk"), "put")
    opconform(*run, code=2)
    Store.fail = staticmethod(working)
    [place] = tmp_path.with_name(f"{tmp_path.name}-cache").rglob("uploads/*.json")
    place.write_text(note.replace("ARGUMENTS", json.loads(place.read_text())["arguments"]))

    assert "Only the upload was left" not in opconform(*run).stderr


def test_an_interrupted_run_is_continued_and_uploaded(opconform: Run, small_suite: Path) -> None:
    """Its results are in the local folder."""
    run = ("run", small_suite, "numpy", "--out", "test://bucket/results.zip")
    opconform("run", small_suite, "numpy", "--out", "whole")
    folder = Path("opconform-out/test-bucket-results")
    folder.mkdir(parents=True)
    (folder / "outcomes.jsonl").write_bytes(killed(Path("whole")))

    assert "2 of 6 cases had been executed before" in opconform(*run).stderr
    assert bucket_at("test://bucket/results.zip").exists()


def test_the_second_of_two_writers_gets_an_error(opconform: Run, small_suite: Path, small_spec: Path) -> None:
    """Before it runs; only --force replaces results. The same content is not an error."""
    run = ("run", small_suite, "numpy", "--out", "test://bucket/results.zip")
    generate = ("generate", small_spec, "--jobs", "1", "--out")
    opconform(*run)
    before = Store.store["/bucket/results.zip"].getvalue()
    refused = opconform(*run, code=2)

    assert refused.stderr.startswith(
        "error: test://bucket/results.zip already has other content, and it was not replaced."
    )
    assert refused.stdout == ""
    assert Store.store["/bucket/results.zip"].getvalue() == before
    opconform(*run, "--force")
    assert Store.store["/bucket/results.zip"].getvalue() != before
    opconform(*generate, "test://bucket/suite.zip")
    opconform(*generate, "test://bucket/suite.zip")
    refused = opconform(*generate, "test://bucket/suite.zip", "--select", "*/accepted/*", code=2)
    assert "already has other content" in refused.stderr


@pytest.mark.parametrize("length", [0, 1000, -1])
def test_a_zip_file_of_which_a_part_was_uploaded_is_an_error(opconform: Run, small_suite: Path, length: int) -> None:
    """Not every store replaces a file at once; what is read is complete or refused."""
    bucket_at("test://bucket/suite.zip").upload(small_suite, replace=False)
    content = Store.store["/bucket/suite.zip"].getvalue()
    Store().pipe_file("/bucket/suite.zip", content[:length])
    failed = opconform("run", "test://bucket/suite.zip", "numpy", code=1)

    assert failed.stderr.startswith("error: test://bucket/suite.zip is not a complete zip file.")


def test_a_changed_suite_does_not_verify(opconform: Run, small_suite: Path) -> None:
    """As one in a local zip file."""
    bucket_at("test://bucket/suite.zip").upload(small_suite, replace=False)
    Store.store["/bucket/suite.zip"].seek(100)
    Store.store["/bucket/suite.zip"].write(b"other")

    found = opconform("verify", "test://bucket/suite.zip", code=1).stdout
    assert "1 problem: test://bucket/suite.zip differs from the suite that was generated." in found


def test_a_store_that_cannot_be_written_is_an_error(opconform: Run, small_suite: Path) -> None:
    """Before anything is run."""
    Store.fail = failing(NotImplementedError("read-only"), "pipe")
    done = opconform("run", small_suite, "numpy", "--out", "test://bucket/results.zip", code=2)

    assert done.stderr == (
        "error: test://bucket/results.zip cannot be written: the store does not support it (read-only). Use another URL.\n"
    )
    assert not Path("opconform-out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verify", "nowhere://bucket/suite.zip"), "the protocol nowhere:// is unknown. Use another, such as s3://."),
        (
            ("verify", "dropbox://bucket/suite"),
            "dropbox:// needs a package that is not installed. DropboxFileSystem requires",
        ),
        (("verify", "s3:/bucket/suite"), "'s3:/bucket/suite' is not a URL. Did you mean s3://bucket/suite?"),
        (("verify", "test://"), "test:// does not name a zip file. Use a URL such as test://bucket/name.zip."),
        (("verify", "test://bucket/suite"), "test://bucket/suite does not name a zip file. Use a URL such as test://"),
        (("verify", "test://bucket/suite.zip"), "cannot be read: not found"),
        (("verify", "test://bucket/suite.zip/../suite"), "names a folder outside of the zip file. Name one inside it."),
        (("generate", "test://bucket/specs", "--out", "suite"), "is a URL, but a local path is needed here."),
        (("certify", "numpy", "test://bucket/specs"), "test://bucket/specs is a URL, but specs must be local files."),
        (("fuzz", "numpy", "--out", "test://bucket/finds"), "is a URL, but a local path is needed here."),
    ],
)
def test_a_url_that_cannot_be_used_is_a_wrong_command(opconform: Run, words: tuple[str, ...], said: str) -> None:
    """It ends with 2, and without a traceback."""
    done = opconform(*words, code=2)

    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2
