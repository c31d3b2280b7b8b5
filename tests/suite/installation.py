"""A distribution with a suite, as an installer leaves it."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from opconform.generation.identity.header import SUITE_VERSION
from opconform.suite.file_names import MANIFEST
from opconform.suite.reader import open_suite
from tests.conftest import ROOT
from tests.forgery import seal
from tests.robustness.hostile_suites import packed


def packed_as(version: str, suite: Path, place: Path) -> Path:
    """A suite as the zip file `place`, which says that it is of a version."""
    copy = Path(shutil.copytree(suite, place.with_suffix("")))
    seal(copy, (copy / MANIFEST).read_bytes(), lambda header: replace(header, version=version))
    return packed(copy, place)


def install_suite(site: Path, suite: Path, **changes: Any) -> Path:
    """Install the zip file of a suite as version 2.0.3 of `opconform-suite`, with some keys of `release.json` changed."""
    metadata, folder = site / "opconform_suite-2.0.3.dist-info", site / "opconform_suite"
    for place in (metadata, folder):
        place.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: opconform-suite\nVersion: 2.0.3\n")
    (metadata / "entry_points.txt").write_text("[opconform.suites]\nopconform-suite = opconform_suite\n")
    place = Path(shutil.copy(suite, folder / f"opconform-suite-{open_suite(suite).header.version}.zip"))
    release = {
        "version": "2.0.3",
        "format": 2,
        "sha256": hashlib.sha256(place.read_bytes()).hexdigest(),
        "cases": open_suite(place).header.cases,
    }
    (folder / "release.json").write_text(json.dumps(release | changes))
    return place


def operations_of_release() -> int:
    """How many operations, with graphs, the release of the suite has."""
    table = json.loads((ROOT / "cases" / "releases.json").read_text())
    return len(table[SUITE_VERSION]["cases"])
