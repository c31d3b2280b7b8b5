"""The history of a product's failures: since which release a case fails, and until which one."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from opconform_runners.findings.failures import severity_of
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.grouping import ShownFinding, shown_findings
from opconform_runners.findings.report import Report
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason, VerdictName

#: What a release does with a case. A case that is neither passed nor failed there is unknown.
State = Literal["good", "bad", "unknown"]
#: The kinds of failures that a single execution may miss.
_UNSTEADY = frozenset({"memory", "crash", "hang", "nondeterministic"})
#: The largest accepted probability that a case which passed fails after all, and the most executions for it.
ODDS, MOST = 0.01, 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """How often a case failed, how often it passed, and how often neither."""

    failed: int = 0
    passed: int = 0
    neither: int = 0

    def __add__(self, other: "Trials") -> "Trials":
        return Trials(
            failed=self.failed + other.failed,
            passed=self.passed + other.passed,
            neither=self.neither + other.neither,
        )

    def needed(self) -> int:
        """How often a release must pass the case, given these trials where it is bad; at most `MOST`."""
        return next((count for count in range(1, MOST) if self.odds(count) < ODDS), MOST)

    def odds(self, passed: int) -> float:
        """The probability that a case which fails as in these trials passes so often in succession.

        The failure rate is unknown: before the trials, each rate is equally likely.
        """
        odds = 1.0
        for number in range(passed):
            odds *= (self.passed + 1 + number) / (self.failed + self.passed + 2 + number)
        return odds


def trials_of(verdict: VerdictName, reason: FailReason | None) -> Trials:
    """The executions behind a verdict: a failure was executed again in a fresh harness."""
    if verdict == "pass":
        return Trials(passed=1)
    if verdict != "fail":
        return Trials()
    return Trials(failed=1, passed=1) if reason == "nondeterministic" else Trials(failed=2)


def is_unsteady(result: Result) -> bool:
    """Whether another execution of a failing case may pass."""
    return result.verdict == "fail" and severity_of(result) in _UNSTEADY


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A release: the report of its run, or why there is none or it is not complete.

    `executed` has how often its run executed the cases that failed and did not do the same each time.
    """

    version: str
    report: Report | None = None
    why: str = ""
    executed: Mapping[str, Trials] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Successive releases in which a case fails; in releases between the two it may be unknown.

    Attributes:
        last_good: The last release before them that passes the case; None if none is known.
        first_good: The first release after them that passes it; None if none is known.
        fails_now: Whether the newest release that was run is one of them.
    """

    last_good: str | None = None
    first_bad: str
    last_bad: str
    first_good: str | None = None
    fails_now: bool = False


def intervals(states: Mapping[str, State]) -> tuple[Interval, ...]:
    """The intervals of a case in which it fails, given its state in each release, the oldest first."""
    found: list[Interval] = []
    good, is_open = None, False
    for version, state in states.items():
        if state == "bad" and is_open:
            found[-1] = replace(found[-1], last_bad=version)
        elif state == "bad":
            found.append(Interval(last_good=good, first_bad=version, last_bad=version))
        elif state == "good" and is_open:
            found[-1] = replace(found[-1], first_good=version)
        if state != "unknown":
            good, is_open = (version, False) if state == "good" else (good, True)
    if found and [*states][-1] == found[-1].last_bad:
        found[-1] = replace(found[-1], fails_now=True)
    return tuple(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class DatedFinding:
    """Failures that have something in common, their dates among it.

    Attributes:
        shown: The finding in the last release that has it, with the cases of these dates alone.
        counts: How many of its cases fail in each release, and how many pass or fail there.
    """

    shown: ShownFinding
    interval: Interval
    counts: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class History:
    """The releases of a product that were run, the oldest first.

    `repeats` has the trials of unsteady cases after the runs, by case and release.
    """

    product: str
    releases: tuple[Release, ...]
    repeats: Mapping[str, Mapping[str, Trials]] = field(default_factory=dict)

    @cached_property
    def reports(self) -> Mapping[str, Report]:
        """The reports by release, without those that have none."""
        return {release.version: release.report for release in self.releases if release.report is not None}

    @property
    def newest(self) -> str:
        """The newest release that was run; empty if there is none."""
        return [*self.reports, ""][max(len(self.reports) - 1, 0)]

    @cached_property
    def results(self) -> Mapping[str, Mapping[str, Result]]:
        """The results of each case that failed in a release, by case and release."""
        failed = {x.id for report in self.reports.values() for x in report.results if x.verdict == "fail"}
        results: dict[str, dict[str, Result]] = {name: {} for name in sorted({*failed, *self.repeats})}
        for version, report in self.reports.items():
            for result in report.results:
                if result.id in results:
                    results[result.id][version] = result
        return results

    @cached_property
    def unsteady(self) -> frozenset[str]:
        """The cases whose failure a single execution may miss."""
        repeated = {name for name, x in self.repeats.items() if any(trials.failed for trials in x.values())}
        differing = {case for release in self.releases for case in release.executed}
        kinds = {name for name, x in self.results.items() if any(map(is_unsteady, x.values()))}
        return frozenset(kinds | repeated | differing)

    @cached_property
    def _executed(self) -> Mapping[str, Mapping[str, Trials]]:
        return {release.version: release.executed for release in self.releases}

    def trials(self, case: str, version: str) -> Trials:
        """How often a case failed and passed in a release."""
        result, executed = self.results[case].get(version), self._executed[version].get(case)
        run = executed or (Trials() if result is None else trials_of(result.verdict, result.reason))
        return run + self.repeats.get(case, {}).get(version, Trials())

    def bad_trials(self, case: str) -> Trials:
        """How often a case failed and passed in the releases in which it failed."""
        every = (self.trials(case, version) for version in self.results[case])
        return sum((trials for trials in every if trials.failed), Trials())

    def states(self, case: str) -> Mapping[str, State]:
        """The state of a case in each release that was run, the oldest first.

        A release that passed an unsteady case as often as is tried, but too seldom to be sure, is unknown.
        """
        bad = self.bad_trials(case)
        states: dict[str, State] = {}
        for version in self.reports:
            trials = self.trials(case, version)
            is_unsure = case in self.unsteady and trials.passed >= MOST and bad.odds(trials.passed) >= ODDS
            is_good = trials.passed and not trials.neither and not is_unsure
            states[version] = "bad" if trials.failed else "good" if is_good else "unknown"
        return states

    @cached_property
    def intervals(self) -> Mapping[str, tuple[Interval, ...]]:
        """The intervals of each case."""
        return {case: intervals(self.states(case)) for case in self.results}

    def doubts(self) -> Iterator[tuple[str, str, int]]:
        """The unsteady cases beside whose intervals a release passed too seldom: release, case, and how often more."""
        for case in sorted(self.unsteady):
            needed = self.bad_trials(case).needed()
            beside = {x for interval in self.intervals[case] for x in (interval.last_good, interval.first_good)}
            for version in self.reports:
                if version in beside and (more := needed - self.trials(case, version).passed) > 0:
                    yield version, case, more

    @cached_property
    def changes(self) -> Mapping[str, tuple[int, int]]:
        """How many cases newly fail, and how many are mended, in each release that was run."""
        every = [interval for of_case in self.intervals.values() for interval in of_case]
        new = Counter(interval.first_bad for interval in every if interval.last_good is not None)
        mended = Counter(interval.first_good for interval in every)
        return {version: (new[version], mended[version]) for version in self.reports}

    @cached_property
    def findings(self) -> tuple[DatedFinding, ...]:
        """The findings by date: first the ones of the newest release, the worst first, then the newest mended."""
        rows: list[DatedFinding] = []
        for version, report in [*self.reports.items()][::-1]:
            every = ((case, interval) for case, of_case in self.intervals.items() for interval in of_case)
            ended = {case: interval for case, interval in every if interval.last_bad == version}
            if ended:
                rows += self._dated(version, ended, report.findings if version == self.newest else ())
        return tuple(rows)

    def _dated(self, version: str, ended: Mapping[str, Interval], known: Sequence[Finding]) -> Iterator[DatedFinding]:
        """The findings of a release, each divided by its dates, of the cases that fail there for the last time.

        Some findings are known, with their conditions. A case is in the first one that has it.
        """
        report = self.reports[version]
        covered = {case for finding in known for case in finding.cases}
        rest = tuple(self._failure(case, version) for case in ended if case not in covered)
        others = replace(report, results=rest, findings=())
        shown = (*(shown_findings(report) if known else ()), *(shown_findings(others) if others.results else ()))
        taken: set[str] = set()
        for finding in shown:
            dates: dict[Interval, list[Result]] = defaultdict(list)
            for result in finding.results:
                if result.id in ended and result.id not in taken:
                    dates[ended[result.id]].append(result)
            taken.update(result.id for result in finding.results)
            for interval, cases in dates.items():
                counts = self._counts([case.id for case in cases])
                yield DatedFinding(shown=replace(finding, results=tuple(cases)), interval=interval, counts=counts)

    def _failure(self, case: str, version: str) -> Result:
        """The failure of a case in a release; where only a repetition failed, the last one in another release."""
        results = self.results[case]
        failing = [result for result in results.values() if result.verdict == "fail"]
        in_version = results.get(version)
        if in_version is not None and not failing:
            trials = self.trials(case, version)
            sentence = f"failed {trials.failed:,} of {trials.failed + trials.passed:,} executions"
            return replace(
                in_version, verdict="fail", reason="nondeterministic", sentence=sentence, broken=in_version.requirements
            )
        return in_version if in_version in failing and in_version is not None else failing[-1]

    def _counts(self, cases: Collection[str]) -> Mapping[str, tuple[int, int]]:
        states = [self.states(case) for case in cases]
        return {
            version: (sum(x[version] == "bad" for x in states), sum(x[version] != "unknown" for x in states))
            for version in self.reports
        }


def span(interval: Interval) -> str:
    """The dates of an interval, as in `since 2025.0.0 (last good 2024.6.0), mended in 2025.2.0`."""
    good = f" (last good {interval.last_good})" if interval.last_good else " or before"
    if interval.fails_now:
        return f"since {interval.first_bad}{good}"
    ended = f"mended in {interval.first_good}" if interval.first_good else f"unknown after {interval.last_bad}"
    return f"since {interval.first_bad}{good}, {ended}"
