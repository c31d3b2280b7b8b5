"""What a finished run leaves open, so that it does not show conformance."""

from typing import TYPE_CHECKING

from opconform.errors import counted
from opconform_runners.findings.requirement_row import DECIDED, supported

if TYPE_CHECKING:
    from opconform_runners.findings.report import Report

#: The most requirements without a case that are named.
_NAMED = 12


def gaps_of(report: "Report") -> tuple[str, ...]:
    """What a finished run without violations leaves open, so that it does not show conformance.

    A requirement that the harness fulfils needs no decided case.
    """
    if not report.supported:
        return ("no case was supported",)
    ran = sorted(report.ops)
    supporting = {each.op for each in report.results if each.verdict in DECIDED}
    supporting |= {each.kind.op for each in report.tallies if each.kind.verdict in DECIDED}
    absent = [op for op in ran if op not in supporting]
    essential = [each for each in report.results if each.essential and each.op in supporting]
    lacking = [each.id for each in essential if each.verdict not in DECIDED]
    undecided = [
        each.name
        for each in report.requirements
        if report.counts(each)
        and each.op in supporting
        and not each.is_mapped
        and any(each.counts.values())
        and not supported(each.counts)
    ]
    untested = [
        each.name
        for each in report.requirements
        if report.counts(each) and not (each.is_mapped or each.cases or each.profiles)
    ]
    gaps = []
    if absent:
        others = " ".join(sorted(supporting))
        them = "it" if len(absent) == 1 else "them"
        gaps.append(f"no case of {', '.join(absent)} was supported; `certify BACKEND {others}` leaves {them} out")
    if lacking:
        few = f"{len(lacking):,} of {counted(len(essential), 'essential case')}"
        gaps.append(f"{few} {'was' if len(lacking) == 1 else 'were'} not supported, such as {min(lacking)}")
    if undecided:
        gaps.append(f"no case was supported for {', '.join(undecided)}")
    if report.whole and untested:
        more = f" and {len(untested) - _NAMED:,} more" if len(untested) > _NAMED else ""
        gaps.append(f"the specs have no case for {', '.join(untested[:_NAMED])}{more}")
    return tuple(gaps)
