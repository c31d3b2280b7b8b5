"""The format `numpy`: `.npz` files, and a loader and a comparison that need only numpy."""

from collections.abc import Sequence
from pathlib import Path

from opconform.suite.file_names import CASE
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, tensors_of
from opconform.system.resources import text_of
from opconform_runners.execution.progress import OnProgress
from opconform_runners.tools.export.folder import written_cases


def write(suite: Suite, entries: Sequence[Entry], _model: str, out: Path, on_progress: OnProgress) -> None:
    """Write a folder per case, without models."""
    for entry in written_cases(entries, on_progress):
        folder = out / "cases" / entry.id
        folder.mkdir(parents=True)
        arrays = [name for name, _ in tensors_of(suite.case(entry), blind=False)]
        for name in (CASE, *arrays):
            (folder / name).write_bytes(suite.read(entry, name))
    for name in ("loader", "comparison"):
        (out / f"{name}.py").write_text(text_of(f"export/{name}.py.j2"), encoding="utf-8")
    (out / "README.md").write_text(text_of("export/numpy.md"), encoding="utf-8")
