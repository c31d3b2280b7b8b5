"""SVG badges: two fields, opconform and the verdict, without external fonts or links."""

from xml.sax.saxutils import escape, quoteattr

from opconform_runners.reports.report import Report
from opconform_runners.reports.text import printable

#: The width of a character in pixels, which `textLength` makes true in every font, and the room beside a text.
CHARACTER = 6.5
_PADDING = 6
_COLOURS = {"conformant": "#1a7f37", "not conformant": "#b3261e", "incomplete": "#6e5494"}
_LABEL = "opconform"


def badge_text(report: Report) -> str:
    """A report's verdict and coverage as an SVG; a verdict on a selection of cases says so."""
    selection = "" if report.whole or report.conformant is None else " (selection)"
    verdict = f"{report.conclusion}{selection}, {report.coverage}"
    label, value = (len(each) * CHARACTER + 2 * _PADDING for each in (_LABEL, verdict))
    title = printable(f"{_LABEL}: {report.implementation.title}: {verdict}")
    size = f'width="{label + value:g}" height="20"'
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(title)}>
 <title>{escape(title)}</title>
 <clipPath id="r"><rect {size} rx="3"/></clipPath>
 <g clip-path="url(#r)">
  <rect width="{label:g}" height="20" fill="#444"/>
  <rect x="{label:g}" width="{value:g}" height="20" fill="{_COLOURS[report.conclusion]}"/>
 </g>
 <g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
  {_text(_LABEL, 0)}
  {_text(verdict, label)}
 </g>
</svg>
"""


def _text(text: str, start: float) -> str:
    return f'<text x="{start + _PADDING:g}" y="14" textLength="{len(text) * CHARACTER:g}">{escape(text)}</text>'
