"""Generation on other machines: the bytes of the suite are the same."""

import pickle
from collections.abc import Callable, Generator, Iterable
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


class Elsewhere:
    """Workers to which everything goes as bytes, as to another machine."""

    tasks = 0

    def in_order(self, function: Callable[[Any], Any], items: Iterable[tuple[Any, Any]]) -> Generator[tuple[Any, Any]]:
        """Execute what the other machine reads."""
        for key, item in items:
            self.tasks += 1
            yield key, as_bytes(function(as_bytes(item)))


def as_bytes(value: Any) -> Any:
    """A value, as bytes and back."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - just written


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """Workers that get two cases at a time."""
    monkeypatch.setattr(workers, "_REMOTE_BATCH", 2)
    return Elsewhere()


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
