"""The suite of the shipped cases in pytest's cache folder, generated if it is missing or out of date."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from opconform.dialects import DIALECTS
from opconform.generation.header import recipe_digest
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs, shipped_specs
from opconform.suite.manifest import HEADER
from opconform.suite.selection import Selection


def cached_suite(cache: pytest.Cache, read: Sequence[str], profiles: tuple[str, ...]) -> Path:
    """The suite of the shipped cases in the dialects that a backend reads; without profiles, of all but `large`."""
    dialects = tuple(each for each in DIALECTS if each in read)
    # One process: worker processes would import the script that called pytest again.
    options = Options(dialects=dialects, jobs=1, selection=Selection(profiles=profiles))
    name = "-".join((*dialects, *sorted(profiles))) or "cases"
    place = cache.mkdir("opconform") / name
    digest = hashlib.sha256(recipe_digest(options).encode())
    for folder in sorted({each.parent for each in shipped_specs()}):
        for file in sorted(folder.glob("*.yaml")):
            digest.update(f"{folder.name}/{file.name}".encode() + b"\0" + file.read_bytes() + b"\0")
    if cache.get(f"opconform/{name}", None) != digest.hexdigest() or not (place / HEADER).exists():
        generate(load_specs([]), place, options)
        cache.set(f"opconform/{name}", digest.hexdigest())
    return place
