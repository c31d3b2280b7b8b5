"""Looks: what is shown of single cases, for the page's script, as far as there is room."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

from opconform_runners.reports.html.evidence import Evidence, evidence_of
from opconform_runners.reports.html.excerpts import Excerpt
from opconform_runners.reports.html.subject import Models, Subject, short
from opconform_runners.verdicts.results import Result

#: The most bytes of evidence that a page carries; every group of failures gets its share.
EVIDENCE_LIMIT = 12 << 20
_DECIDED = frozenset({"fail", "error", "inconclusive"})


def shown_evidence(subjects: Sequence[Subject], models: Models) -> tuple[dict[str, object], int]:
    """What is shown of single cases, and how many there was no room for."""
    shown: dict[str, object] = {}
    taken, left_out = 0, 0
    for number, subject, result in _in_turn(subjects):
        suite = subject.suite
        if suite is None or result.id not in suite.by_id:
            continue
        if taken > EVIDENCE_LIMIT:
            left_out += 1
            continue
        document = _evidence_document(evidence_of(suite, suite.by_id[result.id], result, subject.kept, models))
        shown[f"{number}/{result.id}"] = document
        taken += len(json.dumps(document))
    return shown, left_out


def _in_turn(subjects: Sequence[Subject]) -> Iterator[tuple[int, Subject, Result]]:
    """The cases that call for a look: one of each kind, then a second of each, so that a limit leaves none out."""
    ranked = []
    for number, subject in enumerate(subjects):
        seen: dict[tuple[object, ...], int] = defaultdict(int)
        for each in sorted(subject.column.report.results, key=lambda each: (len(each.inputs), each.id)):
            if each.verdict in _DECIDED:
                kind = (each.op, each.verdict, each.reason, each.broken)
                ranked.append(((each.verdict != "fail", seen[kind], number, each.id), number, subject, each))
                seen[kind] += 1
    for _, number, subject, result in sorted(ranked, key=lambda each: each[0]):
        yield number, subject, result


def _evidence_document(evidence: Evidence) -> dict[str, object]:
    document: dict[str, object] = {
        "title": evidence.title,
        "inputs": list(evidence.inputs),
        "data": _excerpt_document(evidence.data) if evidence.data is not None else None,
        "expected": evidence.expected,
        "wanted": [_excerpt_document(each) for each in evidence.wanted],
        "actual": short(evidence.actual),
        "got": [_excerpt_document(each) for each in evidence.got],
        "note": evidence.note,
        "models": [[each.name, each.text] for each in evidence.models],
        "twin": evidence.twin,
    }
    return {name: each for name, each in document.items() if each}


def _excerpt_document(excerpt: Excerpt) -> dict[str, object]:
    document: dict[str, object] = {
        "name": excerpt.name,
        "kind": excerpt.kind,
        "where": excerpt.where,
        "rows": [list(each) for each in excerpt.rows],
        "at": [excerpt.row, excerpt.column],
        "size": [excerpt.height, excerpt.width],
        "along": excerpt.along,
        "chunks": list(excerpt.chunks),
        "differs": [[row, column, bits] for (row, column), bits in excerpt.patterns.items()],
        "first": list(excerpt.first) if excerpt.first is not None else None,
    }
    return {name: each for name, each in document.items() if each}
