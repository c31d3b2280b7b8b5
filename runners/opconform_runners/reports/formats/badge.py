"""A badge: an SVG of two fields, opconform and the verdict, that loads nothing and is as wide as its text."""

from collections.abc import Mapping
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from opconform_runners.reports.printable import printable
from opconform_runners.reports.report import Report

_HEIGHT = 20
_PADDING = 6
_SIZE = 11
#: The advance widths of Verdana in thousandths of its size, for the characters that a badge may have.
_WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys("0123456789", 636),
        **dict.fromkeys("bdgpq", 623),
        **dict.fromkeys("hnu", 633),
        **dict.fromkeys("kvxy", 592),
        **dict.fromkeys("cs", 521),
        **dict.fromkeys("il", 274),
        **dict.fromkeys(",. f", 358),
        **dict.fromkeys("-():", 454),
        **dict.fromkeys("aeo", 602),
        "j": 344,
        "m": 973,
        "r": 427,
        "t": 394,
        "w": 818,
        "z": 525,
    }
)
#: What any other character takes at the most.
_WIDEST = 1000
_COLOURS: Mapping[str, str] = MappingProxyType(
    {"conformant": "#1a7f37", "not conformant": "#b3261e", "incomplete": "#6e5494"}
)
_LABEL = "opconform"


def badge_text(report: Report) -> str:
    """A report's verdict as an SVG.

    It says `conformant` only of a whole `certify`; of a selection it says that it was one. It says how many cases were
    supported.
    """
    selection = "" if report.whole or report.conformant is None else " (selection)"
    verdict = f"{report.conclusion}{selection}, {report.coverage}"
    left, right = text_width(_LABEL), text_width(verdict)
    label, value = left + 2 * _PADDING, right + 2 * _PADDING
    title = printable(f"{_LABEL}: {report.implementation.title}: {verdict}")
    width, height = _number(label + value), f'height="{_HEIGHT}"'
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" {height} role="img" aria-label={quoteattr(title)}>',
        f" <title>{escape(title)}</title>",
        f' <clipPath id="r"><rect width="{width}" {height} rx="3"/></clipPath>',
        ' <g clip-path="url(#r)">',
        f'  <rect width="{_number(label)}" {height} fill="#444"/>',
        f'  <rect x="{_number(label)}" width="{_number(value)}" {height} fill="{_COLOURS[report.conclusion]}"/>',
        " </g>",
        f' <g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="{_SIZE}">',
        f"  {_text(_LABEL, _PADDING, left)}",
        f"  {_text(verdict, label + _PADDING, right)}",
        " </g>",
        "</svg>",
    )
    return "\n".join(lines) + "\n"


def text_width(text: str) -> float:
    """How wide a text is in the badge's font and size, in pixels."""
    return round(sum(_WIDTHS.get(each, _WIDEST) for each in text) * _SIZE / 1000, 1)


def _text(text: str, start: float, width: float) -> str:
    return f'<text x="{_number(start)}" y="14" textLength="{_number(width)}">{escape(text)}</text>'


def _number(pixels: float) -> str:
    return f"{pixels:.1f}".removesuffix(".0")
