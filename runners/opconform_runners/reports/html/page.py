"""The HTML page of one run or several on the same suite."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from markupsafe import Markup

from opconform.resources import render, text_of
from opconform_runners.harness.environment import UNKNOWN, environment_facts
from opconform_runners.reports.conclusion import conclusion
from opconform_runners.reports.failures import groups
from opconform_runners.reports.html.cases import cases_of, shown_evidence
from opconform_runners.reports.html.subject import Subject, cases_place, short
from opconform_runners.reports.matrix import SIGNS, Matrix, counts_text
from opconform_runners.reports.text import counted

#: The characters that could end a script element.
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&"}


def page_text(subjects: Sequence[Subject]) -> str:
    """The HTML document of some runs on the same suite."""
    columns = [each.column for each in subjects]
    evidence, left_out = shown_evidence(subjects)
    reasons = Counter(each.reason or "" for one in columns for each in one.report.results if each.verdict == "fail")
    decided = [row for row in Matrix(columns=columns).rows if any(any(each.counts.values()) for each in row)]
    style, script = text_of("report/page.css"), text_of("report/page.js")
    text: str = render(
        "report/page.html.j2",
        columns=columns,
        rows=decided,
        groups=[(number, each) for number, column in enumerate(columns) for each in groups(column.report)],
        reasons=sorted(reasons.items(), key=lambda each: (-each[1], each[0])),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_digest=_digest(style),
        script_digest=_digest(script),
        cases=Markup(script_json(cases_of(subjects, left_out))),  # noqa: S704 - escaped for a script element
        evidence=Markup(script_json(evidence)),  # noqa: S704 - escaped for a script element
        cases_place=cases_place,
        conclusion=conclusion,
        counted=counted,
        counts_text=counts_text,
        environment_facts=environment_facts,
        short=short,
        signs=SIGNS,
        unknown=UNKNOWN,
    )
    return text


def script_json(value: object) -> str:
    """A value as JSON for a script element, which nothing in it can end."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _digest(text: str) -> str:
    """The digest by which the content security policy names an inlined text."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
