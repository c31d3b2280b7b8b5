"""The data of the page's script: the list of cases, and the evidence of single cases."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from opconform_runners.reports.feeds import feeds_of, likely_cause
from opconform_runners.reports.html.evidence import evidence_of
from opconform_runners.reports.html.subject import Place, Subject, short
from opconform_runners.reports.terminal import remarks_of
from opconform_runners.verdicts.results import Result

#: The most bytes of evidence on a page.
EVIDENCE_LIMIT = 12 << 20
_SHOWN = frozenset({"fail", "error", "inconclusive"})


def cases_of(subjects: Sequence[Subject], notes: Mapping[Place, Sequence[object]]) -> dict[str, object]:
    """The list of cases, one short array per case.

    `notes` has the likely cause of a failure, the number of its card, and the change since an older run.
    """
    suite = next((each.suite for each in subjects if each.suite is not None), None)
    groups = {} if suite is None else {each.id.rpartition("/")[0]: each for each in suite.entries}
    return {
        "backends": [
            {
                "title": each.column.title,
                "started": each.column.report.started,
                "script": each.script,
                "place": shlex.quote(each.place),
            }
            for each in subjects
        ],
        "titles": {name: suite.case(entry).title for name, entry in groups.items()} if suite else {},
        "cases": [
            _row(number, each, notes.get((number, each.id), ()))
            for number, subject in enumerate(subjects)
            for each in subject.column.report.results
        ],
    }


def _row(backend: int, result: Result, notes: Sequence[object]) -> list[object]:
    """The values of a case, without empty ones at the end."""
    other = f"other-reason {result.other_reason}"
    row: list[object] = [
        backend,
        result.id,
        result.profile,
        result.verdict,
        result.reason or "",
        1 if result.expect == "reject" else 0,
        result.requirements,
        result.broken,
        short(result.sentence),
        short(result.inputs),
        short(result.message or "") if (result.message or "") not in result.sentence else "",
        [other if each == "other-reason" else each for each in remarks_of(result)],
        short(result.again or ""),
        short(result.log or ""),
        *notes,
    ]
    while not row[-1]:
        row.pop()
    return row


def shown_evidence(subjects: Sequence[Subject]) -> tuple[dict[str, object], dict[Place, str]]:
    """The evidence of single cases by the run's number and the case's id, if there is room, and likely causes."""
    shown: dict[str, object] = {}
    causes: dict[Place, str] = {}
    taken = 0
    for number, subject, result in _ranked(subjects):
        suite = subject.suite
        if suite is None or result.id not in suite.by_id:
            continue
        entry = suite.by_id[result.id]
        feeds = feeds_of(suite, entry, result, subject.kept)
        if feeds and feeds[0].actual:
            causes[number, result.id] = likely_cause(suite.case(entry), result, feeds[0])
        if taken <= EVIDENCE_LIMIT:
            document = evidence_of(suite, entry, result, feeds)
            shown[f"{number}/{result.id}"] = document
            taken += len(json.dumps(document))
    return shown, causes


def _ranked(subjects: Sequence[Subject]) -> Iterator[tuple[int, Subject, Result]]:
    """The cases that need evidence: failures first, and the first of each kind before the second of any."""
    ranked = []
    for number, subject in enumerate(subjects):
        seen: dict[tuple[object, ...], int] = defaultdict(int)
        for each in sorted(subject.column.report.results, key=lambda each: (len(each.inputs), each.id)):
            if each.verdict in _SHOWN:
                kind = (each.op, each.verdict, each.reason, each.broken)
                ranked.append(((each.verdict != "fail", seen[kind], number, each.id), number, subject, each))
                seen[kind] += 1
    for _, number, subject, result in sorted(ranked, key=lambda each: each[0]):
        yield number, subject, result
