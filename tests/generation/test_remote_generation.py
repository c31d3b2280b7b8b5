"""Generation on an executor: the bytes of the suite are the same."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import UsageError
from opconform.generation.options import Limits, Options
from opconform.generation.output import workers
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform.suite.verification import problems_of


class Elsewhere(ThreadPoolExecutor):
    """Workers to which everything goes as bytes, as to another machine."""

    tasks = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> "Future[Any]":
        """Execute what the other machine reads."""
        self.tasks += 1
        sent = pickle.dumps((fn, args))
        return super().submit(answered, sent)


def answered(sent: bytes) -> Any:
    """The result of a task, as bytes and back."""
    function, arguments = pickle.loads(sent)  # noqa: S301 - just written
    return pickle.loads(pickle.dumps(function(*arguments)))  # noqa: S301 - the same


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Executor:
    """Two workers, which get two cases at a time."""
    monkeypatch.setattr(workers, "_REMOTE_BATCH", 2)
    return Elsewhere(2)


def test_the_suite_is_the_same(small_spec: Path, small_suite: Path, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """Every file of it."""
    generate(load_specs([small_spec]), tmp_path / "suite", Options(executor=elsewhere))

    assert open_suite(tmp_path / "suite").header == open_suite(small_suite).header
    assert not [*problems_of(tmp_path / "suite")]
    assert elsewhere.tasks == 3


def test_an_error_ends_it(small_spec: Path, elsewhere: Elsewhere, tmp_path: Path) -> None:
    """No part of a suite is left."""
    with pytest.raises(UsageError, match="more than the limit of"):
        generate(load_specs([small_spec]), tmp_path / "suite", Options(executor=elsewhere, limits=Limits(bytes=5_000)))

    assert not [*tmp_path.iterdir()]
