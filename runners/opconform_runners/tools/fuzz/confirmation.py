"""Whether failures recur: their cases are executed again, in fresh harnesses and then several times."""

from collections.abc import Sequence
from dataclasses import replace

from opconform_runners.tools.fuzz.batch import Batches, Failure
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.results import Result

#: How often a case is executed once more to see whether it always fails; a crash takes a new harness, a hang much time.
_REPEATS = 8
_REPEATS_OF = {"crash": 2, "timeout": 0}


def executed_again(batches: Batches, trials: Sequence[Trial]) -> list[FuzzFinding | None]:
    """The failure of each trial, and whether it always fails; None where it never does."""
    outcomes = [[outcome] for outcome in batches.outcomes(trials)]
    for repeat in range(_REPEATS):
        repeated = [number for number, outcome in enumerate(outcomes) if repeat < _repeats(outcome)]
        if not repeated:
            break
        again = batches.outcomes([trials[number] for number in repeated], once=True)
        for number, outcome in zip(repeated, again, strict=True):
            outcomes[number].append(outcome)
    return [_find(outcome) for outcome in outcomes]


def _repeats(outcomes: Sequence[Failure | Result]) -> int:
    """How often to repeat a case that ended so; not at all if it varies already, or neither passes nor fails."""
    first, *others = outcomes
    if not isinstance(first, Failure) and first.verdict != "pass":
        return 0
    if any(isinstance(outcome, Failure) != isinstance(first, Failure) for outcome in others):
        return 0
    return _REPEATS_OF.get(first.result.reason or "", _REPEATS) if isinstance(first, Failure) else _REPEATS


def _find(outcomes: Sequence[Failure | Result]) -> FuzzFinding | None:
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    if not failures:
        return None
    first = failures[0]
    if any(
        failure.signature[:-1] == first.signature[:-1] and failure.signature != first.signature for failure in failures
    ):
        first = first.without_message
    return FuzzFinding(failure=first, is_confirmed=True, varies=len(failures) < len(outcomes))


def recurring(batches: Batches, finding: FuzzFinding) -> FuzzFinding | None:
    """A finding as its case fails now; None if the case does not fail, or always fails by another bug."""
    [again] = executed_again(batches, [finding.failure.trial])
    if again is None:
        return None
    failure = again.failure
    if failure.signature[:-1] != finding.failure.signature[:-1] and not again.varies:
        return None
    if failure.signature[-1] != finding.failure.signature[-1]:
        failure = failure.without_message
    return replace(finding, failure=failure, is_confirmed=True, varies=again.varies)
