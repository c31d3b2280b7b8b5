"""The report of a run: its verdict, and its cases by verdict, by profile and by requirement."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Literal

from opconform.errors import counted
from opconform.suite.manifest import RequirementNote
from opconform.suite.selection.selection import Shard
from opconform_runners.backends.backend import Implementation, full_name
from opconform_runners.findings.accuracy import Accuracies, accuracy_of
from opconform_runners.findings.claim_coverage import Claimed, claimed_of
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.gaps import gaps_of
from opconform_runners.findings.known.failures import Known
from opconform_runners.findings.packs import PackCounts, pack_counts
from opconform_runners.findings.requirement_row import RequirementRow, supported
from opconform_runners.harness.environment import UNKNOWN, Environment
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts.accuracy_level import LeastAccuracy
from opconform_runners.verdicts.baseline import Comparison
from opconform_runners.verdicts.flushing import FLUSHES_DENORMALS
from opconform_runners.verdicts.results import Result, placements_of, tally_kind_of
from opconform_runners.verdicts.run_header import CommandOptions, RunHeader, SuiteNote
from opconform_runners.verdicts.tally import Tally

#: The verdicts in the order in which reports count them.
VERDICTS = ("pass", "fail", "unsupported", "inconclusive", "error")


#: The options of an installed backend, which are quoted where they contain a space.
_BACKEND = re.compile(r"--backend '?([\w-]+)(?=[:' ]|$)")


@dataclass(frozen=True, kw_only=True)
class Report:
    """A run, and its verdict, which is computed from its results.

    Attributes:
        notes: The level, the text and the profiles of every requirement, by operation and id.
        missing: The ids of the cases without a verdict.
        tallies: The cases of a streamed run that did not fail and therefore have no results.
        gave_up: Why cases are missing, or None.
        baseline: The comparison with the expected failures, where a baseline was given.
        findings: What the failures have in common, if that was searched; the verdict does not depend on it.
        known: Which failures are known of a release of the backend's product, if its findings are known.

    It has the other attributes of `RunHeader`.
    """

    format: Literal[1] = 1
    suite: SuiteNote
    implementation: Implementation
    started: CommandOptions = ""
    notes: Mapping[str, Mapping[str, RequirementNote]]
    results: tuple[Result, ...]
    missing: tuple[str, ...] = ()
    gave_up: str | None = None
    whole: bool
    partial: bool = False
    strict: bool
    least_accuracy: LeastAccuracy = "reduced"
    claims: str | None = None
    environment: Environment = UNKNOWN
    outputs: str | None = None
    shard: Shard | None = None
    tallies: tuple[Tally, ...] = ()
    baseline: Comparison | None = None
    findings: tuple[Finding, ...] = ()
    known: Known | None = None

    @property
    def backend(self) -> str:
        """The installed backend that was run, without its device; empty for the class of a file and for a harness."""
        match = _BACKEND.match(self.started)
        return match[1] if match is not None else ""

    @cached_property
    def requirements(self) -> tuple[RequirementRow, ...]:
        """The requirements of the operations that were run."""
        verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        cases = Counter(full_name(result.op, name) for result in self.results for name in set(result.requirements))
        for item in self.results:
            for name in self._broken_by(item) if item.verdict == "fail" else set(item.requirements):
                verdicts[full_name(item.op, name)][item.verdict] += 1
        for tally in self.tallies:
            for name in set(tally.kind.requirements):
                verdicts[full_name(tally.kind.op, name)][tally.kind.verdict] += tally.cases
                cases[full_name(tally.kind.op, name)] += tally.cases
        ran = self.ops
        return tuple(
            RequirementRow(
                op=op,
                id=name,
                level=note.level,
                text=note.text,
                counts={verdict: verdicts[full_name(op, name)][verdict] for verdict in VERDICTS},
                is_mapped=full_name(op, name) in self.implementation.mapped,
                cases=cases[full_name(op, name)],
                profiles=note.profiles,
            )
            for op, notes in self.notes.items()
            if op in ran
            for name, note in notes.items()
        )

    def _broken_by(self, result: Result) -> set[str]:
        """The requirements that a failing case counts against.

        A normative requirement that some elements misread counts always. Where several interpretations explain a
        failure, these are the ones that another case breaks alone, or else those that no case passes.
        """
        alone = {name for name in result.broken if (result.op, name) in self._broken_alone}
        never_passed = {name for name in result.broken if (result.op, name) not in self._passed}
        notes = self.notes.get(result.op, {})
        misread = {name for name in result.broken if name in notes and notes[name].level == "normative"}
        return misread | (alone or never_passed or set(result.broken))

    @cached_property
    def _broken_alone(self) -> frozenset[tuple[str, str]]:
        failing = (result for result in self.results if result.verdict == "fail")
        return frozenset((case.op, name) for case in failing if len(case.broken) == 1 for name in case.broken)

    @cached_property
    def _less_accurate(self) -> frozenset[tuple[str, str]]:
        """The requirements that results outside their bounds, and inside the reduced ones, break."""
        rounded = (result for result in self.results if result.reason == "rounding")
        return frozenset((result.op, name) for result in rounded for name in result.broken)

    @cached_property
    def _passed(self) -> frozenset[tuple[str, str]]:
        kinds = (*map(tally_kind_of, self.results), *(tally.kind for tally in self.tallies))
        passing = (kind for kind in kinds if kind.verdict == "pass")
        return frozenset((x.op, name) for x in passing for name in x.requirements)

    @cached_property
    def broken(self) -> tuple[RequirementRow, ...]:
        """The requirements whose violation makes the backend non-conformant."""
        return tuple(
            requirement for requirement in self.requirements if requirement.is_broken and self.counts(requirement)
        )

    @property
    def differing(self) -> tuple[RequirementRow, ...]:
        """The broken interpretations, where they do not count."""
        return tuple(
            requirement for requirement in self.requirements if requirement.is_broken and not self.counts(requirement)
        )

    @cached_property
    def unnamed(self) -> frozenset[str]:
        """The ids of the failures that break no known requirement, and count as normative."""
        known = {requirement.name for requirement in self.requirements}
        failing = (result for result in self.results if result.verdict == "fail" and result.reason != "nan-payload")
        return frozenset(case.id for case in failing if known.isdisjoint(full_name(case.op, n) for n in case.broken))

    @cached_property
    def accuracy(self) -> Accuracies:
        """The accuracy of each operation that has rounded results, by element type."""
        return accuracy_of(self.results, self.tallies)

    @property
    def flushed(self) -> int:
        """How many cases pass only since the backend declares to flush denormal numbers to zero."""
        return sum(FLUSHES_DENORMALS in result.remarks for result in self.results)

    @cached_property
    def packs(self) -> PackCounts | None:
        """How many cases were seen in packs, or None if there were none."""
        return pack_counts(self.results, self.tallies)

    @cached_property
    def incidents(self) -> tuple[Incident, ...]:
        """What happened to harness processes and did not recur with a case alone."""
        return tuple(incident for result in self.results for incident in result.incidents)

    @property
    def deaths(self) -> tuple[Incident, ...]:
        """The processes that crashed or hung, which makes the backend non-conformant although no case fails by it."""
        return tuple(incident for incident in self.incidents if incident.is_death)

    @cached_property
    def unfinished(self) -> str:
        """Why the run did not give a verdict to every case of its suite, as it was released; empty where it did."""
        if self.gave_up is not None:
            return self.gave_up.rstrip(".")
        if errors := self.summary["error"]:
            return f"{counted(errors, 'case')} ended in a harness error"
        if self.missing:
            return f"{counted(len(self.missing), 'case has', 'cases have')} no verdict"
        return self.suite.difference

    @property
    def is_finished(self) -> bool:
        """Whether every case has a verdict, and none is an error of the harness."""
        return not self.unfinished

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """Why the verdict is incomplete, one clause per reason; empty where it is not."""
        if self.unfinished:
            return (self.unfinished,)
        if self.is_violated:
            return ()
        if self.shard is not None:
            return (f"only shard {self.shard} was run; merge the shards with `opconform merge`",)
        if not self.supported:
            return ("no case was supported",)
        counted_rows = [row for row in self.requirements if self.counts(row)]
        is_whole = self.whole and not self.suite.uses  # the specs of a model test what the model uses
        return gaps_of(self.results, self.tallies, counted_rows, is_whole=is_whole)

    @property
    def is_passed(self) -> bool:
        """Whether a run has no failure that counts: it is conformant, or a shard that breaks nothing."""
        if self.shard is None:
            return self.conformant is True
        return self.is_finished and not self.is_violated

    @property
    def is_violated(self) -> bool:
        """Whether a case or a process shows that the backend is not conformant."""
        return bool(self.broken or self.unnamed or self.deaths)

    @property
    def conformant(self) -> bool | None:
        """Whether the backend is conformant; None where the verdict is incomplete."""
        return None if self.incomplete else not self.is_violated

    @property
    def is_as_expected(self) -> bool:
        """Whether the run shows what its baseline expects; no baseline expects that a process crashes or hangs."""
        return self.baseline is not None and self.baseline.is_as_expected and not self.deaths

    @cached_property
    def summary(self) -> dict[str, int]:
        """The cases by verdict."""
        return {name: sum(profile[name] for profile in self.profiles.values()) for name in VERDICTS}

    @cached_property
    def profiles(self) -> dict[str, dict[str, int]]:
        """The cases of each profile that was run by verdict, sorted by its name."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for result in self.results:
            counts[result.profile][result.verdict] += 1
        for tally in self.tallies:
            counts[tally.kind.profile][tally.kind.verdict] += tally.cases
        return {name: {verdict: count[verdict] for verdict in VERDICTS} for name, count in sorted(counts.items())}

    @cached_property
    def ops(self) -> frozenset[str]:
        """The operations that were run."""
        return frozenset({result.op for result in self.results} | {tally.kind.op for tally in self.tallies})

    @property
    def cases(self) -> int:
        """How many cases have a verdict."""
        return sum(self.summary.values())

    @property
    def supported(self) -> int:
        """How many cases passed or failed, without claimed ones that were refused."""
        return supported(self.summary) - (self.claimed.refused if self.claimed is not None else 0)

    @property
    def coverage(self) -> str:
        """How many cases the verdict is based on, as in `1,430 of 3,354 cases supported`."""
        return coverage_text(self.supported, self.cases + len(self.missing))

    @property
    def verdict(self) -> str:
        """The conclusion and the coverage, as in `conformant, 1,430 of 3,354 cases supported`."""
        return f"{self.conclusion}, {self.coverage}"

    @property
    def conclusion(self) -> str:
        """The verdict on the backend: `conformant`, `not conformant` or `incomplete`."""
        return "incomplete" if self.conformant is None else "conformant" if self.conformant else "not conformant"

    @cached_property
    def claimed(self) -> Claimed | None:
        """How many cases the claims of the run cover; None without claims."""
        return None if self.claims is None else claimed_of(self.claims, self.results)

    def counts(self, row: RequirementRow) -> bool:
        """Whether a violation of a requirement makes the backend non-conformant."""
        too_coarse = self.least_accuracy == "bounded" and (row.op, row.id) in self._less_accurate
        return self.strict or row.level == "normative" or too_coarse


def report_of(
    header: RunHeader,
    results: Sequence[Result],
    *,
    missing: tuple[str, ...] = (),
    gave_up: str | None = None,
) -> Report:
    """The report of a run, given its header; the other arguments are attributes of `Report`."""
    return Report(
        suite=header.suite,
        implementation=header.implementation,
        started=header.started,
        notes=header.requirements,
        results=tuple(sorted(results, key=attrgetter("id"))),
        missing=missing,
        gave_up=gave_up,
        whole=header.whole,
        partial=header.partial,
        strict=header.strict,
        least_accuracy=header.least_accuracy,
        claims=header.claims,
        environment=header.environment if header.streamed else header.environment.placed(placements_of(results)),
        outputs=header.outputs,
        shard=header.shard,
        tallies=header.streamed.tallies if header.streamed else (),
    )


def coverage_text(supported: int, cases: int) -> str:
    """How many cases are supported, as in `1,430 of 3,354 cases supported`."""
    return f"{supported:,} of {counted(cases, 'case')} supported"
