"""The suite of the shipped cases in pytest's cache folder."""

import hashlib
import time
from pathlib import Path

import pytest

from opconform.dialects import DIALECTS
from opconform.errors import UsageError, counted
from opconform.generation.identity.recipe import recipe_digest
from opconform.generation.options import Options
from opconform.generation.pipeline import OnProgress, generate
from opconform.specs.index import shipped_files
from opconform.specs.loader import load_specs
from opconform.suite.file_names import HEADER
from opconform.suite.selection.quick import QUICK, quick_cases
from opconform.suite.selection.selection import Selection
from opconform_runners.backends.backend import Implementation
from opconform_runners.pytest_plugin.items import shown_path

#: The least time between two lines about the generation of a suite, in seconds.
_SECONDS_BETWEEN_LINES = 10.0


def cached_suite(config: pytest.Config, implementation: Implementation, profiles: tuple[str, ...]) -> Path:
    """The suite of the shipped cases in the dialects that a backend reads; without profiles, of all but `large`.

    It lies in pytest's cache folder, and is generated if it is missing or out of date.
    """
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if cache is None:
        raise UsageError("A suite cannot be generated without pytest's cache. Name one with --opconform-suite.")
    dialects = tuple(dialect for dialect in DIALECTS if dialect in implementation.dialects)
    # One process: worker processes would import the script that called pytest again.
    options = Options(dialects=dialects, jobs=1, selection=Selection(profiles=profiles))
    name = "-".join((*dialects, *sorted(profiles))) or "cases"
    place = cache.mkdir("opconform") / name
    digest = hashlib.sha256(recipe_digest(options).encode())
    digest.update(repr(quick_cases() if QUICK in profiles else "").encode())
    for folder in sorted({shipped_file.parent for shipped_file in shipped_files().values()}):
        for file in sorted(folder.glob("*.yaml")):
            digest.update(f"{folder.name}/{file.name}".encode() + b"\0" + file.read_bytes() + b"\0")
    if cache.get(f"opconform/{name}", None) != digest.hexdigest() or not (place / HEADER).exists():
        generate(load_specs([]), place, options, _progress(config, place))
        cache.set(f"opconform/{name}", digest.hexdigest())
    return place


def _progress(config: pytest.Config, place: Path) -> OnProgress:
    """Says at once that a suite is generated, and then from time to time how much of it is done."""
    terminal: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    written_at = [time.monotonic()]

    def tell(sentence: str) -> None:
        if terminal is not None:
            terminal.write_line(f"opconform: {sentence}")
            terminal.flush()

    def on_progress(fraction: float, done: int) -> None:
        if time.monotonic() - written_at[0] >= _SECONDS_BETWEEN_LINES:
            written_at[0] = time.monotonic()
            tell(f"{counted(done, 'case')}, {fraction:.0%}")

    tell(f"generating the shipped cases in {shown_path(place)}; later runs use them again")
    return on_progress
