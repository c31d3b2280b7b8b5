"""Reading back what a run wrote: its results, and what its report says of the suite and the backend."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import MissingError, SuiteError
from opconform.files import read_regular
from opconform.suite.manifest import Level, RequirementNote
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.journal import read_steps, results_so_far
from opconform_runners.harness.environment import UNKNOWN, Environment
from opconform_runners.reports.report import Report, report_document, summed_up
from opconform_runners.verdicts.baseline_check import Comparison
from opconform_runners.verdicts.origin import SuiteNote
from opconform_runners.verdicts.results import (
    REPORT,
    RESULTS,
    RESULTS_LIMIT,
    Result,
    placements_of,
    read_results,
    read_written,
    result_document,
)
from opconform_runners.verdicts.run_header import progress_of

#: What a report says that follows from its cases.
_CONCLUDED = ("conformant", "incomplete", "coverage", "summary", "profiles", "requirements")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """What is read of a requirement in `report.json`; its counts are counted again."""

    __pydantic_config__ = ConfigDict(extra="ignore")

    level: Level
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Document:
    """What is read of `report.json`; everything that follows from the results is worked out again."""

    __pydantic_config__ = ConfigDict(extra="ignore")

    format: Literal[1]
    suite: SuiteNote
    implementation: Implementation
    started: str = ""
    requirements: Mapping[str, Mapping[str, _Row]]
    whole: bool
    strict: bool
    missing: tuple[str, ...]
    gave_up: str | None
    cases: tuple[Result, ...]
    environment: Environment = UNKNOWN
    outputs: str | None = None
    baseline: Comparison | None = None


_DOCUMENT = TypeAdapter(_Document)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A run that is over: its folder, and its report."""

    folder: Path
    report: Report


def finished(place: Path) -> Finished:
    """The run of a folder, or of its `results.jsonl` or `report.json`; raises what `read_report` raises."""
    return Finished(folder=results_path(place).parent, report=read_report(place))


def results_path(place: Path) -> Path:
    """The results that a folder or a file stands for: `report.json` stands for the results beside it."""
    if place.is_dir():
        return place / RESULTS
    return place.with_name(RESULTS) if place.name == REPORT else place


def read_report(place: Path) -> Report:
    """The report of a run, worked out again from its results.

    An interrupted run gives an incomplete report with what it found: from `report.json` where it could still write one,
    and from its results where it was killed.

    Args:
        place: The folder of the run, or its `results.jsonl`.

    Raises:
        SuiteError: The results are missing or were changed, or the report beside them is of another run.
    """
    path = results_path(place)
    report = path.with_name(REPORT)
    if not report.is_file():
        if not path.is_file():
            raise MissingError(
                f"There are no results at {path}. Write them with `opconform run` or `opconform certify`."
            )
        return _report_of_results(path)
    content = _content_of(report)
    document = _document_of(report, content)
    read = _report_of(document)
    if _differs(read, content):
        raise SuiteError(f"{report} was changed after the run: it does not follow from its own cases. Run it again.")
    if not document.missing and document.gave_up is None and not _same(read_results(path), document.cases):
        raise SuiteError(f"{report} is not of the same run as {path}. Run it again.")
    return read


def _content_of(path: Path) -> bytes:
    try:
        return read_regular(path, RESULTS_LIMIT)
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}.") from fault


def _document_of(path: Path, content: bytes) -> _Document:
    try:
        return _DOCUMENT.validate_json(content)
    except ValidationError as fault:
        raise SuiteError(f"{path} is no report that opconform wrote. Run it again.") from fault


def _same(ours: Iterable[Result], theirs: Iterable[Result]) -> bool:
    """Whether two runs came to the same, case by case."""
    one, other = (sorted(map(result_document, each), key=itemgetter("id")) for each in (ours, theirs))
    return one == other


def _differs(report: Report, content: bytes) -> bool:
    """Whether a file says something else than what follows from its cases."""
    said, right = json.loads(content), report_document(report)
    return any(said.get(name) != right[name] for name in _CONCLUDED)


def _report_of(document: _Document) -> Report:
    notes = {
        op: {name: RequirementNote(level=each.level, text=each.text) for name, each in rows.items()}
        for op, rows in document.requirements.items()
    }
    return summed_up(
        suite=document.suite,
        implementation=document.implementation,
        started=document.started,
        notes=notes,
        results=document.cases,
        missing=document.missing,
        gave_up=document.gave_up,
        whole=document.whole,
        strict=document.strict,
        environment=document.environment,
        outputs=document.outputs,
        baseline=document.baseline,
    )


def _report_of_results(path: Path) -> Report:
    """The report of a run that was ended before it wrote one."""
    written = read_written(path)
    header = written.header
    if written.is_complete:
        results, gave_up = read_results(path), None
    else:
        steps = read_steps(path, written.lines)
        executed = len({each.result.id for each in steps})
        results, gave_up = results_so_far(steps), f"Interrupted {progress_of(executed, header.cases)}"
    return summed_up(
        suite=header.suite,
        implementation=header.implementation,
        started=header.started,
        notes=header.requirements,
        results=results,
        missing=(),
        gave_up=gave_up,
        whole=header.whole,
        strict=header.strict,
        environment=header.environment.placed(placements_of(results)),
        outputs=header.outputs,
        baseline=None,
    )
