"""The search for the releases between which a case changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from opconform.errors import DiskError, OpconformError
from opconform_runners.findings.history import State, Trials, is_unsteady
from opconform_runners.tools.history.trials import Executor, trial_of

#: How often a release must pass a case that no release has failed yet.
_FIRST = 8


def change_between(versions: Sequence[str], state_of: Callable[[str], State]) -> tuple[str, str] | None:
    """Two releases, the older first, between which a case changes, found with few questions; None without a change.

    No release between them passes or fails the case: those where it is unknown are passed over. The good one is asked
    again at the end, when it is known whether the case is unsteady.
    """
    states: dict[int, State] = {}

    def is_known(place: int) -> bool:
        if place not in states:
            states[place] = state_of(versions[place])
        return states[place] != "unknown"

    while True:
        high = next(filter(is_known, reversed(range(len(versions)))), None)
        low = next(filter(is_known, range(len(versions))), None)
        if high is None or low is None or states[low] == states[high]:
            return None
        while True:
            half = (low + high + 1) // 2
            middle = next(filter(is_known, (*range(half, high), *range(half - 1, low, -1))), None)
            if middle is None:
                break
            low, high = (middle, high) if states[middle] == states[low] else (low, middle)
        good = low if states[low] == "good" else high
        states[good] = state_of(versions[good])
        if states[good] == "good":
            return versions[low], versions[high]


@dataclass(slots=True)
class Bisection:
    """The releases that were asked for one case.

    Attributes:
        prepare: Installs a release; an error says why it cannot be asked.
        trials_by_release: What each release did.
        reason: Why the release that was asked last cannot be asked, or what its last execution gave.
    """

    executor: Executor
    case: str
    prepare: Callable[[str], None]
    trials_by_release: dict[str, Trials] = field(default_factory=dict)
    reason: str = ""
    is_unsteady: bool = False

    def state(self, version: str) -> State:
        """The state of the case in a release, which is asked as often as is needed to be sure.

        Until a release fails the case, it may be one that fails every other time.
        """
        self.reason = ""
        try:
            self.prepare(version)
            bad = sum((trials for trials in self.trials_by_release.values() if trials.failed), Trials())
            needed = bad.needed() if self.is_unsteady else 1 if bad.failed else _FIRST
            self._ask(version, needed - self.trials_by_release.get(version, Trials()).passed)
            if self.trials_by_release[version].failed:
                self._ask(version, 1)
        except DiskError:
            raise
        except OpconformError as error:
            self.trials_by_release[version], self.reason = Trials(neither=1), str(error)
        trials = self.trials_by_release[version]
        self.is_unsteady |= bool(trials.failed and trials.passed)
        return "bad" if trials.failed else "unknown" if trials.neither else "good"

    def _ask(self, version: str, times: int) -> None:
        self.trials_by_release.setdefault(version, Trials())
        for result in self.executor.results(version, self.case, times):
            self.trials_by_release[version] += trial_of(result)
            self.is_unsteady |= is_unsteady(result)
            self.reason = result.sentence
