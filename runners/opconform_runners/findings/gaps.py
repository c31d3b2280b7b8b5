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
    supporting = {result.op for result in report.results if result.verdict in DECIDED}
    supporting |= {tally.kind.op for tally in report.tallies if tally.kind.verdict in DECIDED}
    absent = [op for op in ran if op not in supporting]
    essential = [result for result in report.results if result.essential and result.op in supporting]
    lacking = [x.id for x in essential if x.verdict not in DECIDED]
    undecided = [
        requirement.name
        for requirement in report.requirements
        if report.counts(requirement)
        and requirement.op in supporting
        and not requirement.is_mapped
        and any(requirement.counts.values())
        and not supported(requirement.counts)
    ]
    untested = [
        requirement.name
        for requirement in report.requirements
        if report.counts(requirement) and not (requirement.is_mapped or requirement.cases or requirement.profiles)
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
    if report.whole and untested and not report.suite.uses:  # the specs of a model test what the model uses
        more = f" and {len(untested) - _NAMED:,} more" if len(untested) > _NAMED else ""
        gaps.append(f"the specs have no case for {', '.join(untested[:_NAMED])}{more}")
    return tuple(gaps)
