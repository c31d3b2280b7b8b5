"""Uploads and downloads: a file at a URL is whole or not there, and a stranger does no harm."""

import io
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opconform.errors import SuiteError, UsageError
from opconform.suite.storage.bucket import Bucket, bucket_at
from opconform.suite.storage.url import without_credentials
from tests.suite.conftest import Store, failing, working
from tests.suite.test_suite import tree

pytestmark = pytest.mark.usefixtures("store")
URLS = {
    "s3://bucket/a@b": "s3://bucket/a@b",
    "s3://host:9000/a@b": "s3://host:9000/a@b",
    "s3://user:secret@bucket/suite": "s3://***@bucket/suite",
    "s3://user:se/cr@et@bucket/suite": "s3://***@bucket/suite",
    "ftp://user@host/suite": "ftp://***@host/suite",
}


@pytest.mark.parametrize("given", URLS)
def test_a_url_is_shown_without_name_and_password(given: str) -> None:
    """An @ in the name of a file does not mark them."""
    assert without_credentials(given) == URLS[given]


def test_the_requests_do_not_depend_on_the_number_of_files(tmp_path: Path) -> None:
    """Nothing is listed, or asked for per case."""
    for number in range(500):
        (tmp_path / "many" / f"{number}").mkdir(parents=True)
        (tmp_path / "many" / f"{number}" / "results.jsonl").write_text(f"{number}")
    bucket_at("test://bucket/many.zip").upload(tmp_path / "many", replace=False)
    bucket_at("test://bucket/many.zip").download(tmp_path / "copy")

    assert Store.requests == {"put": 1, "get": 1}
    assert tree(tmp_path / "copy") == tree(tmp_path / "many")


def test_of_two_writers_at_once_one_gets_an_error(tmp_path: Path) -> None:
    """If the store can refuse to replace a file; the URL has what the other wrote, whole."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.jsonl").write_text(name)

    def other_first(name: str, _path: str) -> None:
        if name == "put":
            Store.fail = staticmethod(working)
            bucket_at("test://bucket/place.zip").upload(tmp_path / "one", replace=False)

    Store.fail = staticmethod(other_first)
    with pytest.raises(UsageError, match="already has other content"):
        bucket_at("test://bucket/place.zip").upload(tmp_path / "two", replace=False)

    bucket_at("test://bucket/place.zip").download(tmp_path / "copy")
    assert tree(tmp_path / "copy") == tree(tmp_path / "one")


def test_a_store_that_cannot_refuse_to_replace_is_written_to(tmp_path: Path) -> None:
    """Nothing is there, and the request is repeated without the condition."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.jsonl").write_text("")

    def unconditional(name: str, _path: str) -> None:
        if name == "put" and Store.requests["put"] == 1:
            raise NotImplementedError

    Store.fail = staticmethod(unconditional)
    bucket_at("test://bucket/results.zip").upload(tmp_path / "results", replace=False)

    assert Store.requests["put"] == 2


def zip_file_of(*names: str) -> bytes:
    """A compressed zip file of files with a million zeros."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, bytes(1_000_000))
    return buffer.getvalue()


def test_results_of_a_stranger_stay_in_their_folder(tmp_path: Path) -> None:
    """Whatever the names in the zip file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("../../outside", "/etc/outside", "results.jsonl"):
            archive.writestr(name, b"content")
    Store().pipe_file("/bucket/results.zip", buffer.getvalue())
    bucket_at("test://bucket/results.zip").download(tmp_path / "copy")

    assert sorted(tree(tmp_path / "copy")) == ["etc/outside", "outside", "results.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


@pytest.mark.parametrize("where", ["/{}", "../../../../../../../../../{}", "suite/../../../../../../../../../..{}"])
def test_a_url_of_a_folder_outside_of_the_zip_file_moves_no_folder(tmp_path: Path, where: str) -> None:
    """A folder in a zip file is moved out of the unpacked file; a folder of the user's stays where it is."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    Store().pipe_file("/bucket/results.zip", stored({"results.jsonl": b"content"}))
    with pytest.raises(UsageError, match=r"names a folder outside of the zip file\. Name one inside it\.$"):
        bucket_at("test://bucket/results.zip/" + where.format(tmp_path / "mine")).download(tmp_path / "copy")

    assert (tmp_path / "mine" / "file").read_text() == "mine"


def test_a_member_without_a_name_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    """`zipfile` has no error of its own for it."""
    content = stored({"results.jsonl": b"content", "x": b""})
    unnamed = content.replace(b"x", b"\0")
    Store().pipe_file("/bucket/results.zip", unnamed)
    with pytest.raises(SuiteError, match=r"^test://bucket/results.zip cannot be unpacked: string index out of range"):
        bucket_at("test://bucket/results.zip").download(tmp_path / "copy")


def stored(members: dict[str, bytes]) -> bytes:
    """A zip file with some members, not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_results_that_grow_are_not_unpacked(tmp_path: Path) -> None:
    """They could fill the disk."""
    Store().pipe_file("/bucket/results.zip", zip_file_of("results.jsonl"))
    with pytest.raises(SuiteError, match=r"unpacks to 1,000,000 bytes, more than 100 times its size"):
        bucket_at("test://bucket/results.zip").download(tmp_path / "copy")


def test_a_link_is_not_uploaded(tmp_path: Path) -> None:
    """It could lead anywhere."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.jsonl").symlink_to("/etc/hostname")

    with pytest.raises(SuiteError, match=r"results.jsonl cannot be read: it is a symbolic link."):
        bucket_at("test://bucket/results.zip").upload(tmp_path / "results", replace=False)


def test_access_denied_is_not_tried_again(tmp_path: Path) -> None:
    """The error names the credentials."""
    Store.fail = failing(PermissionError("Forbidden"))
    with pytest.raises(UsageError, match=r"cannot be read: access denied \(Forbidden\). Check the credentials."):
        bucket_at("test://bucket/suite.zip").download(tmp_path / "copy")

    assert Store.requests.total() == 1


def test_a_web_server_is_not_written_to() -> None:
    """It is refused without a request."""
    with pytest.raises(UsageError, match=r"https://host/suite.zip can only be read. Use another URL, such as s3://"):
        Bucket(url="https://host/suite.zip", path="https://host/suite.zip", files=None).check_writable()


@pytest.mark.parametrize("time", [None, "yesterday", datetime(9999, 12, 31, tzinfo=UTC)], ids=str)
def test_a_store_that_knows_no_time_of_an_upload_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, time: object
) -> None:
    """Whatever it says instead."""
    Store().pipe_file("/bucket/results.zip", stored({"results.jsonl": b"content"}))
    monkeypatch.setattr(Store, "modified", lambda *_: time)
    bucket_at("test://bucket/results.zip").download(tmp_path / "copy")

    assert (tmp_path / "copy" / "results.jsonl").read_bytes() == b"content"


def test_results_have_the_time_of_their_upload(small_suite: Path, tmp_path: Path) -> None:
    """And not that of the download."""
    (tmp_path / "results").mkdir()
    shutil.copyfile(small_suite / "suite.json", tmp_path / "results" / "results.jsonl")
    place = bucket_at("test://bucket/results.zip")
    place.upload(tmp_path / "results", replace=False)
    place.download(tmp_path / "copy")
    modified = Store().modified("/bucket/results.zip").timestamp()

    assert (tmp_path / "copy" / "results.jsonl").stat().st_mtime == modified
