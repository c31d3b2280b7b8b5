"""CSV for spreadsheets, one row per case; a backend's message is never a formula."""

import csv
import io
from collections.abc import Iterator, Mapping

from opconform_runners.reports.failures import standings
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import printable

_COLUMNS = (
    *("run", "id", "operation", "profile", "expect", "verdict", "standing", "reason"),
    *("requirements", "broken", "inputs", "sentence", "message", "seconds"),
)
#: The columns with a field of a result as it is.
_PLAIN = ("id", "profile", "expect", "verdict", "reason", "inputs", "sentence", "message")
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
        shown = {name: printable(cell, lines=True) for name, cell in (row | {"run": report.conclusion}).items()}
        # an apostrophe precedes what a spreadsheet would evaluate
        risky = {name for name, each in shown.items() if each.lstrip().startswith(_FORMULA) or each[:1] in ("\t", "\n")}
        writer.writerow({name: f"'{each}" if name in risky else each for name, each in shown.items()})
    return text.getvalue()


def _rows(report: Report) -> Iterator[dict[str, str]]:
    stands: Mapping[str, str] = standings(report) if report.baseline is not None else {}
    for each in report.results:
        yield {name: getattr(each, name) or "" for name in _PLAIN} | {
            "operation": each.op,
            "standing": stands.get(each.id, ""),
            "requirements": " ".join(each.requirements),
            "broken": " ".join(each.broken),
            "seconds": "" if each.seconds is None else f"{each.seconds:.6f}",
        }
    for identity in report.missing if report.results or report.missing else ("",):
        yield {"id": identity, "operation": identity.partition("/")[0], "verdict": "missing"}
