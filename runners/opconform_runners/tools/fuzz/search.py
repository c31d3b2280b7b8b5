"""The search: batches of drawn trials are executed, and the failures are reduced to one find per fault."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.fault import Find, distinct
from opconform_runners.tools.fuzz.reduction import cost, simpler
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.results import Result

#: Called periodically with the completed fraction (0 to 1) and the number of tests or of reduced failures.
OnProgress = Callable[[float, int], None]

#: How many failures of one sign are reduced, since one sign can have several causes.
_REDUCED = 2
#: How many simpler trials of each failure are in a batch; the first that fails alike ends it.
_AT_ONCE = 24
#: The part of the time after which the failures are reduced, and the part after which reductions end.
_SEARCHING, _REDUCING = 0.6, 1.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """When a search ends: after some tests, or some seconds."""

    tests: float = math.inf
    seconds: float = math.inf


@dataclass(slots=True)
class Search:
    """A search on one backend.

    Attributes:
        tests: How many trials were executed, without known ones and those of reductions.
        counts: How many of them have each verdict.
        errors: The first result with each error of the harness.
        earlier: The trials of an earlier search.
        known: Those that still fail, by their keys.
        fixed: Those that no longer fail.
        seen: The simplest failures of each sign, until they are reduced.
        found: The new finds, by their keys.
    """

    batches: Batches
    limits: Limits
    seed: int = 0
    tests: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    errors: dict[str, Result] = field(default_factory=dict)
    earlier: Sequence[Trial] = ()
    known: dict[tuple[str, ...], Find] = field(default_factory=dict)
    fixed: list[Trial] = field(default_factory=list)
    seen: dict[tuple[str, ...], list[Find]] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)

    @property
    def found(self) -> dict[tuple[str, ...], Find]:
        """The new finds by their keys, the simplest of each that repeats no other one."""
        seen = [each for some in self.seen.values() for each in some]
        taken = {each.draft.digits for each in self.earlier}
        return {each.key: each for each in distinct(seen, self.known) if each.failure.trial.draft.digits not in taken}

    def run(self, operations: Sequence[str], on_progress: OnProgress) -> None:
        """Execute trials of some operations until a limit is reached.

        Raises:
            HarnessError: The harness cannot be started.
        """
        if self.earlier:
            self._note_known()
        end = self.limits.seconds * _SEARCHING
        with self.batches.drawn(operations, self.seed, self.limits.tests) as drawn:
            self.batches.start()  # while the first batch is drawn
            for batch in drawn:
                for outcome in self.batches.outcomes(batch, self._begun + end, once=True):
                    self.tests += 1
                    result = outcome.result if isinstance(outcome, Failure) else outcome
                    self.counts[result.verdict] += 1
                    if result.verdict == "error":
                        self.errors.setdefault(result.sentence, result)
                    if isinstance(outcome, Failure):
                        self._note(Find(failure=outcome, tests=self.tests, seconds=self._elapsed()))
                    on_progress(max(self.tests / self.limits.tests, min(1.0, self._elapsed() / end)), self.tests)
                if self._elapsed() >= end:
                    break

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _note_known(self) -> None:
        failures = [each for each in self.batches.outcomes(self.earlier) if isinstance(each, Failure)]
        for failure in failures:
            find = Find(failure=failure)
            self.known[find.key] = find
        failing = {failure.trial.draft.digits for failure in failures}
        self.fixed = [each for each in self.earlier if each.draft.digits not in failing]

    def _note(self, find: Find) -> None:
        """Keep a failure if it is among the simplest of its sign."""
        draft = find.failure.trial.draft
        others = [
            each for each in self.seen.get(find.failure.sign, ()) if each.failure.trial.draft.digits != draft.digits
        ]
        some = sorted([find, *others], key=lambda each: cost(each.failure.trial.draft))
        self.seen[find.failure.sign] = some[:_REDUCED]

    def reduce(self, on_progress: OnProgress) -> None:
        """Replace each failure by the simplest case that fails alike, all in the same batches, and confirm it."""
        current = [each for some in self.seen.values() for each in some]
        drawn = [each.failure for each in current]
        tried = [set[str]() for _ in current]
        end = self.limits.seconds * _REDUCING
        while self._elapsed() < end:
            proposed = []
            for number, find in enumerate(current):
                left = [each for each in simpler(find.failure.trial) if each.draft.digits not in tried[number]]
                proposed.append((drawn[number], left[:_AT_ONCE]))
                current[number] = replace(find, is_reduced=not left)
            if all(each.is_reduced for each in current):
                break
            reduced = sum(each.is_reduced for each in current)
            on_progress(reduced / len(current), reduced)
            for number, failure in enumerate(self.batches.first_alike(proposed, self._begun + end)):
                tried[number].update(each.draft.digits for each in proposed[number][1])
                if failure is not None:
                    current[number] = replace(current[number], failure=failure)
        on_progress(1.0, len(current))
        self._confirm(current)

    def _confirm(self, reduced: Sequence[Find]) -> None:
        """Keep the failures that recur in fresh harnesses: the reduced case of each, or else the drawn one."""
        drawn = [each for some in self.seen.values() for each in some]
        recurring = self._recurring(reduced)
        others = [first for first, found in zip(drawn, recurring, strict=True) if found is None]
        confirmed = [each for each in (*recurring, *self._recurring(others)) if each is not None]
        self.seen = {}
        for each in confirmed:
            self._note(each)

    def _recurring(self, finds: Sequence[Find]) -> list[Find | None]:
        """Each find as it failed in fresh harnesses, or None if it did not show the same fault there."""
        outcomes = self.batches.outcomes([each.failure.trial for each in finds])
        return [
            replace(find, failure=outcome, is_confirmed=True)
            if isinstance(outcome, Failure) and outcome.fault == find.failure.fault
            else None
            for find, outcome in zip(finds, outcomes, strict=True)
        ]
