"""What a finished run leaves open, so that it does not show conformance."""

from collections.abc import Sequence

from opconform.errors import counted
from opconform_runners.findings.requirement_row import DECIDED, RequirementRow, supported
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.tally import Tally

#: The most requirements without a case that are named.
_NAMED = 12


def gaps_of(
    results: Sequence[Result], tallies: Sequence[Tally], requirements: Sequence[RequirementRow], *, is_whole: bool
) -> tuple[str, ...]:
    """What a finished run without violations leaves open, so that it does not show conformance.

    Args:
        results: The results of its cases; some cases were supported.
        tallies: The cases that have no results of their own.
        requirements: The requirements that count. One that the harness fulfils needs no decided case.
        is_whole: Whether the run must have a case of every requirement.
    """
    verdicts = {(result.op, result.verdict) for result in results} | {(x.kind.op, x.kind.verdict) for x in tallies}
    supporting = {op for op, verdict in verdicts if verdict in DECIDED}
    absent = sorted({op for op, _ in verdicts} - supporting)
    essential = [result for result in results if result.essential and result.op in supporting]
    lacking = [x.id for x in essential if x.verdict not in DECIDED]
    undecided = [
        requirement.name
        for requirement in requirements
        if requirement.op in supporting
        and not requirement.is_mapped
        and any(requirement.counts.values())
        and not supported(requirement.counts)
    ]
    untested = [
        requirement.name
        for requirement in requirements
        if not (requirement.is_mapped or requirement.cases or requirement.profiles)
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
    if is_whole and untested:
        more = f" and {len(untested) - _NAMED:,} more" if len(untested) > _NAMED else ""
        gaps.append(f"the specs have no case for {', '.join(untested[:_NAMED])}{more}")
    return tuple(gaps)
