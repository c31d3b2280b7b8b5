"""SARIF 2.1.0: one rule per requirement, one result per finding, for programs that show results of analyses."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import opconform
from opconform.explanation.specification import place_of
from opconform.system.text import one_line
from opconform_runners.findings.failures import Standing
from opconform_runners.findings.grouping import ShownFinding, shown_findings
from opconform_runners.findings.report import Report
from opconform_runners.findings.requirement_row import RequirementRow
from opconform_runners.reports.terminal.conclusion import (
    conclusion,
    lost_sentences,
    pass_sentences,
    stale_sentences,
)
from opconform_runners.reports.terminal.incidents import incident_sentence
from opconform_runners.verdicts.baseline import Line
from opconform_runners.verdicts.verdict import OF_CLAIMS

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LONGEST = 1_000
#: The rules that are no requirements, and what breaks each.
_RULES = {
    "claims": "The backend refuses a case that its maker claims to support.",
    "support": "The backend no longer supports a case, and the baseline does not expect that.",
    "baseline": "A line of the baseline expects a failure that is gone, or applies to no case.",
    "incident": "The process of the backend crashed, hung or failed, and not again with the case alone.",
    "unnamed": "A case fails that names no requirement.",
}
_LEVELS: dict[Standing, str] = {"new": "error", "known": "note", "read": "warning"}


def sarif_text(report: Report) -> str:
    """A report as SARIF.

    Failures that count are errors, differences from interpretations are warnings, and what the baseline expects is a
    suppressed note. The place of a result is its smallest case in the suite.
    """
    results = [*_findings(report), *_others(report)]
    named = {result["ruleId"] for result in results}
    rows = [row for row in report.requirements if row.cases or row.name in named]
    rules = [*map(_rule, rows), *(_own_rule(name) for name in _RULES if _own(name) in named)]
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    notes = [{"level": "error", "message": {"text": report.unfinished}}] if report.unfinished else []
    who = report.implementation
    run = {
        "tool": {
            "driver": {"name": "opconform", "semanticVersion": opconform.__version__, "rules": rules},
            "extensions": [{"name": who.name, "version": who.version or "unknown"}],
        },
        "automationDetails": {"id": f"opconform/{who.name}/{who.device or 'default'}/"},
        "invocations": [{"executionSuccessful": report.is_finished, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "properties": {"conclusion": conclusion(report)[0], "suite": report.suite.digest},
        "results": [result | {"ruleIndex": places[result["ruleId"]]} for result in results],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(row: RequirementRow) -> dict[str, Any]:
    """The rule that a requirement is, with the place in the specification."""
    rule = _described(row.name, one_line(row.text, _LONGEST)) | {
        "defaultConfiguration": {"level": "error" if row.level == "normative" else "warning"},
        "properties": {"level": row.level},
    }
    place = place_of(row.op, row.id, row.text)
    if place is None:
        return rule
    rule["help"] = {"text": f"Specification of {row.op}, {place.clause}."}
    return rule | ({"helpUri": place.url} if place.url else {})


def _described(name: str, text: str) -> dict[str, Any]:
    """A rule with the descriptions that GitHub requires."""
    return {"id": name, **{key: {"text": text} for key in ("shortDescription", "fullDescription", "help")}}


def _own(name: str) -> str:
    return f"opconform:{name}"


def _own_rule(name: str) -> dict[str, Any]:
    return _described(_own(name), _RULES[name])


def _findings(report: Report) -> Iterator[dict[str, Any]]:
    for shown in shown_findings(report):
        names = [requirement.name for requirement in shown.requirements]
        rule_name = "claims" if shown.smallest.reason in OF_CLAIMS else "unnamed"
        rule, *others = names or [_own(rule_name)]
        result = _result(rule, _sentence(shown), _case(shown.smallest.id), _LEVELS[shown.standing])
        result["occurrenceCount"] = len(shown.results)
        if others:
            result["properties"] = {"requirements": names}
        if shown.standing == "known":
            result["suppressions"] = [{"kind": "external", "justification": "The baseline expects it."}]
        if shown.known:
            result.setdefault("properties", {})["known"] = shown.known
        if report.baseline is not None or report.known is not None:
            result["baselineState"] = "unchanged" if shown.standing == "known" or shown.known else "new"
        yield result


def _sentence(shown: ShownFinding) -> str:
    case, finding = shown.smallest, shown.finding
    when = f" When: {finding.when}." if finding.when else ""
    cause = f" Likely cause: {finding.cause}." if finding.cause else ""
    subgraph = f" Smallest failing subgraph: {shown.subgraph}." if shown.subgraph else ""
    return f"{shown.names}: {shown.kind}. Given {case.inputs}: {case.sentence}.{when}{cause}{subgraph}"


def _others(report: Report) -> Iterator[dict[str, Any]]:
    """Lost support, what the baseline does not expect, and incidents."""
    for case, sentence in lost_sentences(report).items():
        yield _result(_own("support"), sentence, _case(case), "error")
    baseline = report.baseline
    if baseline is not None:
        for case, sentence in pass_sentences(baseline).items():
            yield _result(_own("baseline"), sentence, _case(case), "error")
        for line, sentence in zip(baseline.stale, stale_sentences(baseline), strict=True):
            yield _result(_own("baseline"), sentence, _line(baseline.file, line), "error")
    for incident in report.incidents:
        level = "error" if incident.is_death else "warning"
        yield _result(_own("incident"), incident_sentence(incident), _case(incident.cases[0]), level)


class _Place(NamedTuple):
    """A place of a result, without which GitHub refuses the whole file, and what tells it from others."""

    key: str
    location: dict[str, Any]


def _case(case: str) -> _Place:
    """The file of a case in the suite."""
    physical = {
        "artifactLocation": {"uri": f"{quote(case)}/case.json", "uriBaseId": "SUITE"},
        "region": {"startLine": 1, "endLine": 1},  # the file has one line
    }
    logical = [{"fullyQualifiedName": case, "kind": "test"}]
    return _Place(case, {"physicalLocation": physical, "logicalLocations": logical})


def _line(file: str, line: Line) -> _Place:
    """A line of a baseline."""
    path = Path(file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    region = {"startLine": line.number, "endLine": line.number}
    return _Place(line.pattern, {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}})


def _result(rule: str, sentence: str, place: _Place, level: str) -> dict[str, Any]:
    """A result at a place; its fingerprint does not depend on the outputs."""
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": one_line(sentence, _LONGEST)},
        "locations": [place.location],
        "partialFingerprints": {"opconform/v1": hashlib.sha256(f"{rule}\0{place.key}".encode()).hexdigest()},
    }
