"""The conclusion of a run, in sentences."""

from collections import defaultdict
from collections.abc import Iterable

from opconform_runners.reports.report import Report, RequirementRow
from opconform_runners.reports.text import counted


def conclusion(report: Report) -> list[str]:
    """The conclusion of a run, in sentences; the first begins with the verdict in capitals and the coverage."""
    sentences = [f"{report.conclusion.upper()}, {report.coverage}: {_reasons(report)}"]
    if report.results and not report.whole:
        sentences.append("This may be a selection: only `certify`, or `judge` of whole profiles, certifies.")
    if report.results and report.implementation.mapped:
        sentences.append("The harness fulfils the mapped requirements itself; their cases do not test the backend.")
    return sentences


def _reasons(report: Report) -> str:
    passed = counted(report.summary["pass"], "passes", "pass")
    failed = counted(report.summary["fail"], "case fails", "cases fail")
    if report.conformant is None:
        missing = f"{counted(len(report.missing), 'case has', 'cases have')} no verdict." if report.gave_up else ""
        broken = f"Broken so far: {_names(report.broken)}." if report.broken else ""
        parts = [f"{report.unsettled}.", missing if report.missing else "", f"{passed}.", broken]
    else:
        interpretations = f"Interpretation differences (not counted): {_names(report.differing)}."
        if report.conformant:
            parts = [f"{passed}, and no normative requirement is broken."]
        else:
            kind = "requirement" if report.strict else "normative requirement"
            broken = counted(len(report.broken), f"{kind} is", f"{kind}s are")
            named = f"{broken} broken: {_names(report.broken)}" if report.broken else ""
            unnamed = f"{len(report.unnamed):,} of them without naming a requirement" if report.unnamed else ""
            parts = [f"{'; '.join(each for each in (failed, named, unnamed) if each)}."]
        parts.append(interpretations if report.differing else "")
    return " ".join(each for each in parts if each)


def _names(rows: Iterable[RequirementRow]) -> str:
    operations: dict[str, list[str]] = defaultdict(list)
    for each in rows:
        operations[each.op].append(each.id)
    return "; ".join(f"{op}: {', '.join(ids)}" for op, ids in operations.items())
