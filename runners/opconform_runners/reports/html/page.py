"""The HTML page of one run or several on the same suite."""

import base64
import hashlib
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from opconform.explanation.specification import pages_of, specified
from opconform.system.resources import render, text_of
from opconform_runners.execution.progress import OnProgress
from opconform_runners.findings.failures import MEANINGS, SEVERITIES
from opconform_runners.findings.grouping import ShownFinding, shown_findings
from opconform_runners.findings.known.comparison import known_sentences
from opconform_runners.findings.report import VERDICTS, Report
from opconform_runners.findings.requirement_row import RequirementRow
from opconform_runners.findings.use_row import use_rows
from opconform_runners.harness.environment import UNKNOWN, environment_facts
from opconform_runners.reports.backend_matrix import (
    OPERATION_SIGNS,
    SIGNS,
    VERDICT_SIGNS,
    Matrix,
    MatrixRow,
    counts_text,
)
from opconform_runners.reports.diff import changes_between, failure_changes
from opconform_runners.reports.html.cases import case_list, choices_of, shown_evidence
from opconform_runners.reports.html.subject import Place, Subject, short, suite_of
from opconform_runners.reports.html.support import map_data, map_of, map_or_why_not, section_values
from opconform_runners.reports.report_file import Finished
from opconform_runners.reports.support_map import facets_by_id
from opconform_runners.reports.terminal.case_text import seen_link
from opconform_runners.reports.terminal.conclusion import conclusion, extent_of
from opconform_runners.reports.terminal.incidents import deaths_clause, incident_lines

#: What verdicts other than pass and fail mean to a reader.
_VERDICTS = {
    "unsupported": "the backend says that it does not implement the case",
    "inconclusive": "no evidence: the same case without the violation, or the graph around it, fails too",
    "error": "the harness failed, and not the backend",
}
#: The most public reports on a card.
_SEEN = 6


def page_text(
    subjects: Sequence[Subject], against: Sequence[Finished] = (), on_progress: OnProgress = lambda *_: None
) -> str:
    """The HTML document of some runs on the same suite, or of one run compared with the last of some older ones."""
    columns = [subject.column for subject in subjects]
    evidence, causes = shown_evidence(subjects, on_progress)
    cards = sorted((card for number, subject in enumerate(subjects) for card in _cards(number, subject)), key=_rank)
    kinds: dict[Place, list[int]] = defaultdict(list)
    conditions: dict[Place, str] = {}
    for place, card in enumerate(cards, 1):
        for result in card.shown.results:
            kinds[card.number, result.id].append(place)
            conditions.setdefault((card.number, result.id), card.shown.finding.when)
    changed = failure_changes(against[-1].report, columns[0].report) if against else {}
    places = kinds.keys() | causes.keys() | {(0, identity) for identity in changed}
    notes = {
        place: {
            "cause": causes.get(place),
            "condition": conditions.get(place),
            "failures": kinds.get(place),
            "change": changed.get(place[1]),
        }
        for place in places
    }
    facets = facets_by_id(suite_of(subjects))
    listed = case_list(subjects, notes, facets, on_progress)
    on_progress(0.0, 0, "Laying out the page")
    found = map_or_why_not(subjects, facets)
    support = None if isinstance(found, str) else found
    matrix = Matrix(columns=columns)
    decided = [row for row in matrix.rows if any(any(cell.counts.values()) for cell in row)]
    text: str = render(
        "report/page.html.j2",
        **_frame(subjects, listed | {"support": support and map_data(support)}, evidence),
        **section_values(support),
        subjects=subjects,
        differing=[row for row in decided if _differs(row)],
        broken=[row for row in decided if all(_fails(cell) for cell in row)],
        kept=[row for row in decided if not any(_fails(cell) for cell in row)],
        cards=cards,
        operations=matrix.operations,
        operation_counts=Counter(
            OPERATION_SIGNS[row.status][1] for rows in matrix.operations.values() for row in rows if row is not None
        ),
        fates=VERDICT_SIGNS,
        known_sentences=known_sentences,
        remarks_of=_remarks,
        uses=[(number, column.title, use_rows(column.report)) for number, column in enumerate(columns)],
        history=_history(columns[0].report, against, changed) if against else None,
        conclusion=conclusion,
        deaths_clause=deaths_clause,
        extent_of=extent_of,
        incident_lines=incident_lines,
        counts_text=counts_text,
        environment_facts=environment_facts,
        pages=pages_of,
        seen_link=seen_link,
        words=_words(columns[0].report, cards),
        short=short,
        signs=SIGNS,
        specified=specified,
        unknown=UNKNOWN,
    )
    return text


def support_page(subjects: Sequence[Subject]) -> str:
    """The HTML document of the map of support alone, with the list of cases; a MissingError if there is no map."""
    facets = facets_by_id(suite_of(subjects))
    support = map_of(subjects, facets)
    evidence, causes = shown_evidence(subjects)
    listed = case_list(subjects, {place: {"cause": cause} for place, cause in causes.items()}, facets)
    values = _frame(subjects, listed | {"support": map_data(support)}, evidence) | section_values(support)
    text: str = render("report/support.html.j2", **values)
    return text


def _frame(subjects: Sequence[Subject], listed: Mapping[str, Any], evidence: Mapping[str, object]) -> dict[str, object]:
    """What every page needs: the style, the script with its data, and the choices of the list of cases."""
    columns = [subject.column for subject in subjects]
    style, script = text_of("report/page.css"), text_of("report/map.js") + text_of("report/page.js")
    return {
        "columns": columns,
        "verdicts": {name: sum(column.report.summary[name] for column in columns) for name in VERDICTS},
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "style_digest": digest_of(style),
        "script_digest": digest_of(script),
        "cases": packed(listed),
        "choices": choices_of(listed),
        "evidence": packed(evidence),
    }


def _remarks(report: Report) -> list[str]:
    """The sentences on a run besides the verdict and what is known of a release."""
    known = {f"{sentence}." for sentence in known_sentences(report)}
    return [sentence for sentence in conclusion(report)[1:] if sentence not in known]


def _fails(cell: RequirementRow) -> bool:
    """Whether a requirement has a failure on a backend, or an error."""
    return cell.is_broken or bool(cell.counts["error"])


def _differs(row: MatrixRow) -> bool:
    """Whether a requirement has failures on some backends and not on others."""
    return len({_fails(cell) for cell in row}) > 1


class _Card(NamedTuple):
    """A finding on the page: the number of its run, and public reports of backends that fail such cases."""

    number: int
    shown: ShownFinding
    seen: tuple[str, ...]

    @property
    def operations(self) -> list[str]:
        """The operations of its cases."""
        return sorted({result.op for result in self.shown.results})


def _words(report: Report, cards: Sequence[_Card]) -> dict[str, str]:
    """What the severities and verdicts on a page mean."""
    severities = {card.shown.finding.severity for card in cards}
    return {name: text for name, text in MEANINGS.items() if name in severities} | {
        name: text for name, text in _VERDICTS.items() if report.summary[name]
    }


def _cards(number: int, subject: Subject) -> Iterator[_Card]:
    suite = subject.suite
    for shown in shown_findings(subject.column.report):
        known = (
            [] if suite is None else [suite.by_id[result.id] for result in shown.results if result.id in suite.by_id]
        )
        seen = Counter(name for x in known if suite is not None for name in suite.case(x).seen)
        yield _Card(number, shown, tuple(name for name, _ in seen.most_common(_SEEN)))


def _rank(card: _Card) -> tuple[bool, bool, int, int]:
    """The place of a card: what a baseline expects comes last, before it what is known, and the worst first."""
    shown = card.shown
    return shown.standing == "known", bool(shown.known), SEVERITIES.index(shown.finding.severity), -len(shown.results)


def _history(report: Report, against: Sequence[Finished], changed: Mapping[str, str]) -> dict[str, object]:
    trend = [(x.folder.name, x.report.summary["fail"]) for x in against]
    return {
        "name": against[-1].folder.name,
        "changes": changes_between(against[-1].report, report),
        "counts": Counter(changed.values()),
        "new": {name for name, change in changed.items() if change == "new"},
        "trend": [*trend, ("this run", report.summary["fail"])],
    }


def packed(value: object) -> str:
    """A value as compressed JSON in base64, which the page's script unpacks."""
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode())).decode()


def digest_of(text: str) -> str:
    """The digest by which the content security policy names an inlined text."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
