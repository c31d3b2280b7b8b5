"""The files of the site, in a folder or in a zip file whose bytes depend on the files only."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from opconform.tensors.npz import member


def write_folder(out: Path, files: Mapping[str, str]) -> None:
    """Write files by their names, which use `/`."""
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_zip(out: Path, files: Mapping[str, str]) -> None:
    """Write a zip file with the files in the order of their names, all of the same date."""
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in sorted(files.items()):
            archive.writestr(member(name), text.encode(), zipfile.ZIP_DEFLATED)
