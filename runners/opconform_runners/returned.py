"""Returned: the files of outputs that a harness wrote, or why they cannot be read."""

from pathlib import Path

from opconform.errors import SuiteError
from opconform.npz import arrays_of
from opconform.tensors import Array

#: The most bytes that the outputs of a case that is played here may take.
_OUTPUT_LIMIT = 1 << 26


def outputs_in(path: Path, folder: Path) -> tuple[Array, ...] | str:
    """The outputs in a file, in their order, or what is wrong with it.

    Args:
        path: The file.
        folder: Where it may lie by mistake.
    """
    if not path.exists():
        elsewhere = sorted(each for each in folder.rglob(path.name) if each.is_file())
        return f"there is no file {path}" + (f"; there is {elsewhere[0]}" if elsewhere else "")
    if path.stat().st_size > _OUTPUT_LIMIT:
        return f"{path} takes {path.stat().st_size:,} bytes"
    try:
        arrays = arrays_of(path.read_bytes(), str(path), limit=_OUTPUT_LIMIT)
    except (SuiteError, OSError) as fault:
        return str(fault).rstrip(".")
    names = [f"output_{number}" for number in range(len(arrays))]
    if not arrays or set(arrays) != set(names):
        return (
            f"the arrays in {path} are called {', '.join(sorted(arrays)) or 'nothing'}, and not output_0, output_1, …"
        )
    return tuple(arrays[name] for name in names)
