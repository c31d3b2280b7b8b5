"""Suites, outputs and results at URLs: written and read like local ones, whole or not at all."""

import errno
import hashlib
import json
import shutil
import tempfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from opconform.buckets import answer, bucket, zip_files
from opconform.buckets.bucket import Bucket, StoreError, bucket_at
from opconform.buckets.url import without_credentials
from opconform.errors import MissingError, OpconformError, SuiteError, UsageError
from opconform_runners.verdicts.results import read_results, result_document
from tests.conftest import MINIATURES, Run, killed
from tests.suite.test_suite import tree

FAULTY = f"{MINIATURES}:LosesAll"


class Store(MemoryFileSystem):  # type: ignore[misc]
    """A store in memory that counts its requests, refuses to list, and fails when a test says so."""

    protocol = "test"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    requests: ClassVar[Counter[str]] = Counter()
    #: Called before each request with its name and the path.
    fail: ClassVar[Callable[[str, str], None]] = staticmethod(lambda *_: None)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped: str = super()._strip_protocol(path.replace("test://", "memory://"))
        return stripped

    def _ask(self, name: str, path: str) -> None:
        type(self).requests[name] += 1
        type(self).fail(name, path)

    def get_file(self, rpath: str, lpath: str, **given: Any) -> None:
        """Download a file."""
        self._ask("get", rpath)
        super().get_file(rpath, lpath, **given)

    def put_file(self, lpath: str, rpath: str, **given: Any) -> None:
        """Upload a file."""
        self._ask("put", rpath)
        super().put_file(lpath, rpath, **given)

    def ls(self, path: str, **_: Any) -> None:
        """Refuse to list."""
        raise AssertionError(f"{path} is listed")


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Store]]:
    """An empty store at `test://`, small shards, and no waiting."""
    fsspec.register_implementation("test", Store, clobber=True)
    Store.store, Store.pseudo_dirs, Store.requests = {}, [""], Counter()
    monkeypatch.setattr(zip_files, "SIZE", 4096)
    monkeypatch.setattr(bucket, "WAITS", (0.0,) * len(bucket.WAITS))
    monkeypatch.chdir(tmp_path)
    yield Store
    Store.fail = staticmethod(lambda *_: None)


def failing(fault: Exception, *, every: int = 1, path: str = "") -> Callable[[str, str], None]:
    """Fail some of the requests for paths that contain a text."""

    def fail(_name: str, asked: str) -> None:
        if path in asked and Store.requests.total() % every == 0:
            raise fault

    return staticmethod(fail)


def failing_after(event: threading.Event) -> Callable[[str, str], None]:
    """Answer no request before an event."""

    def wait(_name: str, _asked: str) -> None:
        event.wait()

    return staticmethod(wait)


def verdicts(folder: Path) -> list[dict[str, object]]:
    """The results of a run, without what differs each time."""
    return [result_document(each) | {"seconds": 0} for each in read_results(folder / "results.jsonl")]


def test_a_suite_at_a_url_is_the_local_one(opconform: Run, small_suite: Path, small_spec: Path, tmp_path: Path) -> None:
    """With the same files and digest; messages name the URL."""
    opconform("generate", small_spec, "--out", "test://bucket/suite", "--jobs", "1")
    bucket_at("test://bucket/suite").download(tmp_path / "copy")
    said = opconform("verify", "test://bucket/suite").stdout

    assert tree(tmp_path / "copy") == tree(small_suite)
    assert said == opconform("verify", small_suite).stdout.replace(str(small_suite), "test://bucket/suite")
    assert Store.requests["put"] > 4


def test_a_zip_file_at_a_url_is_the_local_one(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """Byte for byte."""
    for each in (tmp_path / "suite.zip", "test://bucket/suite.zip"):
        opconform("generate", small_spec, "--out", each, "--jobs", "1")

    assert Store.store["/bucket/suite.zip"].getvalue() == (tmp_path / "suite.zip").read_bytes()
    assert "test://bucket/suite.zip is intact" in opconform("verify", "test://bucket/suite.zip").stdout


@pytest.mark.parametrize("every", [1000, 10])
def test_results_at_a_url_are_the_local_ones(opconform: Run, small_suite: Path, tmp_path: Path, every: int) -> None:
    """Even if every tenth request fails."""
    bucket_at("test://bucket/suite").upload(small_suite, replace=False)
    Store.fail = failing(OSError(errno.EIO, "the store failed"), every=every)
    run = ("run", "--backend", FAULTY, "--out")
    opconform(*run, tmp_path / "local", small_suite, code=1)
    done = opconform(*run, "test://bucket/results", "test://bucket/suite", code=1)
    bucket_at("test://bucket/results").download(tmp_path / "copy")

    assert verdicts(tmp_path / "copy") == verdicts(tmp_path / "local")
    assert tree(tmp_path / "copy") == tree(Path("opconform-out/test-bucket-results"))
    assert "--suite test://bucket/suite" in done.stdout
    assert "opconform-out/test-bucket-results was uploaded to test://bucket/results." in done.stderr


def test_a_store_that_never_answers_ends_the_command(
    opconform: Run, small_suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait is mentioned, and the request is not repeated."""
    monkeypatch.setattr(answer, "ANSWER_LIMIT", 0.2)
    monkeypatch.setattr(answer, "GLANCE", 0.1)
    monkeypatch.setattr(answer, "SLOWEST", 1 << 40)
    bucket_at("test://bucket/suite").upload(small_suite, replace=False)
    answered = threading.Event()
    Store.fail = failing_after(answered)
    Store.requests.clear()
    said = opconform("verify", "test://bucket/suite", code=2).stderr
    answered.set()

    assert said == (
        "note: test://bucket/suite has not answered for 0 of at most 0 seconds\n"
        "error: test://bucket/suite cannot be read: no answer within 0 seconds. "
        "Check the URL, the credentials and the network, and run the same command again.\n"
    )
    assert Store.requests.total() == 1


URLS = {
    "s3://bucket/a@b": "s3://bucket/a@b",
    "s3://host:9000/a@b": "s3://host:9000/a@b",
    "s3://user:secret@bucket/suite": "s3://***@bucket/suite",
    "s3://user:se/cr@et@bucket/suite": "s3://***@bucket/suite",
    "ftp://user@host/suite": "ftp://***@host/suite",
}


@pytest.mark.parametrize("given", URLS)
def test_a_url_is_shown_without_name_and_password(given: str) -> None:
    """An @ in the name of a file is no mark of them."""
    assert without_credentials(given) == URLS[given]


def test_no_error_or_file_has_the_password_of_a_url(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Whatever the store says, and though the upload fails."""
    place = "test://user:secret@bucket/results"
    said = opconform("verify", place, code=2).stderr
    Store.fail = failing(PermissionError("user:secret may not write"))
    said += opconform("verify", place, code=2).stderr
    Store.fail = failing(OSError(errno.EIO, "user:secret failed"), path="index.json")
    done = opconform("run", small_suite, "numpy", "--out", place, code=2)
    said += done.stdout + done.stderr
    said += opconform("fuzz", "numpy", "--out", place, code=2).stderr
    said += opconform("run", "s3:/user:secret@bucket/suite", "numpy", code=2).stderr
    said += opconform("generate", "--out", "suite", "--executor", "dask://user:secret@host", code=2).stderr
    kept = [
        each
        for each in tmp_path.rglob("*")
        if "secret" in each.name or (each.is_file() and b"secret" in each.read_bytes())
    ]

    assert "test://***@bucket/results" in said
    assert "secret" not in said
    assert kept == []


def test_a_folder_inside_a_stored_one_can_be_read(opconform: Run, small_spec: Path) -> None:
    """Such as the suite of a certification; the error for a part that it does not have names the URL."""
    opconform("certify", "numpy", small_spec, "--jobs", "1", "--out", "test://bucket/certified")

    assert "intact" in opconform("verify", "test://bucket/certified/suite").stdout
    missing = opconform("verify", "test://bucket/certified/other", code=2).stderr
    assert missing.startswith("error: test://bucket/certified/other has no index.json: nothing was written there")


def test_commands_read_results_at_a_url(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The HTML report is written to the current folder, and does not name a copy, which is gone."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    bucket_at("test://bucket/suite").upload(small_suite, replace=False)
    opconform("run", small_suite, "--backend", FAULTY, "--out", "test://bucket/results", code=1)
    case = verdicts(Path("opconform-out/test-bucket-results"))[0]["id"]
    suite = ("--suite", "test://bucket/suite")

    assert str(case) in opconform("show", case, "test://bucket/results", *suite).stdout
    assert opconform("diff", "test://bucket/results", "test://bucket/results").returncode == 0
    assert opconform("report", "test://bucket/results", *suite).stdout == "HTML report: report.html\n"
    assert str(temporary) not in (tmp_path / "report.html").read_text()
    assert not [*temporary.iterdir()]


def test_shards_at_urls_are_merged(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Into results at a URL."""
    for number in (1, 2):
        out = f"test://bucket/shard-{number}"
        opconform("run", small_suite, "numpy", "--shard", f"{number}/2", "--out", out, code=None)
    opconform("merge", "test://bucket/shard-1", "test://bucket/shard-2", "--out", "test://bucket/merged")
    opconform("run", small_suite, "numpy", "--out", tmp_path / "local")
    bucket_at("test://bucket/merged").download(tmp_path / "copy")

    assert verdicts(tmp_path / "copy") == verdicts(tmp_path / "local")


def test_recorded_outputs_at_a_url_are_judged(opconform: Run, small_suite: Path) -> None:
    """The record is one zip file."""
    opconform("run", small_suite, "numpy", "--record", "test://bucket/record.zip")
    judged = opconform("certificate", "judge", "test://bucket/record.zip", "--suite", small_suite)

    assert "6 of 6 cases supported" in judged.stdout


def test_the_requests_do_not_depend_on_the_number_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is listed, or asked for per case."""
    monkeypatch.setattr(zip_files, "SIZE", 1 << 26)
    for number in range(500):
        (tmp_path / "many" / f"{number}").mkdir(parents=True)
        (tmp_path / "many" / f"{number}" / "case.json").write_text(f"{number}")
    bucket_at("test://bucket/many").upload(tmp_path / "many", replace=False)
    bucket_at("test://bucket/many").download(tmp_path / "copy")

    assert Store.requests == {"put": 2, "get": 3}
    assert tree(tmp_path / "copy") == tree(tmp_path / "many")


def test_a_store_that_fails_for_good_loses_nothing(opconform: Run, small_spec: Path) -> None:
    """What was made is kept, and the same command uploads it."""
    generate = ("generate", small_spec, "--out", "test://bucket/suite", "--jobs", "1")
    Store.fail = failing(OSError(errno.EIO, "no disk"), path="index.json")
    failed = opconform(*generate, code=2)
    Store.fail = failing(OSError(), every=1000)

    assert failed.stderr.splitlines() == [
        "note: opconform-out/test-bucket-suite was not uploaded to test://bucket/suite. It is kept.",
        (
            "error: test://bucket/suite cannot be written after 5 attempts: no disk. Check the URL, the credentials and "
            "the network, and run the same command again."
        ),
    ]
    with pytest.raises(MissingError, match=r"has no index.json: nothing was written there, or the upload was not"):
        bucket_at("test://bucket/suite").download(Path("copy"))
    again = opconform(*generate)
    assert again.stdout == ""
    assert again.stderr.splitlines() == [
        "note: Only the upload was left of this command, which was completed before.",
        "note: opconform-out/test-bucket-suite was uploaded to test://bucket/suite.",
    ]
    assert "intact" in opconform("verify", "test://bucket/suite").stdout


def test_only_the_upload_of_a_completed_run_is_repeated(opconform: Run, small_suite: Path) -> None:
    """With the exit code of the run, however often the upload fails; a command with other arguments runs."""
    run = ("run", small_suite, FAULTY, "--out", "test://bucket/results")
    Store.fail = failing(OSError(errno.EIO, "no disk"), path="index.json")
    opconform(*run, code=2)
    results = Path("opconform-out/test-bucket-results/results.jsonl").read_bytes()
    opconform(*run, code=2)
    Store.fail = failing(OSError(), every=1000)
    done = opconform(*run, code=1)

    assert "Only the upload was left" in done.stderr
    assert Path("opconform-out/test-bucket-results/results.jsonl").read_bytes() == results
    assert {each.name for each in Path("opconform-out").iterdir()} == {"test-bucket-results"}
    Store.fail = failing(OSError(errno.EIO, "no disk"), path="index.json")
    opconform(*run, "--force", code=2)
    Store.fail = failing(OSError(), every=1000)
    assert "Only the upload" not in opconform(*run, "--force", "--quiet", code=1).stderr


def test_an_interrupted_run_is_continued_and_uploaded(opconform: Run, small_suite: Path) -> None:
    """Its results are in the local folder."""
    run = ("run", small_suite, "numpy", "--out", "test://bucket/results")
    opconform("run", small_suite, "numpy", "--out", "whole")
    folder = Path("opconform-out/test-bucket-results")
    folder.mkdir(parents=True)
    (folder / "outcomes.jsonl").write_bytes(killed(Path("whole")))

    assert "2 of 6 cases had been executed before" in opconform(*run).stderr
    assert bucket_at("test://bucket/results").exists()


def test_the_second_of_two_writers_gets_an_error(opconform: Run, small_suite: Path, small_spec: Path) -> None:
    """Before it runs; only --force replaces results. The same content is not an error."""
    run = ("run", small_suite, "numpy", "--out", "test://bucket/results")
    generate = ("generate", small_spec, "--jobs", "1", "--out")
    opconform(*run)
    before = Store.store["/bucket/results/index.json"].getvalue()
    refused = opconform(*run, code=2)

    assert refused.stderr.startswith("error: test://bucket/results already has other content, and it was not replaced.")
    assert refused.stdout == ""
    assert Store.store["/bucket/results/index.json"].getvalue() == before
    opconform(*run, "--force")
    assert Store.store["/bucket/results/index.json"].getvalue() != before
    opconform(*generate, "test://bucket/suite")
    opconform(*generate, "test://bucket/suite")
    refused = opconform(*generate, "test://bucket/suite", "--select", "*/accepted/*", code=2)
    assert "already has other content" in refused.stderr


@pytest.mark.parametrize("mode", ["create", "none"])
def test_of_two_writers_at_once_one_gets_an_error(tmp_path: Path, mode: str) -> None:
    """Whether or not the store can refuse to replace a file; the place has what the other wrote, whole."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.jsonl").write_text(name)

    def other_first(name: str, path: str) -> None:
        if (name, path.rpartition("/")[2]) == ("put", "index.json"):
            Store.fail = failing(OSError(), every=1000)
            bucket_at("test://bucket/place").upload(tmp_path / "one", replace=False)
            if mode == "none":
                raise NotImplementedError

    Store.fail = staticmethod(other_first)
    with pytest.raises(UsageError, match="already has other content"):
        bucket_at("test://bucket/place").upload(tmp_path / "two", replace=False)

    bucket_at("test://bucket/place").download(tmp_path / "copy")
    assert tree(tmp_path / "copy") == tree(tmp_path / "one")


def test_a_damaged_shard_is_an_error(small_suite: Path, tmp_path: Path) -> None:
    """Downloads are compared with the index."""
    bucket_at("test://bucket/suite").upload(small_suite, replace=False)
    shard = next(each for each in Store.store if each.endswith(".zip"))
    Store.store[shard].seek(100)
    Store.store[shard].write(b"other")

    with pytest.raises(StoreError, match=r"after 5 attempts: .* has other bytes than were written"):
        bucket_at("test://bucket/suite").download(tmp_path / "copy")


@pytest.mark.parametrize(
    ("name", "compression", "said"),
    [
        ("../outside", zipfile.ZIP_STORED, r"'../outside' is not the name of a file"),
        ("/etc/outside", zipfile.ZIP_STORED, r"'/etc/outside' is not the name of a file"),
        ("bomb", zipfile.ZIP_DEFLATED, r"'bomb' is compressed"),
    ],
)
def test_a_shard_of_a_stranger_is_checked(tmp_path: Path, name: str, compression: int, said: str) -> None:
    """No file is written outside the folder, and none grows."""
    with zipfile.ZipFile(tmp_path / "shard.zip", "w", compression) as archive:
        archive.writestr(name, b"0" * 1000)
    content = (tmp_path / "shard.zip").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    index = {"format": 1, "shards": [{"sha256": digest, "bytes": len(content)}]}
    Store().pipe_file("/bucket/suite/index.json", json.dumps(index).encode())
    Store().pipe_file(f"/bucket/suite/{digest}.zip", content)

    with pytest.raises(SuiteError, match=said):
        bucket_at("test://bucket/suite").download(tmp_path / "copy")
    assert not [*(tmp_path / "copy").iterdir()]


def test_an_index_of_a_stranger_is_checked(tmp_path: Path) -> None:
    """It is an error in one sentence."""
    Store().pipe_file("/bucket/suite/index.json", b'{"format": 1, "shards": [{"sha256": "../x", "bytes": 1}]}')

    with pytest.raises(SuiteError, match=r"index.json is not an index that opconform wrote"):
        bucket_at("test://bucket/suite").download(tmp_path / "copy")


def test_a_link_is_not_uploaded(tmp_path: Path) -> None:
    """It could lead anywhere."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.jsonl").symlink_to("/etc/hostname")

    with pytest.raises(SuiteError, match=r"results.jsonl cannot be read: it is a symbolic link."):
        bucket_at("test://bucket/results").upload(tmp_path / "results", replace=False)


def test_a_store_that_cannot_be_written_is_an_error(opconform: Run, small_suite: Path) -> None:
    """Before anything is run."""
    Store.fail = failing(NotImplementedError("read-only"))
    done = opconform("run", small_suite, "numpy", "--out", "test://bucket/results", code=2)

    assert done.stderr == (
        "error: test://bucket/results cannot be written: the store does not support it (read-only). Use another URL.\n"
    )
    assert not Path("opconform-out").exists()


def test_access_denied_is_not_tried_again(tmp_path: Path) -> None:
    """The error names the credentials."""
    Store.fail = failing(PermissionError("Forbidden"))
    with pytest.raises(UsageError, match=r"cannot be read: access denied \(Forbidden\). Check the credentials."):
        bucket_at("test://bucket/suite").download(tmp_path / "copy")

    assert Store.requests.total() == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verify", "nowhere://bucket/suite"), "the protocol nowhere:// is unknown. Use another, such as s3://."),
        (("verify", "dropbox://bucket/suite"), "dropbox:// needs another package. DropboxFileSystem requires"),
        (("verify", "s3:/bucket/suite"), "'s3:/bucket/suite' is not a URL. Did you mean s3://bucket/suite?"),
        (("verify", "test://"), "test:// names no file or folder. Add a name, as in test://bucket/suite."),
        (("verify", "test://bucket/suite.zip"), "cannot be read: not found"),
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


def test_a_web_server_is_not_written_to() -> None:
    """It is refused without a request."""
    with pytest.raises(UsageError, match=r"https://host/suite can only be read. Use another URL, such as s3://"):
        Bucket(url="https://host/suite", path="https://host/suite", files=None).check_writable()


def test_results_have_the_time_of_their_upload(small_suite: Path, tmp_path: Path) -> None:
    """And not that of the download."""
    shutil.copyfile(small_suite / "suite.json", tmp_path / "suite.json")
    place = bucket_at("test://bucket/suite")
    place.upload(small_suite, replace=False)
    place.download(tmp_path / "copy")
    modified = Store().modified("/bucket/suite/index.json").timestamp()

    assert (tmp_path / "copy" / "suite.json").stat().st_mtime == modified
    assert issubclass(StoreError, OpconformError)
