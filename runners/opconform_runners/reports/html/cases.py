"""The data of the page's script: the list of cases, and the evidence of single cases."""

import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.findings.causes.feeds import feeds_of, is_read, likely_cause
from opconform_runners.findings.failures import result_size
from opconform_runners.findings.report import Report
from opconform_runners.reports.html.evidence import evidence_document, without_empty
from opconform_runners.reports.html.subject import Place, Subject, short, suite_of
from opconform_runners.reports.support_map import FACETS, Facets, FacetsById, place_of
from opconform_runners.reports.terminal.summary import REMARKS, shown_remarks
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.results import Result

#: The most bytes of evidence on a page, before compression.
EVIDENCE_LIMIT = 12 << 20
#: The order of verdicts in the list of cases.
_ORDER = ("fail", "error", "inconclusive", "unsupported", "pass")
_SHOWN = frozenset({"fail", "error", "inconclusive"})


def case_list(
    subjects: Sequence[Subject],
    notes: Mapping[Place, Mapping[str, object]],
    facets: FacetsById = lambda _: None,
    on_progress: OnProgress = lambda *_: None,
) -> dict[str, Any]:
    """The list of cases as a JSON object, failures first.

    `notes` has the likely cause of a failure, its condition, the numbers of its cards, and the change.
    """
    suite = suite_of(subjects)
    groups = {} if suite is None else {entry.id.rpartition("/")[0]: entry for entry in suite.entries}
    twins = {} if suite is None else {entry.id: entry.twin for entry in suite.entries if entry.twin is not None}
    violations = {twin: identity for identity, twin in twins.items()}
    described = cache(lambda identity: "" if suite is None else _inputs(suite, identity))
    listed = [(number, result) for number, subject in enumerate(subjects) for result in subject.column.report.results]
    listed.sort(key=lambda item: _ORDER.index(item[1].verdict))
    # Few cases differ in their requirements, or in their facets, so that a case has the number of a list.
    lists: dict[tuple[str, ...], int] = {}
    kinds: dict[Facets, int] = {}
    return {
        "backends": [
            {
                "title": subject.column.title,
                "started": subject.column.report.started,
                "script": subject.script,
                "place": shlex.quote(subject.place),
            }
            for subject in subjects
        ],
        "titles": {name: suite.recent_case(entry).title for name, entry in groups.items()} if suite else {},
        "remarks": REMARKS,
        "cases": [
            _listed(number, x, x.inputs or described(x.id))
            | without_empty(
                {"twin": twins.get(x.id), "violation": violations.get(x.id), **notes.get((number, x.id), {})}
            )
            | {"requirements": lists.setdefault(_full_names(x, x.requirements), len(lists))}
            | ({"facets": kinds.setdefault(kind, len(kinds))} if (kind := facets(x.id)) is not None else {})
            for number, x in staged(listed, on_progress, "Listing the cases")
        ],
        "requirements": list(lists),
        "facets": [kind._asdict() for kind in kinds],
    }


def _full_names(result: Result, ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{result.op}:{id_}" for id_ in ids)


def _inputs(suite: Suite, identity: str) -> str:
    """The description of a case's inputs, which results have of cases that do not pass; empty for a large case."""
    entry = suite.by_id.get(identity)
    case = None if entry is None else suite.recent_case(entry)
    if entry is None or case is None or not is_read(case):
        return ""
    return description_of(case, [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)])


def _listed(backend: int, result: Result, inputs: str) -> dict[str, object]:
    """A case in the list, without empty values and without its requirements."""
    row = {
        "backend": backend,
        "id": result.id,
        "profile": result.profile,
        "verdict": result.verdict,
        "expect": result.expect if result.expect == "reject" else "",
        "reason": result.reason,
        "broken": _full_names(result, result.broken),
        "sentence": short(result.sentence),
        "error": None if result.verdict != "pass" or result.error is None else f"{result.error:.2g}",
        "inputs": short(inputs),
        "message": short(result.message or "") if (result.message or "") not in result.sentence else "",
        "remarks": shown_remarks(result),
        "other": result.other_reason,
        "again": short(result.again or ""),
        "log": short(result.log or ""),
    }
    return without_empty(row)


def choices_of(listed: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """What the list of cases can be filtered by: values with their labels, for each name of a filter."""
    cases = listed["cases"]
    facets = [listed["facets"][case["facets"]] for case in cases if "facets" in case]
    values: dict[str, Iterable[str]] = {
        "op": (case["id"].partition("/")[0] for case in cases),
        "reason": (case["reason"] for case in cases if "reason" in case),
        "requirement": (name for case in cases for name in listed["requirements"][case["requirements"]]),
        "profile": (case["profile"] for case in cases),
        "remark": (name for case in cases for name in case.get("remarks", ())),
        "change": (case["change"] for case in cases if "change" in case),
        "expect": (case.get("expect", "accept") for case in cases),
    }
    values |= {name: [of_case[name] for of_case in facets] for name in FACETS}
    backends = [(str(number), backend["title"]) for number, backend in enumerate(listed["backends"])]
    return {"backend": backends} | {
        name: [
            (value, f"{value} ({count:,})")
            for value, count in sorted(Counter(occurring).items(), key=lambda x: place_of(x[0]))
        ]
        for name, occurring in values.items()
    }


def shown_evidence(
    subjects: Sequence[Subject], on_progress: OnProgress = lambda *_: None
) -> tuple[dict[str, object], dict[Place, str]]:
    """The evidence of single cases by the run's number and the case's id, if there is room, and likely causes.

    The causes come from the findings in the reports; without findings they are looked for.
    """
    shown: dict[str, object] = {}
    known = [_known_causes(subject.column.report) for subject in subjects]
    causes = {(number, name): cause for number, of_run in enumerate(known) if of_run for name, cause in of_run.items()}
    taken = 0
    for number, subject, result in staged([*_ranked(subjects)], on_progress, "Writing the report"):
        suite, is_known = subject.suite, known[number] is not None
        if suite is None or result.id not in suite.by_id or (is_known and taken > EVIDENCE_LIMIT):
            continue
        entry = suite.by_id[result.id]
        feeds = feeds_of(suite, entry, result, subject.kept.outputs(entry.id))
        if feeds and feeds[0].actual and not is_known:
            causes[number, result.id] = likely_cause(suite.recent_case(entry), result, feeds[0])
        if taken <= EVIDENCE_LIMIT:
            document = evidence_document(suite, entry, result, feeds)
            shown[f"{number}/{result.id}"] = document
            taken += len(json.dumps(document))
    return shown, causes


def _known_causes(report: Report) -> dict[str, str] | None:
    """The causes in the findings of a report; None if they were not looked for, or are of the first cases only."""
    findings = report.findings
    if not findings or (any(x.cause for x in findings) and not any(x.causes for x in findings)):
        return None
    return {name: cause for finding in findings for name, cause in finding.causes.items()}


def _ranked(subjects: Sequence[Subject]) -> Iterator[tuple[int, Subject, Result]]:
    """The cases that need evidence: failures first, and the first of each kind before the second of any."""
    ranked = []
    for number, subject in enumerate(subjects):
        seen: dict[tuple[object, ...], int] = defaultdict(int)
        for item in sorted(subject.column.report.results, key=result_size):
            if item.verdict in _SHOWN:
                kind = (item.op, item.verdict, item.reason, item.broken)
                ranked.append(((item.verdict != "fail", seen[kind], number, item.id), number, subject, item))
                seen[kind] += 1
    for _, number, subject, result in sorted(ranked, key=lambda x: x[0]):
        yield number, subject, result
