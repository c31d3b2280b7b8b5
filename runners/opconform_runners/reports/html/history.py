"""The HTML page of a product's history: releases across, findings down, and a chart of what is new and mended."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from opconform.errors import counted
from opconform.system.resources import render, text_of
from opconform_runners.findings.history import History, span
from opconform_runners.reports.history import COUNTED, repeats_sentence
from opconform_runners.reports.html.page import digest_of
from opconform_runners.reports.html.subject import short

#: The height of the tallest bar, and the space of a release, in pixels.
_TALLEST, _STEP = 90, 34


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """What changed in a release, and the heights of its bars."""

    version: str
    x: int
    new: int
    mended: int
    up: int
    down: int


def history_page(history: History) -> str:
    """The HTML document, which needs neither a script nor the network."""
    style = text_of("report/page.css") + text_of("report/history.css")
    bars = _bars(history.changes)
    text: str = render(
        "report/history.html.j2",
        history=history,
        bars=bars,
        step=_STEP,
        findings=history.findings,
        changes=history.changes,
        verdicts=COUNTED,
        repeats=repeats_sentence(history),
        trials=lambda case: {v: history.trials(case, v) for v in history.reports} if case in history.unsteady else {},
        style=Markup(style),  # noqa: S704 - our own file
        style_digest=digest_of(style),
        counted=counted,
        short=short,
        span=span,
    )
    return text


def _bars(changes: Mapping[str, tuple[int, int]]) -> list[Bar]:
    """The bars of the chart; one of a single case is still seen."""
    tallest = max((max(counts) for counts in changes.values()), default=0) or 1
    heights = {count: -(-_TALLEST * count // tallest) for counts in changes.values() for count in counts}
    return [
        Bar(version=version, x=place * _STEP, new=new, mended=mended, up=heights[new], down=heights[mended])
        for place, (version, (new, mended)) in enumerate(changes.items())
    ]
