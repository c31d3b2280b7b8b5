"""Where the cases and templates that opconform ships lie."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def root() -> Traversable:
    """The folder that holds `cases` and `templates`: as installed or, in a checkout, the top level."""
    installed = files("opconform") / "_data"
    return installed if installed.is_dir() else Path(__file__).parents[2]
