"""The table of releases: `python -m maintenance.releases` generates the shipped suite and writes its row of the table.

With names of operations, it renews what the row has of these.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maintenance import ROOT
from opconform.generation.identity.header import SUITE_VERSION
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import Suite, open_suite
from opconform.suite.release import TABLE, cases_of, specs_digests
from opconform.system.temporary import TemporaryFolder

PAGE = ROOT / "cases" / TABLE
#: The dialects of a release, which has no models of older opsets.
RELEASED = ("openvino", "onnx", "stablehlo")
#: The indentation of an operation in a profile.
DEPTH = 4


def release_of(suite: Suite) -> dict[str, Any]:
    """The row of a suite: its seed, the digests of its specs, and its cases by operation and profile."""
    cases: dict[str, dict[str, Any]] = {}
    for (op, profile), found in cases_of(suite.entries).items():
        cases.setdefault(op, {})[profile] = {"cases": found.cases, "digests": dict(found.digests)}
    return {"seed": suite.header.seed, "specs": specs_digests(suite.header.specs), "cases": cases}


def table_text(releases: Mapping[str, Any]) -> str:
    """The table with one line per operation and profile, so that a change is easy to review."""
    text = json.dumps(releases, indent=1, sort_keys=True)
    return "\n".join(_joined(text.splitlines())) + "\n"


def _joined(lines: list[str]) -> list[str]:
    """The lines; each operation in a profile, is on one of them."""
    rows: list[str] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if indent > DEPTH or (indent == DEPTH and line.lstrip().startswith("}")):
            rows[-1] += line.strip() if rows[-1].endswith("{") or line.lstrip().startswith("}") else f" {line.strip()}"
        else:
            rows.append(line)
    return rows


def renewed(table: Mapping[str, Any], operations: Sequence[str]) -> dict[str, Any]:
    """The table with the row of the present version; of some operations alone if any are named."""
    with TemporaryFolder() as folder:
        options = Options(dialects=RELEASED, jobs=os.cpu_count() or 1)
        made = generate(load_specs([*map(Path, operations)]), Path(folder) / "suite", options)
        row = release_of(open_suite(made.out))
    if operations:
        known = table[SUITE_VERSION]
        row |= {key: known[key] | row[key] for key in ("specs", "cases")}
    return {**table, SUITE_VERSION: row}


if __name__ == "__main__":
    stored = json.loads(PAGE.read_text()) if PAGE.exists() else {}
    PAGE.write_text(table_text(renewed(stored, sys.argv[1:])))
