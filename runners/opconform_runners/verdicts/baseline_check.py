"""Compares a run with its baseline: new failures, known failures, and lines that no longer hold."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ConfigDict

from opconform.suite.case import CaseId
from opconform_runners.verdicts.baseline import Baseline, Line
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason, VerdictName


@dataclass(frozen=True, kw_only=True, slots=True)
class Met:
    """A case, its verdict, and the line of the baseline that applies to it, where there is one."""

    id: CaseId
    verdict: VerdictName
    reason: FailReason | None = None
    line: Line | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """A run against a baseline.

    Attributes:
        regressions: The failures that no line expects, or that a line expects for another reason.
        passes: The cases that pass although a line expects them to fail.
        known: The failures that are expected.
        undecided: The expected failures that neither failed nor passed.
        stale: The lines that apply to no case of the suite.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # also for the classes of its fields

    file: str
    regressions: tuple[Met, ...] = ()
    passes: tuple[Met, ...] = ()
    known: tuple[Met, ...] = ()
    undecided: tuple[Met, ...] = ()
    stale: tuple[Line, ...] = ()

    @property
    def is_as_expected(self) -> bool:
        """Whether there are no regressions, no unexpected passes and no stale lines."""
        return not (self.regressions or self.passes or self.stale)


def compare(baseline: Baseline, results: Sequence[Result], suite: Mapping[str, str]) -> Comparison:
    """The comparison of results with a baseline.

    `suite` has the expectation of each case of the suite, `accept` or `reject`, by its id.
    """
    lines = baseline.lines_of({each.id: each.expect for each in results})
    met: dict[str, list[Met]] = defaultdict(list)
    for each in results:
        line = lines.get(each.id)
        met[_kind(each, line)].append(Met(id=each.id, verdict=each.verdict, reason=each.reason, line=line))
    stale = tuple(each for each in baseline.lines if not each.concerned(suite))
    kinds = ("regressions", "passes", "known", "undecided")
    return Comparison(file=baseline.file, stale=stale, **{kind: tuple(met[kind]) for kind in kinds})


def _kind(result: Result, line: Line | None) -> str:
    if result.verdict == "fail":
        return "known" if line is not None and result.reason in line.endings else "regressions"
    if line is None:
        return ""
    if result.verdict == "pass":
        return "" if "pass" in line.endings else "passes"
    return "undecided"
