"""Badges: the JSON that the endpoint badge of shields.io reads."""

import json

from opconform_runners.findings.report import Report

_COLOURS = {"conformant": "brightgreen", "not conformant": "red", "incomplete": "lightgrey"}


def badge_text(report: Report) -> str:
    """A report's verdict and coverage as JSON for shields.io; a verdict on a selection of cases says so."""
    is_selection = report.suite.profiles or (report.partial and not report.whole)
    selection = " (selection)" if is_selection and report.conformant is not None else ""
    badge = {
        "schemaVersion": 1,
        "label": "opconform",
        "message": f"{report.conclusion}{selection}, {report.coverage}",
        "color": _COLOURS[report.conclusion],
    }
    return json.dumps(badge, indent=2) + "\n"
