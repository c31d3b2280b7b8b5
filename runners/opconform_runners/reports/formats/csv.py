"""CSV: a row a case, for a spreadsheet, which must not take a backend's message for a formula."""

import csv
import io
from collections.abc import Iterator, Mapping

from opconform_runners.reports.formats.standing import standings
from opconform_runners.reports.printable import printable
from opconform_runners.reports.report import Report
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
#: What a spreadsheet begins a formula with, also in the wide forms that some of them take.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - they are meant


def csv_text(report: Report) -> str:
    """A report as CSV, with RFC 4180's line ends.

    The first column of every row says what the run came to, so that no row of an incomplete run is taken for more.
    `standing` is how a case stands against the baseline, and empty where none was given. A case without a verdict has a
    row that says so, and a run without any case has one row.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    writer.writerows([_safe(each) for each in row] for row in _rows(report))
    return text.getvalue()


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    stands: Mapping[str, str] = standings(report) if report.baseline is not None else {}
    empty = ("",) * (len(_COLUMNS) - 6)
    for each in report.results:
        yield (report.conclusion, *_cells(each, stands.get(each.id, "")))
    for identity in report.missing:
        yield (report.conclusion, identity, identity.partition("/")[0], "", "", "missing", *empty)
    if not report.results and not report.missing:
        yield (report.conclusion, "", "", "", "", "missing", *empty)


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
    """A cell that no spreadsheet calculates: an apostrophe stands before what begins like a formula."""
    shown = printable(cell, lines=True)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or shown[:1] in ("\t", "\n") else shown
