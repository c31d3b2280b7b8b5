"""The documents of a release, printed: `suite ZIP` describes a suite, and `notes CHANGELOG VERSION` gives the notes."""

import hashlib
import json
import re
import sys
from pathlib import Path

from opconform.suite.reader import open_suite


def suite_document(path: Path) -> str:
    """What an installed suite is checked against, as JSON."""
    header = open_suite(path).header
    document = {
        "version": header.version,
        "format": header.format,
        "digest": header.digest,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "cases": header.cases,
    }
    return json.dumps(document, indent=1) + "\n"


def notes(changelog: str, version: str) -> str:
    """The section of a version in the changelog, or else of what is not released yet."""
    sections = re.split(r"^## \[(.+?)\].*\n", changelog, flags=re.MULTILINE)
    by_version = dict(zip(sections[1::2], sections[2::2], strict=True))
    return by_version.get(version, by_version["Unreleased"]).strip() + "\n"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["suite", path]:
            sys.stdout.write(suite_document(Path(path)))
        case ["notes", path, version]:
            sys.stdout.write(notes(Path(path).read_text(), version))
