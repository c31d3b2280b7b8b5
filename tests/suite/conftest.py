"""A store in memory, at `test://`."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem


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

    def pipe_file(self, path: str, value: bytes, **given: Any) -> None:
        """Write a small file."""
        self._ask("pipe", path)
        super().pipe_file(path, value, **given)

    def ls(self, path: str, **_: Any) -> None:
        """Refuse to list."""
        raise AssertionError(f"{path} is listed")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Store]]:
    """An empty store at `test://`."""
    fsspec.register_implementation("test", Store, clobber=True)
    Store.store, Store.pseudo_dirs, Store.requests = {}, [""], Counter()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-cache")))
    monkeypatch.chdir(tmp_path)
    yield Store
    Store.fail = staticmethod(lambda *_: None)


def failing(error: Exception, request: str = "") -> Callable[[str, str], None]:
    """Fail all requests, or those of one name."""

    def fail(name: str, _path: str) -> None:
        if request in ("", name):
            raise error

    return staticmethod(fail)


def working(_name: str, _path: str) -> None:
    """Fail no request."""
