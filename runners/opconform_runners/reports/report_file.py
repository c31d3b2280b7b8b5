"""The file `report.json`: the report of a run, written and read."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import from_json

from opconform.errors import DiskError, MissingError, SuiteError, UsageError, counted
from opconform.suite.path_kind import check_kind
from opconform.suite.reader import open_suite
from opconform.system.files import read_regular, replacement
from opconform_runners.backends.backend import HARDWARE
from opconform_runners.execution.case_verdicts import results_of
from opconform_runners.execution.log.outcomes import log_in
from opconform_runners.execution.log.suite_place import suite_of_results
from opconform_runners.execution.scale.stream import killed_run
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.known.failures import Known
from opconform_runners.findings.report import Report, report_of
from opconform_runners.findings.support.claims_file import claims_in
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts.agreement import check_agreement
from opconform_runners.verdicts.baseline import Comparison
from opconform_runners.verdicts.results import (
    OUTCOMES,
    REPORT,
    RESULTS,
    RESULTS_LIMIT,
    WrittenResults,
    read_written,
)
from opconform_runners.verdicts.run_header import progress_of, suite_document


@dataclass(frozen=True, kw_only=True)
class _Noted:
    """What `report.json` has and the results have not; it has the attributes of `Report`.

    The requirements are in the order of the specification, which results do not keep.
    """

    __pydantic_config__ = ConfigDict(extra="ignore")

    requirements: Mapping[str, Mapping[str, object]]
    missing: tuple[str, ...]
    gave_up: str | None
    baseline: Comparison | None = None
    findings: tuple[Finding, ...]
    known: Known | None = None


_NOTED = TypeAdapter(_Noted)
_REPORT = TypeAdapter(Report)
_INCIDENTS = TypeAdapter(tuple[Incident, ...])


class Finished(NamedTuple):
    """A run that has ended: its folder, and its report."""

    folder: Path
    report: Report


def finished(place: Path, suite: Path | None = None) -> Finished:
    """The run in a folder, or of a `results.jsonl` or `report.json`.

    Complete results are checked against their suite: the named one, or one in the folder or beside it.
    """
    path = _results_path(place)
    report = read_report(place, suite)
    if not path.is_file():
        return Finished(path.parent, report)
    written = read_written(path)
    place_of_suite = suite or suite_of_results(path.parent)
    if written.is_complete and place_of_suite is not None:
        check_agreement(written.header, report.results, open_suite(place_of_suite), path)
    return Finished(path.parent, report)


def read_report(place: Path, suite: Path | None = None) -> Report:
    """The report of a run, with its verdict computed again from its results.

    The report of an interrupted run is incomplete; a run that was killed has neither report nor results, and both
    are made from its log and its suite, which is searched for beside it unless it is named, or from the suites of
    its batches. Results that are missing or were changed, and the report of another run, are a SuiteError.
    """
    path = _results_path(place)
    if not path.is_file() and path.with_name(OUTCOMES).is_file():
        return _report_of_log(path.parent, suite)
    derived = _report_of_results(written := read_written(path))
    place = path.with_name(REPORT)
    if not place.is_file():
        return derived
    try:
        content = from_json(read_regular(place, RESULTS_LIMIT))
        noted = _NOTED.validate_python(content)
    except OSError as error:
        raise SuiteError(f"{place} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SuiteError(f"{place} is not a report that opconform wrote. Repeat the run.") from error
    names = ((op, name) for op, rows in noted.requirements.items() for name in rows)
    places = {name: place for place, name in enumerate(names)}
    notes = {
        op: dict(sorted(rows.items(), key=lambda row: places.get((op, row[0]), 0)))
        for op, rows in derived.notes.items()
    }
    report = replace(
        derived,
        notes=notes,
        missing=noted.missing,
        gave_up=noted.gave_up,
        baseline=noted.baseline,
        findings=noted.findings,
        known=noted.known,
    )
    failing = {result.id for result in report.results if result.verdict == "fail"}
    if (
        report_document(report) | {"results": _digest(path)} != content
        or report.cases + len(set(report.missing)) != written.header.cases
        or not failing.issuperset(case for finding in report.findings for case in finding.cases)
    ):
        raise SuiteError(f"{place} does not match {path}: it was changed, or is of another run. Repeat the run.")
    return report


def write_report(out: Path, report: Report) -> None:
    """Write `report.json` atomically; a DiskError if it cannot be written."""
    try:
        document = report_document(report) | {"results": _digest(out / RESULTS)}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        with replacement(out / REPORT) as file:
            file.write(f"{text}\n".encode())
    except OSError as error:
        raise DiskError(out / REPORT, error) from error


def _digest(results: Path) -> str:
    with results.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def report_document(report: Report) -> dict[str, object]:
    """A report as a JSON object."""
    requirements: dict[str, dict[str, object]] = {
        op: {} for op in sorted({requirement.op for requirement in report.requirements})
    }
    for item in report.requirements:
        row = {
            "level": item.level,
            "text": item.text,
            "broken": item.is_broken,
            **item.counts,
            "profiles": [*item.profiles],
        }
        requirements[item.op][item.id] = row
    plain = _REPORT.dump_python(
        report, mode="json", exclude={"notes": True, "results": True, "claims": True, "implementation": HARDWARE}
    )
    head = (
        "format",
        "suite",
        "implementation",
        "started",
        "environment",
        "outputs",
        "shard",
        "whole",
        "partial",
        "strict",
        "least_accuracy",
    )
    document = {name: plain[name] for name in head if plain[name] is not None}
    document["suite"] = suite_document(plain["suite"])
    document |= {
        "conformant": report.conformant,
        "incomplete": list(report.incomplete),
        "coverage": {"supported": report.supported, "cases": report.cases + len(report.missing)},
        "gave_up": report.gave_up,
        "missing": list(report.missing),
        "summary": report.summary,
        "profiles": report.profiles,
        "requirements": requirements,
        "findings": [
            {k: v for k, v in finding.items() if v or k not in ("causes", "subgraph")} for finding in plain["findings"]
        ],
    }
    if report.accuracy:
        document["accuracy"] = {
            op: {name: asdict(x) for name, x in accuracies.items()} for op, accuracies in report.accuracy.items()
        }
    if report.implementation.flushes_denormals:
        document["flushed"] = report.flushed
    if report.packs is not None:
        document["packs"] = asdict(report.packs) | {"differing": list(report.packs.differing)}
    if report.incidents:
        document["incidents"] = _INCIDENTS.dump_python(report.incidents, mode="json")
    if report.claimed is not None:
        document["claims"] = asdict(report.claimed)
    if report.tallies:
        document["tallies"] = plain["tallies"]
    if report.known is not None:
        document["known"] = plain["known"]
    return document if report.baseline is None else document | {"baseline": plain["baseline"]}


def _results_path(place: Path) -> Path:
    if place.is_dir():
        runs = [] if (place / RESULTS).exists() else sorted(path.parent for path in place.glob(f"*/{RESULTS}"))
        if runs:
            raise UsageError(f"{place} is a folder of runs. Name one of them: {', '.join(map(str, runs))}.")
    check_kind(place, "results")
    if place.is_dir():
        return place / RESULTS
    return place.with_name(RESULTS) if place.name == REPORT else place


def _report_of_results(written: WrittenResults) -> Report:
    """The report that follows from results alone."""
    results = written.results
    gave_up = None if written.is_complete else f"Interrupted {progress_of(len(results), written.header.cases)}"
    return report_of(written.header, results, gave_up=gave_up)


def _report_of_log(out: Path, suite: Path | None) -> Report:
    """The report of a run that was killed."""
    log = log_in(out)
    if log.header.streamed is not None:
        if not log.batches:
            sentence = f"The run in {out} was killed before its first batch was finished."
            raise MissingError(f"{sentence} Run the same command again.")
        header, results = killed_run(log, out)
        return report_of(header, results, gave_up=f"Interrupted after {counted(header.cases, 'case')}")
    place_of_suite = suite or suite_of_results(out)
    if place_of_suite is None:
        advice = "Run the same command again to continue, or name its suite with `report --suite`."
        raise MissingError(f"The run in {out} was killed before it had results. {advice}")
    results = results_of(log, open_suite(place_of_suite), claims_in(log.header))
    return report_of(log.header, results, gave_up=f"Interrupted {progress_of(len(results), log.header.cases)}")
