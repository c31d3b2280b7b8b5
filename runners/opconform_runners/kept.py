"""Kept outputs: what a backend returned for the cases that failed, to be shown beside what would have been right."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from opconform.errors import SuiteError
from opconform.files import open_regular
from opconform.npz import arrays_of, member, npz_bytes
from opconform.suite import DAMAGE
from opconform.tensors import Array

KEPT = "actual.zip"
#: The most bytes that are kept of a case, and of a run.
CASE_LIMIT = 1 << 16
RUN_LIMIT = 1 << 24

_MARK = "opconform-actual-outputs"
_NAME = re.compile(r"feed_(\d{1,4})_output_(\d{1,9})")
_NONE: Mapping[tuple[int, int], Array] = {}


def _beginning() -> bytes:
    """The first bytes of such a file: a member that says what it is."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(member(_MARK), b"")
    return stream.getvalue()[: 30 + len(_MARK)]


#: What a file of kept outputs begins with.
KEPT_BEGINNING = _beginning()


class Keeper:
    """Keeps the outputs of cases that fail; a run that has none leaves no file."""

    def __init__(self, out: Path) -> None:
        self._path = out / KEPT
        self._left = RUN_LIMIT
        self._archive: zipfile.ZipFile | None = None

    def keep(self, case: str, outputs: Sequence[Sequence[Array]]) -> None:
        """Keep a case's outputs, an array for each output of each feed, where there is room for them."""
        if sum(each.nbytes for feed in outputs for each in feed) > min(CASE_LIMIT, self._left):
            return
        arrays = {
            f"feed_{feed}_output_{number}": each
            for feed, some in enumerate(outputs)
            for number, each in enumerate(some)
        }
        content = npz_bytes(arrays)
        self._left -= len(content)
        if self._archive is None:
            self._archive = zipfile.ZipFile(self._path, "w")
            self._archive.writestr(member(_MARK), b"")
        self._archive.writestr(member(f"{case}.npz"), content)

    def close(self) -> None:
        """Finish the file, if there is one."""
        if self._archive is not None:
            self._archive.close()


class Kept:
    """What was kept of a run; nothing where its folder has no such file."""

    def __init__(self, out: Path) -> None:
        self._path = out / KEPT
        self._archive: zipfile.ZipFile | None = None
        try:
            open_regular(self._path).close()
            self._archive = zipfile.ZipFile(self._path)
        except FileNotFoundError:
            pass
        except DAMAGE as fault:
            raise SuiteError(f"{self._path} cannot be read: {fault}. Run the suite again.") from fault

    def outputs(self, case: str) -> Mapping[tuple[int, int], Array]:
        """The outputs of a case by feed and number; none where they were not kept.

        Raises:
            SuiteError: They are damaged, or larger than what is kept.
        """
        name = f"{case}.npz"
        if self._archive is None or name not in self._archive.NameToInfo:
            return _NONE
        try:
            if self._archive.getinfo(name).file_size > 2 * RUN_LIMIT:
                raise SuiteError(f"{self._path}:{name} is larger than what is kept. Run the suite again.")
            content = self._archive.read(name)
        except DAMAGE as fault:
            raise SuiteError(f"{self._path}:{name} cannot be read: {fault}. Run the suite again.") from fault
        arrays = arrays_of(content, f"{self._path}:{name}", limit=2 * RUN_LIMIT)
        return {_place(key): each for key, each in arrays.items()}


def _place(name: str) -> tuple[int, int]:
    found = _NAME.fullmatch(name)
    if found is None:
        raise SuiteError(f"{KEPT} holds {name!r}, which is no output. Run the suite again.")
    return int(found[1]), int(found[2])
