"""Scripts that write files of the repository: `python -m maintenance.findings` writes a page of the docs again."""

from pathlib import Path

#: The root of the repository.
ROOT = Path(__file__).parents[1]
