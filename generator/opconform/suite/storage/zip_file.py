"""Zip files of suites and results: the same files give the same bytes."""

import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

from opconform.system.files import open_regular
from opconform.tensors.npz import member

#: How many bytes are copied at a time.
_BLOCK = 1 << 20


def write_zip(folder: Path, names: Iterable[str], place: Path) -> None:
    """Write files of a folder to a zip file, in the given order; `OSError` for a link, and if the disk is full."""
    with zipfile.ZipFile(place, "w") as archive:
        for name in names:
            metadata = member(name)
            with open_regular(folder / name) as source:
                metadata.file_size = os.fstat(source.fileno()).st_size  # zip64 for large files alone: Pythons differ
                with archive.open(metadata, "w") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
