"""SVG badges: two fields, opconform and the verdict, without external fonts or links."""

from opconform.resources import render
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import printable

#: The width of a character in pixels, which `textLength` makes true in every font, and the room beside a text.
CHARACTER = 6.5
_PADDING = 6
_COLOURS = {"conformant": "#1a7f37", "not conformant": "#b3261e", "incomplete": "#6e5494"}
_NAME = "opconform"


def badge_text(report: Report) -> str:
    """A report's verdict and coverage as an SVG; a verdict on a selection of cases says so."""
    selection = " (selection)" if report.partial and not report.whole and report.conformant is not None else ""
    verdict = f"{report.conclusion}{selection}, {report.coverage}"
    return render(
        "report/badge.svg.j2",
        name=_NAME,
        verdict=verdict,
        title=printable(f"{_NAME}: {report.implementation.title}: {verdict}"),
        label=len(_NAME) * CHARACTER + 2 * _PADDING,
        value=len(verdict) * CHARACTER + 2 * _PADDING,
        colour=_COLOURS[report.conclusion],
        character=CHARACTER,
        padding=_PADDING,
    )
