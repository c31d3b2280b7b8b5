"""`report.json`: a report as it is written."""

import json
from dataclasses import asdict
from pathlib import Path

from opconform.errors import DiskError
from opconform.files import replace_file
from opconform_runners.backends.backend import HARDWARE
from opconform_runners.harness.environment import environment_document
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.baseline_check import comparison_document
from opconform_runners.verdicts.results import REPORT, result_document


def write_report(out: Path, report: Report) -> None:
    """Write `report.json` atomically; a DiskError if it cannot be written."""
    try:
        replace_file(out / REPORT, report_text(report).encode())
    except OSError as fault:
        raise DiskError(out / REPORT, fault) from fault


def report_text(report: Report) -> str:
    """The text of `report.json`."""
    return json.dumps(report_document(report), indent=1, ensure_ascii=False) + "\n"


def report_document(report: Report) -> dict[str, object]:
    """A report as a JSON object."""
    requirements: dict[str, dict[str, object]] = {op: {} for op in sorted({each.op for each in report.requirements})}
    for each in report.requirements:
        row = {"level": each.level, "text": each.text, "broken": each.is_broken, **each.counts}
        requirements[each.op][each.id] = row
    return {
        "format": report.format,
        "suite": asdict(report.suite),
        "implementation": {name: each for name, each in asdict(report.implementation).items() if name not in HARDWARE},
        "started": report.started,
        "environment": environment_document(report.environment),
        **({} if report.outputs is None else {"outputs": report.outputs}),
        "whole": report.whole,
        "strict": report.strict,
        "conformant": report.conformant,
        "incomplete": list(report.incomplete),
        "coverage": {"supported": report.supported, "cases": len(report.results) + len(report.missing)},
        "gave_up": report.gave_up,
        "missing": list(report.missing),
        "summary": report.summary,
        "profiles": report.profiles,
        "requirements": requirements,
        "cases": [result_document(each) for each in report.results],
        **({} if report.baseline is None else {"baseline": comparison_document(report.baseline)}),
    }
