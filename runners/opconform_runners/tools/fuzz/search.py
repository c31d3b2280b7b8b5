"""The search: batches of drawn trials are executed, and the failures are reduced to one finding per bug."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from opconform.errors import counted
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.findings.requirement_row import DECIDED
from opconform_runners.tools.fuzz.batch import Batches, Failure, lesson_of
from opconform_runners.tools.fuzz.cases.reduction import reduce
from opconform_runners.tools.fuzz.cases.simplicity import cost
from opconform_runners.tools.fuzz.cases.supply import Source
from opconform_runners.tools.fuzz.confirmation import executed_again, recurring
from opconform_runners.tools.fuzz.finding import FuzzFinding, distinct, severity_order
from opconform_runners.tools.fuzz.graphs.alone import nodes_alone
from opconform_runners.tools.fuzz.trial import Trial, is_defined
from opconform_runners.verdicts.results import Result

#: How many failures of one sign are reduced, since one sign can have several causes.
_REDUCED = 2
#: How many failures of nodes of one sign are looked at.
_NODES = 4
#: How many messages may reject valid cases of the same requirements until they are taken for one that varies.
_MESSAGES = 50
#: The part of the time after which the failures are reduced, and the parts after which reductions and repetitions end.
SHARES_OF_TIME = (0.6, 1.5, 2.0)
_SEARCHING, _REDUCING, _REPEATING = SHARES_OF_TIME
#: The least time of a search, in seconds, to which these parts refer if only its tests are limited.
_LEAST = 60.0
#: The fewest decided valid cases, and the part of all decided cases that fails, with which a search ends early.
_VALID, _NEARLY_ALL = 12, 0.9


class _TimeIsUpError(Exception):
    """Ends the reduction of a failure whose time is over."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchLimits:
    """When a search ends: after some tests, or some seconds."""

    tests: float = math.inf
    seconds: float = math.inf


@dataclass(slots=True)
class Search:
    """A search on one backend.

    Attributes:
        tests: How many trials were executed, without known ones and the trials of reductions.
        counts: How many of them have each verdict.
        executed: How many of them there are, by operation.
        decided: How many of them passed or failed, by operation.
        valid: The verdicts of the valid ones of these.
        fails: Whether nearly all of these failed, so that the search ended early, with one finding.
        errors: The first result with each error of the harness.
        graphs: Whether graphs of the operations are drawn, and not cases of each.
        earlier: The trials of an earlier search.
        known: Those that still fail, by their keys.
        fixed: Those that no longer fail.
        seen: The simplest failures of each sign, until they are reduced and confirmed.
        confirmed: The new findings that were confirmed.
        unsettled: How many failures did not recur.
        on_finding: Called when a finding is confirmed.
    """

    batches: Batches
    limits: SearchLimits
    seed: int = 0
    tests: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    executed: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    fails: bool = False
    graphs: bool = False
    errors: dict[str, Result] = field(default_factory=dict)
    earlier: Sequence[Trial] = ()
    known: dict[tuple[str, ...], FuzzFinding] = field(default_factory=dict)
    fixed: list[Trial] = field(default_factory=list)
    seen: dict[tuple[str, ...], list[FuzzFinding]] = field(default_factory=dict)
    confirmed: list[FuzzFinding] = field(default_factory=list)
    unsettled: int = 0
    on_finding: Callable[[], None] = lambda: None
    _of_graphs: list[FuzzFinding] = field(default_factory=list)
    _nodes: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _settled: dict[tuple[str, ...], FuzzFinding] = field(default_factory=dict)
    _seconds: float = math.inf
    _begun: float = field(default_factory=time.monotonic)

    @property
    def found(self) -> dict[tuple[str, ...], FuzzFinding]:
        """The new findings by their keys: the confirmed ones, and the simplest others that repeat no other one."""
        return {finding.key: finding for finding in (*self.confirmed, *self._new(self._unconfirmed))}

    @property
    def _unconfirmed(self) -> list[FuzzFinding]:
        """The simplest failures of all signs, and those of graphs that were not looked at yet."""
        return [*(finding for simplest in self.seen.values() for finding in simplest), *self._of_graphs]

    def _new(self, findings: Sequence[FuzzFinding]) -> list[FuzzFinding]:
        taken = {x.draft.digits for x in self.earlier}
        taken.update(x.failure.trial.draft.digits for x in self.confirmed)
        new = distinct(findings, self.known | self._settled)
        return [finding for finding in new if finding.failure.trial.draft.digits not in taken]

    def run(self, operations: Sequence[str], on_progress: OnProgress) -> None:
        """Execute trials of some operations until a limit is reached.

        Raises:
            HarnessError: The harness cannot be started.
        """
        if self.earlier:
            self._note_known()
        end = self.limits.seconds * _SEARCHING
        source = Source(operations=operations, graphs=self.graphs)
        with self.batches.drawn(source, self.seed, self.limits.tests) as drawn:
            self.batches.start()  # while the first batch is drawn
            for batch in drawn:
                for outcome in self.batches.outcomes(batch, self._begun + end, once=True):
                    self._count(outcome)
                    source.lessons.update([lesson_of(outcome)] if self.graphs else [])
                    on_progress(max(self.tests / self.limits.tests, min(1.0, self._elapsed() / end)), self.tests)
                    if self.fails:
                        break
                self._note_nodes()
                if self.fails or self._elapsed() >= end:
                    break
        self._seconds = min(self.limits.seconds, max(_LEAST, self._elapsed() / _SEARCHING))

    def _count(self, outcome: Failure | Result) -> None:
        self.tests += 1
        result = outcome.result if isinstance(outcome, Failure) else outcome
        self.counts[result.verdict] += 1
        self.executed[result.op] += 1
        if result.verdict == "error":
            self.errors.setdefault(result.sentence, result)
        if result.verdict in DECIDED:
            self.decided[result.op] += 1
            self.valid[result.verdict] += result.expect == "accept"
        if isinstance(outcome, Failure):
            finding = FuzzFinding(failure=outcome, tests=self.tests, seconds=self._elapsed())
            if outcome.trial.draft.graph is not None:
                self._of_graphs.append(finding)
            else:
                self._note(finding)
        if self.valid.total() >= _VALID and all(_nearly_all_fail(x) for x in (self.valid, self.counts)):
            self.fails = True
            # A case with other nodes is inconclusive if these fail too.
            simplest = min(self._unconfirmed, key=lambda x: (x.failure.trial.draft.has_other_nodes, _cost(x)))
            self.seen = {} if self.known else {simplest.failure.sign: [simplest]}
            self._of_graphs = []

    def _note_nodes(self) -> None:
        """Keep the failures of graphs; one of which a node fails alone, too, is a failure of its operation."""
        for finding in self._of_graphs:
            self._nodes[finding.failure.sign] += finding.failure.is_of_node
            if self._nodes[finding.failure.sign] <= _NODES:
                for attributed in self._attributed(finding):
                    self._note(attributed)
        self._of_graphs = []

    def _attributed(self, finding: FuzzFinding) -> list[FuzzFinding]:
        """A failure of a graph as the failures of its operations, if cases of these fail alone.

        A node that fails alone often does so with plain elements, which are tried first.
        """
        draft, seed = finding.failure.trial.draft, self.batches.options.seed
        for is_plain in (True, False) if finding.failure.is_of_node else (False,):
            trials = [x for x in nodes_alone(draft, seed, is_plain=is_plain) if is_defined(x, seed)]
            failures = [x for x in self.batches.outcomes(trials, once=True) if isinstance(x, Failure)]
            if failures:
                return [replace(finding, failure=failure) for failure in failures]
        return [finding]

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _note_known(self) -> None:
        findings = executed_again(self.batches, self.earlier)
        self.known = {finding.key: finding for finding in findings if finding is not None}
        self.fixed = [x for x, finding in zip(self.earlier, findings, strict=True) if finding is None]

    def _note(self, finding: FuzzFinding) -> None:
        """Keep a failure if it is among the simplest of its sign."""
        failure = finding.failure
        if failure.result.reason == "rejected-valid":
            alike = [
                sign
                for sign, simplest in self.seen.items()
                if simplest[0].failure.signature[:-1] == failure.signature[:-1]
            ]
            if failure.without_message.sign in alike or len(alike) > _MESSAGES:
                for former in [former for sign in alike for former in self.seen.pop(sign)]:
                    self._keep(replace(former, failure=former.failure.without_message))
                finding = replace(finding, failure=failure.without_message)
        self._keep(finding)

    def _keep(self, finding: FuzzFinding) -> None:
        digits, sign = finding.failure.trial.draft.digits, finding.failure.sign
        others = [seen for seen in self.seen.get(sign, ()) if seen.failure.trial.draft.digits != digits]
        self.seen[sign] = sorted([finding, *others], key=_cost)[:_REDUCED]

    def reduce(self, on_progress: OnProgress) -> None:
        """Replace each failure by the simplest case that fails alike, the worst failure first, and confirm it.

        The failures share the time. What some do not need is shared again by those whose reduction did not end.
        """
        findings = self._unconfirmed
        signs = [finding.failure.sign for finding in findings]
        end = self._begun + (0.0 if self.fails else self._seconds * _REDUCING)
        outcomes: dict[str, Failure | Result] = {}
        waiting = sorted(range(len(findings)), key=lambda x: severity_order(findings[x]))
        while waiting and time.monotonic() < end:
            for done, number in enumerate(waiting):
                reduced = sum(finding.is_reduced for finding in findings)
                on_progress(reduced / len(findings), reduced)
                now = time.monotonic()
                until = now + (end - now) / (len(waiting) - done)
                findings[number] = self._reduced(findings[number], signs[number], until, outcomes)
            waiting = [number for number in waiting if not findings[number].is_reduced]
        on_progress(1.0, len(findings))
        self._confirm(findings, on_progress)

    def _reduced(
        self, finding: FuzzFinding, sign: tuple[str, ...], until: float, outcomes: dict[str, Failure | Result]
    ) -> FuzzFinding:
        """A finding with the simplest case that fails with a sign and is found until a time (monotonic).

        `outcomes` has the outcomes of the cases that were executed, by their digits.
        """
        alike = [finding]

        def fails(trial: Trial) -> bool:
            digits = trial.draft.digits
            if digits not in outcomes:
                if time.monotonic() >= until:
                    raise _TimeIsUpError
                if not is_defined(trial, self.batches.options.seed):
                    return False
                [outcomes[digits]] = self.batches.outcomes([trial], once=True)
            outcome = outcomes[digits]
            if not isinstance(outcome, Failure) or sign not in (outcome.sign, outcome.without_message.sign):
                return False
            alike.append(replace(finding, failure=replace(outcome, trial=trial)))
            return True

        try:
            reduce(finding.failure.trial, fails)
        except _TimeIsUpError:
            return min(alike, key=_cost)
        return replace(min(alike, key=_cost), is_reduced=True)

    def _confirm(self, reduced: Sequence[FuzzFinding], on_progress: OnProgress = lambda *_: None) -> None:
        """Settle the failures that recur in fresh harnesses: the reduced case of each, or else the drawn one."""
        until = self._begun + self._seconds * _REPEATING
        drawn = self._unconfirmed
        waiting = dict(enumerate(reduced))
        ranked = sorted(waiting, key=lambda x: severity_order(reduced[x]))
        for number in staged(ranked, on_progress, f"Confirming {counted(len(ranked), 'failure')}"):
            self.seen = {}
            for finding in waiting.values():
                self.seen.setdefault(finding.failure.sign, []).append(finding)
            if time.monotonic() >= until:
                return
            self._settle(waiting.pop(number), drawn[number])
        self.seen = {}

    def _settle(self, finding: FuzzFinding, drawn: FuzzFinding) -> None:
        """Keep a finding if it is new and recurs, or else the case from which it was reduced."""
        if not self._new([finding]):
            return
        tried = [finding] if finding.failure.trial == drawn.failure.trial else [finding, drawn]
        again = next(filter(None, (recurring(self.batches, x) for x in tried)), finding if self.fails else None)
        if again is None:
            self.unsettled += 1
            return
        if again.failure.trial.draft.graph is not None:
            [again, *_] = self._attributed(again)
        new = self._new([again])
        self._settled.setdefault(again.key, again)
        self.confirmed += new
        if new:
            self.on_finding()


def _nearly_all_fail(verdicts: Counter[str]) -> bool:
    return verdicts["fail"] >= _NEARLY_ALL * (verdicts["pass"] + verdicts["fail"])


def _cost(finding: FuzzFinding) -> tuple[int, int, int, int, str]:
    return cost(finding.failure.trial.draft)
