"""A conformance test-suite generator for tensor operations."""

TYPE_CHECKING = False  # without an import, since `python -m` could take a module of the current folder
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opconform_runners.tools.dataset import Example

__version__ = "0.1.0"
__all__ = ["load"]


def load(suite: "str | Path") -> "Iterator[Example]":
    """The cases of a suite with typed arrays, as in `for case in opconform.load("suite")`.

    See `opconform_runners.tools.dataset.load`, which is imported when this is called: `import opconform` reads nothing.
    """
    from opconform_runners.tools import dataset

    return dataset.load(suite)
