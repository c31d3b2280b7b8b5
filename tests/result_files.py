"""The result files of a run as JSON."""

import json
from pathlib import Path
from typing import Any


def report_in(folder: Path) -> Any:
    """The `report.json` of a run, and the lines of its `results.jsonl` as `cases`."""
    return json.loads((folder / "report.json").read_text()) | {"cases": cases_in(folder)}


def cases_in(folder: Path) -> list[Any]:
    """The cases in the `results.jsonl` of a run."""
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()[1:-1]]
