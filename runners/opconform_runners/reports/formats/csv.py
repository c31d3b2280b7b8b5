"""CSV for spreadsheets, one row per case; a backend's message is never a formula."""

import csv
import io
from collections.abc import Iterator, Mapping

from opconform_runners.reports.failures import standings
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import printable
from opconform_runners.verdicts.results import Result

_COLUMNS = (
    *("run", "id", "operation", "profile", "expect", "verdict", "standing", "reason"),
    *("requirements", "broken", "inputs", "sentence", "message", "seconds"),
)
#: The characters that begin a formula, also in the wide forms that some spreadsheets accept.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms are meant


def csv_text(report: Report) -> str:
    """A report as CSV with RFC 4180's line ends.

    The first column of every row has the conclusion of the run. `standing` compares the case with the baseline, and is
    empty without one. Cases without a verdict have rows with the verdict `missing`, and so has a run without cases.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS)
    writer.writeheader()
    for row in _rows(report):
        writer.writerow({name: _safe(cell) for name, cell in (row | {"run": report.conclusion}).items()})
    return text.getvalue()


def _rows(report: Report) -> Iterator[dict[str, str]]:
    stands: Mapping[str, str] = standings(report) if report.baseline is not None else {}
    for each in report.results:
        yield _cells(each) | {"standing": stands.get(each.id, "")}
    for identity in report.missing if report.results or report.missing else ("",):
        yield {"id": identity, "operation": identity.partition("/")[0], "verdict": "missing"}


def _cells(result: Result) -> dict[str, str]:
    plain = ("id", "profile", "expect", "verdict", "reason", "inputs", "sentence", "message")
    return {name: getattr(result, name) or "" for name in plain} | {
        "operation": result.op,
        "requirements": " ".join(result.requirements),
        "broken": " ".join(result.broken),
        "seconds": "" if result.seconds is None else f"{result.seconds:.6f}",
    }


def _safe(cell: str) -> str:
    """A cell that a spreadsheet does not evaluate: an apostrophe precedes what looks like a formula."""
    shown = printable(cell, lines=True)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or shown[:1] in ("\t", "\n") else shown
