"""CSV for spreadsheets, one row per case; a backend's message is never a formula."""

import csv
import io
from collections.abc import Iterator, Mapping

from opconform_runners.reports.failures import standings
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import printable
from opconform_runners.verdicts.results import Result

_COLUMNS = (
    "run",
    "id",
    "operation",
    "profile",
    "expect",
    "verdict",
    "standing",
    "reason",
    "requirements",
    "broken",
    "inputs",
    "sentence",
    "message",
    "seconds",
)
#: The characters that begin a formula, also in the wide forms that some spreadsheets accept.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms are meant


def csv_text(report: Report) -> str:
    """A report as CSV with RFC 4180's line ends.

    The first column of every row has the conclusion of the run. `standing` compares the case with the baseline, and is
    empty without one. Cases without a verdict have rows with the verdict `missing`, and so has a run without cases.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows([_safe(each) for each in row] for row in _rows(report))
    return text.getvalue()


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    stands: Mapping[str, str] = standings(report) if report.baseline is not None else {}
    for each in report.results:
        yield (report.conclusion, *_cells(each, stands.get(each.id, "")))
    missing = report.missing if report.results or report.missing else ("",)
    for identity in missing:
        cells = (report.conclusion, identity, identity.partition("/")[0], "", "", "missing")
        yield (*cells, *("",) * (len(_COLUMNS) - len(cells)))


def _cells(result: Result, standing: str) -> tuple[str, ...]:
    return (
        result.id,
        result.op,
        result.profile,
        result.expect,
        result.verdict,
        standing,
        result.reason or "",
        " ".join(result.requirements),
        " ".join(result.broken),
        result.inputs,
        result.sentence,
        result.message or "",
        "" if result.seconds is None else f"{result.seconds:.6f}",
    )


def _safe(cell: str) -> str:
    """A cell that a spreadsheet does not evaluate: an apostrophe precedes what looks like a formula."""
    shown = printable(cell, lines=True)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or shown[:1] in ("\t", "\n") else shown
