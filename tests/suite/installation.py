"""A distribution with a suite, as an installer leaves it."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from opconform.suite.reader import open_suite


def install_suite(site: Path, packed: Path, **changes: Any) -> Path:
    """Install the zip file of a suite as version 2.0.3 of `opconform-suite`, with some keys of `release.json` changed."""
    metadata, folder = site / "opconform_suite-2.0.3.dist-info", site / "opconform_suite"
    for place in (metadata, folder):
        place.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: opconform-suite\nVersion: 2.0.3\n")
    (metadata / "entry_points.txt").write_text("[opconform.suites]\nopconform-suite = opconform_suite\n")
    place = Path(shutil.copy(packed, folder / f"opconform-suite-{open_suite(packed).header.version}.zip"))
    release = {
        "version": "2.0.3",
        "format": 2,
        "sha256": hashlib.sha256(place.read_bytes()).hexdigest(),
        "cases": open_suite(place).header.cases,
    }
    (folder / "release.json").write_text(json.dumps(release | changes))
    return place
