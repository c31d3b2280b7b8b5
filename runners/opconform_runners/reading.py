"""Reading: the report of a run that is over, from the folder that it was written to."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opconform.errors import SuiteError
from opconform.suite import Level, RequirementNote
from opconform_runners.report import Report, SuiteNote, Tested, report_document, report_from
from opconform_runners.results import REPORT, RESULTS, Result, read_results

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Keys(BaseModel):
    """Counts and sums are read over here: they follow from the cases, and are compared in the end."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Suite(_Keys):
    digest: _Digest
    version: str
    generator: str
    seed: int
    specification: dict[str, tuple[str, ...]]


class _Implementation(_Keys):
    name: str
    version: str
    device: str | None
    language: str
    dialects: tuple[str, ...]
    mapped: tuple[str, ...]


class _Requirement(_Keys):
    level: Level
    text: str


class _Document(_Keys):
    format: Literal[1]
    suite: _Suite
    implementation: _Implementation
    started: str = ""
    whole: bool
    strict: bool
    gave_up: str | None
    missing: tuple[str, ...]
    requirements: dict[str, dict[str, _Requirement]]
    cases: tuple[Result, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A run that is over: its folder, and its report."""

    folder: Path
    report: Report


def finished(path: Path) -> Finished:
    """The run of a folder, or of its `results.jsonl` or `report.json`.

    Raises:
        SuiteError: There is no report, it breaks the format, or it contradicts itself or the results beside it.
    """
    folder = path.parent if path.name in (RESULTS, REPORT) else path
    place = folder / REPORT
    try:
        content = place.read_bytes()
    except OSError as fault:
        raise SuiteError(f"{place} cannot be read: {fault.strerror}. Name a folder that `run` wrote.") from fault
    try:
        document = _Document.model_validate_json(content)
    except ValidationError as fault:
        error = fault.errors(include_url=False)[0]
        where = ".".join(str(each) for each in error["loc"])
        raise SuiteError(f"{place} is not a report: {where}: {error['msg']}. Run the suite again.") from fault
    report = _report_of(document)
    if _differs(report, content) or (not report.missing and read_results(folder / RESULTS) != list(report.results)):
        raise SuiteError(f"{place} was changed after the run, or {RESULTS} is another run's. Run the suite again.")
    return Finished(folder=folder, report=report)


def _report_of(document: _Document) -> Report:
    return report_from(
        SuiteNote(**dict(document.suite)),
        {
            op: {name: RequirementNote(level=each.level, text=each.text) for name, each in rows.items()}
            for op, rows in document.requirements.items()
        },
        Tested(**dict(document.implementation)),
        document.cases,
        missing=document.missing,
        gave_up=document.gave_up,
        whole=document.whole,
        strict=document.strict,
        started=document.started,
    )


def _differs(report: Report, content: bytes) -> bool:
    """Whether a report says something else than what follows from its cases."""
    said, right = json.loads(content), report_document(report)
    return any(said.get(name) != right[name] for name in ("conformant", "summary", "profiles", "requirements"))
