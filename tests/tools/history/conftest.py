"""The fake product, without an index, and its history."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.conftest import Run
from tests.tools.history.fake_product import PACKAGE, index

#: Runs the command with the product and some words.
History = Callable[..., "CompletedProcess[str]"]


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the product, whose wheels are all that pip can find."""
    folder = tmp_path_factory.mktemp("fake")
    with pytest.MonkeyPatch.context() as patch:
        index(folder)
        (folder / "counts").mkdir()
        for name, value in {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": folder / "wheels",
            "PIP_CONFIG_FILE": "/dev/null",
            "XDG_CACHE_HOME": folder / "cache",
            "FAKE_COUNTS": folder / "counts",
        }.items():
            patch.setenv(name, str(value))
        yield folder


@pytest.fixture(scope="module")
def history(opconform: Run, offline: Path, small_suite: Path) -> History:
    """The command on the product and the small suite."""

    def run(*words: object, code: int | None = 0) -> "CompletedProcess[str]":
        product = (f"{offline / 'fake_backend.py'}:Fake", "--package", PACKAGE, "--suite", small_suite)
        return opconform("history", *product, *words, code=code)

    return run


@pytest.fixture(autouse=True)
def own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executions are counted anew in each test, so that no test depends on how often others executed a case."""
    (tmp_path / "counts").mkdir()
    monkeypatch.setenv("FAKE_COUNTS", str(tmp_path / "counts"))


def document(out: Path) -> Any:
    """The history in a folder."""
    return json.loads((out / "history.json").read_text())
