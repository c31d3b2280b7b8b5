"""How each case stands in a report for others: what counts against the backend, what is known, what is no result."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opconform_runners.reports.report import Report, is_unsaid
from opconform_runners.reports.terminal import plain_conclusion
from opconform_runners.verdicts.results import Result

#: `new` counts: a failure, or with a baseline one that it does not expect. `known` is expected by the baseline, `read`
#: counts against an interpretation alone, and `passes` is a pass that the baseline does not expect.
Standing = Literal["pass", "new", "passes", "known", "read", "skipped", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The failures of one operation that stand alike, break the same requirements and have the same reason."""

    standing: Standing
    op: str
    broken: tuple[str, ...]
    reason: str
    results: tuple[Result, ...]

    @property
    def title(self) -> str:
        """The operation, the requirements and the reason."""
        return f"{self.op} {', '.join(self.broken) or 'no requirement named'}: {self.reason}"

    @property
    def smallest(self) -> Result:
        """The case whose inputs are said in the fewest words."""
        return min(self.results, key=lambda each: (len(each.inputs), each.id))


def standings(report: Report) -> Mapping[str, Standing]:
    """How each case of a report stands, by its id."""
    counted = {(each.op, each.id) for each in report.broken}
    met = report.baseline.by_id if report.baseline is not None else {}
    new = {each.id for each in report.baseline.regressions} if report.baseline is not None else set()

    def standing(result: Result) -> Standing:
        if result.verdict == "fail":
            if report.baseline is not None:
                return "new" if result.id in new else "known"
            counts = any((result.op, each) in counted for each in result.broken)
            return "new" if counts or is_unsaid(result, report.requirements) else "read"
        if result.verdict == "pass":
            return "passes" if result.id in met and met[result.id].verdict == "pass" else "pass"
        return "error" if result.verdict == "error" else "skipped"

    return {each.id: standing(each) for each in report.results}


def groups(report: Report) -> tuple[Group, ...]:
    """The failures of a report, those that count first."""
    stands = standings(report)
    found: dict[tuple[Standing, str, tuple[str, ...], str], list[Result]] = defaultdict(list)
    for each in report.results:
        if each.verdict == "fail":
            found[stands[each.id], each.op, each.broken, each.reason or ""].append(each)
    ordered = sorted(found.items(), key=lambda each: (each[0][0] != "new", each[0][1:]))
    return tuple(
        Group(standing=standing, op=op, broken=broken, reason=reason, results=tuple(results))
        for (standing, op, broken, reason), results in ordered
    )


def conclusion_text(report: Report) -> tuple[str, ...]:
    """What the run comes to, in sentences without colours: the first alone where there is nothing to speak of."""
    sentences = tuple(plain_conclusion(report))
    return sentences if report.results else sentences[:1]
