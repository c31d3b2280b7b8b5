"""The history of a product as a JSON document, and as tables and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.table import Table

from opconform.errors import UsageError, counted
from opconform.system.files import json_of, read_regular
from opconform.system.text import one_line
from opconform_runners.findings.history import MOST, ODDS, DatedFinding, History, Interval, Trials
from opconform_runners.verdicts.results import RESULTS_LIMIT

FORMAT = 1
#: The document in the folder of a history.
DOCUMENT = "history.json"
#: The most findings that are printed, and the most characters of why a release was not run.
_MOST, _LONGEST = 25, 160
#: The verdicts that are counted for each release.
COUNTED = ("pass", "fail", "unsupported", "inconclusive", "error")

_REPEATS = TypeAdapter(dict[str, dict[str, Trials]])
_INTERVALS = TypeAdapter(tuple[Interval, ...])


def history_document(history: History) -> dict[str, Any]:
    """A history as a JSON object: releases, findings, and the cases that failed in any of them with their intervals."""
    changes = history.changes
    return {
        "format": FORMAT,
        "product": history.product,
        "suite": next((report.suite.digest for report in history.reports.values()), None),
        "releases": [
            {
                "version": release.version,
                "why": release.why,
                "summary": None if release.report is None else release.report.summary,
                "new": changes.get(release.version, (0, 0))[0],
                "mended": changes.get(release.version, (0, 0))[1],
            }
            for release in history.releases
        ],
        "findings": [_finding(finding) for finding in history.findings],
        "cases": {
            case: {
                "intervals": [asdict(found) for found in of_case],
                "states": dict(history.states(case)),
                "trials": {version: asdict(history.trials(case, version)) for version in history.reports},
            }
            for case, of_case in history.intervals.items()
        },
        "repeats": {
            case: {version: asdict(trials) for version, trials in of_case.items()}
            for case, of_case in history.repeats.items()
        },
    }


def _finding(dated: DatedFinding) -> dict[str, object]:
    finding = dated.shown.finding
    return {
        "severity": finding.severity,
        "requirements": dated.shown.names,
        "condition": finding.condition,
        "cause": finding.cause,
        **asdict(dated.interval),
        "cases": [result.id for result in dated.shown.results],
        "failing": {version: list(counts) for version, counts in dated.counts.items()},
    }


def repeats_in(file: Path, suite: str) -> dict[str, dict[str, Trials]]:
    """The repetitions in the document of an earlier command, if it is about the suite with this digest."""
    try:
        document = json_of(read_regular(file, RESULTS_LIMIT, follow_links=True))
        if (document["format"], document["suite"]) != (FORMAT, suite):
            return {}
        return _REPEATS.validate_python(document["repeats"])
    except (OSError, LookupError, TypeError, ValueError):
        return {}


def interval_in(path: Path, product: str, case: str) -> Interval | None:
    """The last interval in which a case fails in a history of a product; None if it has none.

    `path` is the document of a history, or the folder with it. Raises `UsageError` for any other file.
    """
    file = path / DOCUMENT if path.is_dir() else path
    try:
        document = json_of(read_regular(file, RESULTS_LIMIT, follow_links=True))
        cases = {product: document["cases"]}[document["product"]]
        intervals = _INTERVALS.validate_python(cases.get(case, {"intervals": []})["intervals"])
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{file} is missing or not a history of {product}. Name the folder of `opconform history`."
        ) from error
    return intervals[-1] if intervals else None


def history_view(history: History) -> Iterator[RenderableType]:
    """A history as two tables, of the releases and of the findings, and sentences."""
    yield _releases(history)
    findings = history.findings
    now = [finding for finding in findings if finding.interval.fails_now]
    if findings:
        yield f"\n{counted(len(now), 'finding')} in {history.newest}, {len(findings) - len(now):,} that ended before:"
        yield _findings(findings[:_MOST])
    else:
        yield "\nNo case fails."
    if len(findings) > _MOST:
        yield f"… and {len(findings) - _MOST:,} more in history.html and history.json"
    if sentence := repeats_sentence(history):
        yield f"\n{sentence}"


def repeats_sentence(history: History) -> str:
    """How often unsteady cases were executed to date them; empty if there are none."""
    if not history.unsteady:
        return ""
    every = [trials for of_case in history.repeats.values() for trials in of_case.values()]
    times = sum(trials.failed + trials.passed + trials.neither for trials in every)
    kinds = "that crash, hang, read memory out of bounds or differ between executions"
    how_often = (
        f" Releases beside their failures were asked {counted(times, 'more time')}, until the odds that a release "
        f"passes by chance were below {ODDS:.0%}."
    )
    return f"Cases {kinds}: {len(history.unsteady):,}.{how_often if times else ''}"


def _releases(history: History) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("release")
    for name in (*COUNTED, "new", "mended"):
        table.add_column(name, justify="right")
    table.add_column("", overflow="fold")
    changes = history.changes
    for release in history.releases:
        summary = {} if release.report is None else release.report.summary
        counts = [f"{summary[name]:,}" if summary else "" for name in COUNTED]
        changed = [f"{count:,}" if count else "" for count in changes.get(release.version, (0, 0))]
        table.add_row(release.version, *counts, *changed, one_line(release.why, _LONGEST))
    return table


def _findings(findings: "tuple[DatedFinding, ...]") -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("last good", "first bad", "good again", "severity"):
        table.add_column(name, no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("operation and requirement", overflow="fold")
    table.add_column("smallest case", overflow="fold")
    for dated in findings:
        found, shown = dated.interval, dated.shown
        again = "" if found.fails_now else found.first_good or f"after {found.last_bad}?"
        table.add_row(
            found.last_good or "",
            found.first_bad,
            again,
            shown.finding.severity,
            f"{len(shown.results):,}",
            shown.names,
            shown.smallest.id,
        )
    return table


#: What a change of a case is called on its older and its newer side.
_SIDES = {False: ("last good", "first bad"), True: ("last bad", "first good")}


def bisection_document(
    case: str, versions: Sequence[str], trials_by_release: Mapping[str, Trials], change: tuple[str, str] | None
) -> dict[str, object]:
    """What a bisection found as a JSON object: the change, and the executions in each release that was asked."""
    sides = {} if change is None else dict(zip(_sides(trials_by_release, change), change, strict=True))
    return {
        "format": FORMAT,
        "case": case,
        **{name.replace(" ", "_"): version for name, version in sides.items()},
        "releases": len(versions),
        "asked": {version: asdict(trials_by_release[version]) for version in versions if version in trials_by_release},
    }


def bisection_lines(
    case: str, versions: Sequence[str], trials_by_release: Mapping[str, Trials], change: tuple[str, str] | None
) -> Iterator[str]:
    """What a bisection found, in sentences."""
    how_often = f"{len(trials_by_release):,} of {counted(len(versions), 'release')} asked"
    if change is None:
        known = [x for x in versions if x in trials_by_release and not trials_by_release[x].neither]
        fails = {bool(trials_by_release[version].failed) for version in known}
        what = "fails in" if fails == {True} else "passes in" if fails else "is neither passed nor failed by"
        yield f"{case}: no change found; it {what} {', '.join(known) or 'any release that was asked'} ({how_often})"
        return
    older, newer = _sides(trials_by_release, change)
    yield f"{case}: {older} {change[0]}, {newer} {change[1]} ({how_often})"
    between = [x for x in versions[versions.index(change[0]) + 1 : versions.index(change[1])] if x in trials_by_release]
    if between:
        yield f"Neither passed nor failed between them: {', '.join(between)}"
    good = next(version for version in change if not trials_by_release[version].failed)
    bad = sum((trials for trials in trials_by_release.values() if trials.failed), Trials())
    if trials_by_release[good].passed > 1:
        odds = bad.odds(trials_by_release[good].passed)
        sure = "" if odds < ODDS else f", which {MOST} executions do not rule out"
        times = f"{trials_by_release[good].passed:,} times"
        of_bad = f"{bad.failed:,} of {bad.failed + bad.passed:,} executions"
        yield f"{good} passed it {times}; releases that fail it failed {of_bad}."
        yield f"The odds that {good} passes by chance are {odds:.1%}{sure}."


def _sides(trials_by_release: Mapping[str, Trials], change: tuple[str, str]) -> tuple[str, str]:
    return _SIDES[bool(trials_by_release[change[0]].failed)]
