"""The failures of a run in groups, and whether each case counts against the backend."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from opconform_runners.reports.report import Report
from opconform_runners.verdicts.results import Result

#: `new` counts: a failure or, with a baseline, one that it does not expect. `known` is expected by the baseline, `read`
#: breaks only interpretations that do not count, and `passes` is a pass that the baseline does not expect.
Standing = Literal["pass", "new", "passes", "known", "read", "skipped", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Failures of one operation with the same standing, broken requirements and reason.

    Attributes:
        requirements: The text of each broken requirement that is known, by its id.
        results: The failures, those with the shortest inputs first.
    """

    standing: Standing
    op: str
    broken: tuple[str, ...]
    reason: str
    requirements: Mapping[str, str]
    results: tuple[Result, ...]

    @property
    def names(self) -> str:
        """The broken requirements."""
        return ", ".join(self.broken) or "no requirement named"

    @property
    def smallest(self) -> Result:
        """The failure with the shortest inputs."""
        return self.results[0]


def standings(report: Report) -> Mapping[str, Standing]:
    """The standing of each case of a report, by its id."""
    counting = {(each.op, each.id) for each in report.broken}
    baseline = report.baseline
    regressions = {each.id for each in baseline.regressions} if baseline is not None else set()
    passes = {each.id for each in baseline.passes} if baseline is not None else set()

    def standing(result: Result) -> Standing:
        match result.verdict:
            case "fail" if baseline is not None:
                return "new" if result.id in regressions else "known"
            case "fail":
                counts = any((result.op, each) in counting for each in result.broken)
                return "new" if counts or result.id in report.unnamed else "read"
            case "pass":
                return "passes" if result.id in passes else "pass"
            case "error":
                return "error"
            case _:
                return "skipped"

    return {each.id: standing(each) for each in report.results}


def groups(report: Report, standing: Iterable[Standing] = ("new", "known", "read")) -> tuple[Group, ...]:
    """The failures of a report with one of some standings, those that count first."""
    stands, wanted = standings(report), set(standing)
    texts = {(each.op, each.id): each.text for each in report.requirements}
    found: dict[tuple[Standing, str, tuple[str, ...], str], list[Result]] = defaultdict(list)
    for each in report.results:
        if each.verdict == "fail" and stands[each.id] in wanted:
            found[stands[each.id], each.op, each.broken, each.reason or ""].append(each)
    ordered = sorted(found.items(), key=lambda each: (each[0][0] != "new", each[0][1:]))
    return tuple(
        Group(
            standing=standing,
            op=op,
            broken=broken,
            reason=reason,
            requirements={each: texts[op, each] for each in broken if (op, each) in texts},
            results=tuple(sorted(results, key=lambda each: (len(each.inputs), each.id))),
        )
        for (standing, op, broken, reason), results in ordered
    )
