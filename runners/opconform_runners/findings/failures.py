"""The kinds of failures, and whether each case counts against the backend."""

import math
import re
from collections.abc import Mapping
from typing import Literal, get_args

from opconform_runners.findings.finding import Severity
from opconform_runners.findings.report import Report
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import OF_CLAIMS

#: `new` counts: a failure or, with a baseline, one that it does not expect. `known` is expected by the baseline, `read`
#: breaks only interpretations that do not count, `passes` is a pass that the baseline does not expect, and `lost` an
#: unsupported case that it does not expect.
Standing = Literal["pass", "new", "passes", "lost", "known", "read", "skipped", "error"]
#: A shape in the description of inputs, as in `data f32[6, 2]`.
_SHAPE = re.compile(r" [a-z]\w*\[(\d{1,18}(?:, \d{1,18}){0,15})\]")
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
#: What each severity means to a reader.
MEANINGS: Mapping[Severity, str] = {
    "memory": "memory is read out of bounds, or an output has data that was never written",
    "crash": "the process ends",
    "hang": "no answer within the time limit",
    "wrong data": "the outputs have wrong elements, shapes or element types",
    "nondeterministic": "two executions differ",
    "accepted-invalid": "a case that violates the specification is accepted",
    "rejected-valid": "a case that the specification allows is rejected",
    "claimed": "a case that the claims cover is refused or less accurate",
    "interpretation": "the specification leaves it open, so it does not count",
}
#: The severity of a failure by its reason; all other reasons are of wrong data.
BY_REASON: Mapping[str, Severity] = {
    "crash": "crash",
    "timeout": "hang",
    "nondeterministic": "nondeterministic",
    "accepted-invalid": "accepted-invalid",
    "rejected-valid": "rejected-valid",
    **dict.fromkeys(OF_CLAIMS, "claimed"),
}


def severity_of(result: Result, standing: Standing = "new") -> Severity:
    """The kind of a failure; `SEVERITIES` has their order."""
    invented = result.reason == "nondeterministic" and result.mismatch is not None and result.mismatch.altered
    if OUT_OF_BOUNDS in result.sentence or invented:
        return "memory"
    return "interpretation" if standing == "read" else BY_REASON.get(result.reason or "", "wrong data")


def result_size(result: Result) -> tuple[int, int, str]:
    """By what failures are ordered: the number of elements of the inputs as they are described, and the description."""
    shapes = [map(int, shape.split(", ")) for shape in _SHAPE.findall(result.inputs)]
    return sum(map(math.prod, shapes)), len(result.inputs), result.id


def standings(report: Report) -> Mapping[str, Standing]:
    """The standing of each case of a report, by its id."""
    counting = {(requirement.op, requirement.id) for requirement in report.broken}
    baseline = report.baseline
    regressions = {regression.id for regression in baseline.regressions} if baseline is not None else set()
    passes = {x.id for x in baseline.passes} if baseline is not None else set()
    lost = {x.id for x in baseline.lost} if baseline is not None else set()

    def standing(result: Result) -> Standing:
        match result.verdict:
            case "fail" if baseline is not None:
                return "new" if result.id in regressions else "known"
            case "fail":
                counts = any((result.op, requirement) in counting for requirement in result.broken)
                return "new" if counts or result.id in report.unnamed else "read"
            case "pass":
                return "passes" if result.id in passes else "pass"
            case "error":
                return "error"
            case "unsupported" if result.id in lost:
                return "lost"
            case _:
                return "skipped"

    return {result.id: standing(result) for result in report.results}
