"""Files from outside: only regular files within a limit are read, and nothing blocks."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from opconform.system.files import FileTooLargeError, open_regular, read_regular, replace_file


def test_a_regular_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    """One byte more is refused, and the error says how many there are."""
    (tmp_path / "file").write_bytes(b"12345")

    assert read_regular(tmp_path / "file", 5) == b"12345"
    with pytest.raises(FileTooLargeError, match="it has 5 bytes; at most 4 are allowed") as raised:
        read_regular(tmp_path / "file", 4)
    assert raised.value.size == 5


def test_nothing_is_read_of_a_sparse_file_over_the_limit(tmp_path: Path) -> None:
    """Its size is known before any memory is taken."""
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(FileTooLargeError, match="it has 1,099,511,627,776 bytes"):
        read_regular(tmp_path / "file", 1 << 30)


def a_socket(path: Path) -> None:
    """Bind a socket to a path that may be longer than a socket's address can be."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


IRREGULAR: dict[str, tuple[Callable[[Path], object], str]] = {
    "a FIFO": (os.mkfifo, "it is not a regular file"),
    "a folder": (Path.mkdir, "it is not a regular file"),
    "a socket": (a_socket, "it is not a regular file"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "it is a symbolic link"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "it is a symbolic link"),
    "nothing": (lambda _: None, os.strerror(2)),
}


@pytest.mark.parametrize("name", IRREGULAR)
def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Nothing blocks, and nothing is read."""
    make, sentence = IRREGULAR[name]
    make(tmp_path / "it")

    with pytest.raises(OSError, match=re.escape(sentence)):
        read_regular(tmp_path / "it", 10)


def test_a_folder_in_place_of_a_file_is_kept_under_another_name(tmp_path: Path) -> None:
    """A harness may have made it where the report of the run belongs."""
    (tmp_path / "report.json").mkdir()
    (tmp_path / "report.json" / "file").write_text("kept")
    replace_file(tmp_path / "report.json", b"it")

    [moved] = tmp_path.glob("report.json.moved-*")
    assert (tmp_path / "report.json").read_bytes() == b"it"
    assert (moved / "file").read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_link_is_followed_only_on_request(tmp_path: Path) -> None:
    """A file that a user names may be a link to a regular file, and to nothing else."""
    (tmp_path / "file").write_bytes(b"it")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "device").symlink_to("/dev/zero")

    assert read_regular(tmp_path / "link", 10, follow_links=True) == b"it"
    with pytest.raises(OSError, match="it is not a regular file"):
        open_regular(tmp_path / "device", follow_links=True)
