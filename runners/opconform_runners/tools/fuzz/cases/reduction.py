"""The reduction of failing trials: hypothesis shrinks the numbers that say what is kept of a trial."""

from collections.abc import Callable, Mapping, Sequence

from hypothesis import Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from opconform.model.draft import Draft
from opconform_runners.tools.fuzz.cases.variants import KINDS, PART_KINDS, Key, Number, variant
from opconform_runners.tools.fuzz.graphs.structure import decided_graph
from opconform_runners.tools.fuzz.graphs.variants import cuts, graph_variant
from opconform_runners.tools.fuzz.trial import Trial, decided, trial_of

_DATABASE_KEY = b"trial"
#: One number per key of a trial: how much is kept.
Numbers = tuple[int, ...]


class _StopError(BaseException):
    """Carries an exception out of hypothesis, which would take it for a failure of the trial."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def reduce(trial: Trial, fails: Callable[[Trial], bool]) -> None:
    """Call `fails` with variants of a failing trial, each simpler than the last one that fails.

    The variants violate the same requirement. What a case and its twin share is changed in both alike.

    Raises:
        Exception: What `fails` raises, which ends the reduction.
    """
    if trial.draft.graph is not None:
        trial = _cut(trial, fails)
    ranges: dict[Key, tuple[int, int, int]] = {}

    def note(current: int, low: int, high: int, key: Key) -> int:
        ranges.setdefault(key, (current, low, high))
        return current

    for draft in trial.drafts:
        _variant(draft, note)
    keys = sorted(ranges, key=lambda key: KINDS.index(str(key[0])))
    outcomes = {trial.draft.digits: True}

    def is_failing(numbers: Numbers) -> bool:
        candidate = _with_numbers(trial, dict(zip(keys, numbers, strict=True)))
        if candidate is None:
            return False
        digits = candidate.draft.digits
        if digits not in outcomes:
            try:
                outcomes[digits] = fails(candidate)
            except Exception as error:
                raise _StopError(error) from error
        return outcomes[digits]

    if not keys:
        return
    start = tuple(ranges[key][0] for key in keys)
    plain = tuple(0 if key[0] in PART_KINDS else number for key, number in zip(keys, start, strict=True))
    small = tuple(min(1, number) if key[0] == "extent" else number for key, number in zip(keys, plain, strict=True))
    try:
        start = next(filter(is_failing, (small, plain)), start)  # one execution instead of one for each number
        if is_failing(start):  # not if the trial is no variant of itself, as one whose second feed changes nothing
            shrink(start, [ranges[key][1:] for key in keys], is_failing)
    except _StopError as stop:
        raise stop.error from None


def _variant(draft: Draft, number: Number) -> Draft:
    return variant(draft, number) if draft.graph is None else graph_variant(draft, number)


def _decided(draft: Draft) -> Draft | None:
    return decided(draft) if draft.graph is None else decided_graph(draft)


def _cut(trial: Trial, fails: Callable[[Trial], bool]) -> Trial:
    """A failing graph with as few nodes and outputs as fail: each is cut in turn, until none can be left out."""
    tried, waiting = {trial.draft.digits}, [*cuts(trial.draft)]
    while waiting:
        draft = decided_graph(waiting.pop(0))
        if draft is None or draft.digits in tried:
            continue
        tried.add(draft.digits)
        shorter = Trial(draft=draft)
        if fails(shorter):
            trial, waiting = shorter, [*cuts(draft)]
    return trial


def shrink(start: Numbers, ranges: Sequence[tuple[int, int]], is_failing: Callable[[Numbers], bool]) -> None:
    """Call `is_failing` with numbers within ranges, each simpler than the last that fails, which at first is `start`.

    `find` begins with no given example, but with the examples that an earlier search has left in its database. So the
    first search draws from ranges whose simplest numbers are the numbers of `start`. It also draws a surplus number,
    which tells the second search that the example is not the smallest one.
    """
    database = InMemoryExampleDatabase()

    def search(strategy: st.SearchStrategy[Numbers], is_found: Callable[[Numbers], bool], *phases: Phase) -> None:
        options = settings(
            database=database, deadline=None, derandomize=False, phases=phases, verbosity=Verbosity.quiet
        )
        find(strategy, is_found, settings=options, database_key=_DATABASE_KEY)

    beginnings = (st.integers(n, n + 1) if n >= 0 else st.integers(n - 1, n) for n in start)
    search(st.tuples(*beginnings, st.booleans()), lambda numbers: numbers[:-1] == start, Phase.generate)
    search(st.tuples(*(st.integers(*bounds) for bounds in ranges)), is_failing, Phase.reuse, Phase.shrink)


def _with_numbers(trial: Trial, numbers: Mapping[Key, int]) -> Trial | None:
    """The variant of a trial with some numbers; None if it does not violate the same requirement."""

    def number(current: int, _low: int, _high: int, key: Key) -> int:
        return numbers.get(key, current)

    case, *twin = (_decided(_variant(draft, number)) for draft in trial.drafts)
    if case is None or case.rejected_for != trial.draft.rejected_for:
        return None
    if not twin:
        return Trial(draft=case)
    return None if twin[0] is None or twin[0].rejected_for is not None else trial_of(case, twin[0])
