"""The results of a product's release on a profile, from the JSON file beside its findings."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from opconform.suite.names import CaseId


class FailingCase(BaseModel):
    """A failing case: why it fails, the requirements that it breaks, and the numbers of the findings that it shows."""

    model_config = ConfigDict(frozen=True)

    reason: str | None = None
    broken: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()


class ReleaseResults(BaseModel):
    """What a release gave: the number of cases by verdict of each operation, and its failing cases."""

    model_config = ConfigDict(frozen=True)

    suite: str
    digest: str
    profile: str
    version: str
    operations: Mapping[str, Mapping[str, int]]
    failures: Mapping[CaseId, FailingCase]


def results_beside(findings: Path) -> ReleaseResults | None:
    """The results beside a file of findings, or None if there are none yet."""
    path = findings.with_suffix(".json")
    return ReleaseResults.model_validate_json(path.read_bytes()) if path.is_file() else None
