"""The data of the page's script: the list of cases, and the evidence of single cases."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence

from opconform_runners.reports.html.evidence import evidence_of
from opconform_runners.reports.html.subject import Subject, short
from opconform_runners.reports.terminal import remarks_of
from opconform_runners.verdicts.results import Result

#: The most bytes of evidence on a page.
EVIDENCE_LIMIT = 12 << 20
_SHOWN = frozenset({"fail", "error", "inconclusive"})


def cases_of(subjects: Sequence[Subject], left_out: int) -> dict[str, object]:
    """The list of cases: one short array per case, in which groups and requirements are numbers.

    `left_out` is the number of cases without evidence for lack of room.
    """
    groups: dict[str, int] = {}
    requirements: dict[str, int] = {}
    rows = [
        _row(number, each, groups, requirements)
        for number, subject in enumerate(subjects)
        for each in subject.column.report.results
    ]
    suite = next((each.suite for each in subjects if each.suite is not None), None)
    entries = {} if suite is None else {each.id.rpartition("/")[0]: each for each in suite.entries}
    texts = {f"{each.op} {each.id}": each.text for each in subjects[0].column.report.requirements}
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
        "groups": list(groups),
        "titles": [suite.case(entries[each]).title if each in entries else "" for each in groups] if suite else [],
        "requirements": list(requirements),
        "texts": [texts.get(each, "") for each in requirements],
        "cases": rows,
        "left_out": left_out,
    }


def _row(backend: int, result: Result, groups: dict[str, int], requirements: dict[str, int]) -> list[object]:
    """A case without its empty last values; new groups and requirements are added to those that have numbers."""

    def numbers(names: Sequence[str]) -> list[int]:
        return [requirements.setdefault(f"{result.op} {name}", len(requirements)) for name in names]

    group, _, digits = result.id.rpartition("/")
    other = f"other-reason {result.other_reason}"
    row: list[object] = [
        backend,
        groups.setdefault(group, len(groups)),
        digits,
        result.profile,
        result.verdict,
        result.reason or "",
        1 if result.expect == "reject" else 0,
        numbers(result.requirements),
        numbers(result.broken),
        short(result.sentence),
        short(result.inputs),
        short(result.message or "") if (result.message or "") not in result.sentence else "",
        [other if each == "other-reason" else each for each in remarks_of(result)],
        short(result.again or ""),
        short(result.log or ""),
    ]
    while row[-1] in ("", []):
        row.pop()
    return row


def shown_evidence(subjects: Sequence[Subject]) -> tuple[dict[str, object], int]:
    """The evidence of single cases, by the backend's number and the case's id, and how many had no room."""
    shown: dict[str, object] = {}
    taken, left_out = 0, 0
    for number, subject, result in _ranked(subjects):
        suite = subject.suite
        if suite is None or result.id not in suite.by_id:
            continue
        if taken > EVIDENCE_LIMIT:
            left_out += 1
            continue
        document = evidence_of(suite, suite.by_id[result.id], result, subject.kept)
        shown[f"{number}/{result.id}"] = document
        taken += len(json.dumps(document))
    return shown, left_out


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
