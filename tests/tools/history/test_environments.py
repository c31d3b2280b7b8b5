"""The environment of a release, without installing anything."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from opconform.errors import DiskError, HarnessError, UsageError
from opconform_runners.backends.backend import Implementation
from opconform_runners.tools.history import environments as module
from opconform_runners.tools.history.environments import Environments
from opconform_runners.tools.history.installer import Installer
from tests.conftest import MINIATURES

STARTED = Implementation(name="some", version="1", element_types=(), dynamic=True, bindings=())


def prepared(cache: Path, install: Callable[[tuple[str, ...]], None], version: str = "1.0") -> Environments:
    """An environment whose packages are installed by a function, and whose backend starts."""
    environments = Environments(cache=cache, package="some", backend=f"{MINIATURES}:Perfect", others=("other",))

    def make(place: Path, *_: str) -> None:
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python").touch()

    with (
        mock.patch.object(module, "make_environment", make),
        mock.patch.object(Installer, "install", lambda _self, _python, *words: install(words)),
        mock.patch.object(Environments, "implementation", return_value=STARTED),
    ):
        environments.prepare(version, Installer(python="python"))
    return environments


def test_the_older_numpy_is_tried_first(tmp_path: Path) -> None:
    """OpenVINO 2023.0 does not say that it was built for it, and returns wrong data with the newer one."""
    asked: list[tuple[str, ...]] = []

    def install(words: tuple[str, ...]) -> None:
        asked.append(words)
        if "numpy<2" in words:
            raise HarnessError("some needs numpy 2")

    prepared(tmp_path, install)

    assert asked == [
        ("some==1.0", "other", "numpy<2", "ml_dtypes", "pydantic"),
        ("some==1.0", "other", "numpy", "ml_dtypes", "pydantic"),
    ]


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    """And again if its making was interrupted, or its mark is damaged."""
    asked: list[str] = []
    environments = prepared(tmp_path, lambda words: asked.append(words[0]))
    prepared(tmp_path, lambda words: asked.append(words[0]))
    (environments.place("1.0") / "opconform.json").unlink()
    prepared(tmp_path, lambda words: asked.append(words[0]))
    (environments.place("1.0") / "opconform.json").write_bytes(b"\xff" * 20)
    prepared(tmp_path, lambda words: asked.append(words[0]))
    prepared(tmp_path, lambda words: asked.append(words[0]), "0.9")

    assert asked == ["some==1.0", "some==1.0", "some==1.0", "some==0.9"]
    assert environments.installed() == ("0.9", "1.0")


def test_only_a_folder_of_its_own_is_a_cache(tmp_path: Path) -> None:
    """Since all in it may be removed."""
    mine, foreign = tmp_path / "mine", tmp_path / "foreign"
    (foreign / "some").mkdir(parents=True)
    for _ in range(2):
        Environments(cache=mine, package="some", backend=f"{MINIATURES}:Perfect").claim()

    with pytest.raises(UsageError, match=r"foreign contains files that are not opconform's. Name another --cache.$"):
        Environments(cache=foreign, package="some", backend=f"{MINIATURES}:Perfect").claim()
    assert [path.name for path in mine.iterdir()] == ["CACHEDIR.TAG"]
    assert [path.name for path in foreign.iterdir()] == ["some"]


def test_nothing_is_left_of_an_environment_that_cannot_be_made(tmp_path: Path) -> None:
    """The last reason is given."""

    def install(words: tuple[str, ...]) -> None:
        raise HarnessError(f"no {words[2]}")

    with pytest.raises(HarnessError, match=r"^no numpy$"):
        prepared(tmp_path, install)
    assert [path.name for path in (tmp_path / "some").iterdir() if path.is_dir()] == []


def test_a_disk_that_is_full_ends_the_command(tmp_path: Path) -> None:
    """Although the installer gives another reason for each release."""

    def install(_: tuple[str, ...]) -> None:
        raise HarnessError(f"OSError: [Errno 28] {os.strerror(errno.ENOSPC)}")

    with pytest.raises(DiskError, match=r" cannot be written: No space left on device\. Free some space"):
        prepared(tmp_path, install)
