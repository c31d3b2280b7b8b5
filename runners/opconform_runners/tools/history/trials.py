"""Single executions of a case in a release: repetitions of what a single execution may miss, and bisection."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from opconform.errors import DiskError, OpconformError
from opconform.suite.reader import Suite
from opconform_runners.execution.session import Session
from opconform_runners.findings.history import History, State, Trials, is_unsteady
from opconform_runners.harness.command import Command, Launch
from opconform_runners.verdicts.results import Result

#: The file of the repetitions in the folder of a history, one per line.
REPEATS = "repeats.jsonl"
#: How often a release must pass a case that no release has failed yet.
_FIRST = 8

#: Called with the number of repetitions of cases in releases that are left.
OnRepeat = Callable[[int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Executor:
    """Executes single cases of a suite, each time in a fresh harness."""

    suite: Suite
    command_of: Callable[[str], Command]
    timeout: float
    jobs: int = 1

    def result(self, version: str, case: str) -> Result:
        """The result of one execution of a case in a release, and of its twin if the case is rejected."""
        launch = Launch(command=self.command_of(version), timeout=self.timeout)
        with contextlib.closing(Session(self.suite, launch)) as session:
            return session.result_of(self.suite.by_id[case], once=True)

    def results(self, version: str, case: str, times: int) -> Iterator[Result]:
        """The results of several executions, until the case fails."""
        with ThreadPoolExecutor(self.jobs) as pool:
            for first in range(0, times, self.jobs):
                batch = range(first, min(times, first + self.jobs))
                results = [*pool.map(lambda _: self.result(version, case), batch)]
                yield from results
                if any(result.verdict == "fail" for result in results):
                    return


def settled(history: History, executor: Executor, out: Path, on_repeat: OnRepeat) -> History:
    """A history whose unsteady cases were repeated where a release seems to pass them, until that is sure enough.

    Each repetition is kept in the folder, so that an interrupted command does not repeat it.
    """
    history = replace(history, repeats=repeats_in(out, executor.suite))
    while doubts := [*history.doubts()]:
        left = sum(more for *_, more in doubts)
        for version, case, more in doubts:
            on_repeat(left)
            found = sum(map(trial_of, executor.results(version, case, more)), Trials())
            _keep(out, executor.suite, (case, version), found)
            history = replace(history, repeats=_added(history.repeats, (case, version), found))
            left -= more
    return history


def trial_of(result: Result) -> Trials:
    """One execution as a trial."""
    is_fail, is_pass = result.verdict == "fail", result.verdict == "pass"
    return Trials(failed=int(is_fail), passed=int(is_pass), neither=int(not is_fail and not is_pass))


Repeats = Mapping[str, Mapping[str, Trials]]


def repeats_in(out: Path, suite: Suite) -> Repeats:
    """The repetitions of cases of a suite that a folder has, by case and release. A line that was cut short is lost."""
    repeats: Repeats = {}
    try:
        lines = (out / REPEATS).read_text().splitlines()
    except OSError:
        return repeats
    for line in lines:
        try:
            digest, case, version, *counts = json.loads(line)
            failed, passed, neither = map(int, counts)
        except (TypeError, ValueError):
            continue
        if digest == suite.header.identity and case in suite.by_id:
            found = Trials(failed=failed, passed=passed, neither=neither)
            repeats = _added(repeats, (case, version), found)
    return repeats


def _added(repeats: Repeats, place: tuple[str, str], found: Trials) -> Repeats:
    case, version = place
    of_case = repeats.get(case, {})
    return {**repeats, case: {**of_case, version: of_case.get(version, Trials()) + found}}


def _keep(out: Path, suite: Suite, place: tuple[str, str], found: Trials) -> None:
    line = json.dumps([suite.header.identity, *place, found.failed, found.passed, found.neither])
    try:
        with (out / REPEATS).open("a") as file:
            file.write(f"{line}\n")
    except OSError as error:
        raise DiskError(out / REPEATS, error) from error


@dataclass(slots=True)
class Bisection:
    """The releases that a bisection asked, and what each did with a case.

    Attributes:
        prepare: Installs a release; an error says why it cannot be asked.
        told: The trials in each release that was asked, in the order of the questions.
        why: A sentence about the last execution in each release: its verdict, or why it cannot be asked.
    """

    executor: Executor
    case: str
    prepare: Callable[[str], object]
    on_answer: Callable[[str, str], None]
    told: dict[str, Trials] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    is_unsteady: bool = False

    def state(self, version: str) -> State:
        """The state of the case in a release, which is installed and asked as often as is needed to be sure."""
        try:
            self.prepare(version)
            self._ask(version)
        except DiskError:
            raise
        except OpconformError as error:
            self.told[version], self.why[version] = Trials(neither=1), str(error)
        trials = self.told[version]
        state: State = "bad" if trials.failed else "unknown" if trials.neither else "good"
        self.on_answer(version, f"{state} ({self._counts(trials)}): {self.why[version]}".rstrip(": "))
        return state

    @property
    def bad(self) -> Trials:
        """The trials in the releases that failed the case."""
        return sum((trials for trials in self.told.values() if trials.failed), Trials())

    def _ask(self, version: str) -> None:
        """Execute the case once, again if it fails, and as often as an unsteady case needs if it passes.

        Until a release fails it, it may be one that fails every other time.
        """
        trials = self.told.setdefault(version, Trials())
        while not trials.failed and not trials.neither:
            needed = self.bad.needed() if self.is_unsteady else 1 if self.bad.failed else _FIRST
            if trials.passed >= needed:
                break
            for result in self.executor.results(version, self.case, needed - trials.passed):
                trials += trial_of(result)
                self.why[version] = result.sentence
                self.is_unsteady |= is_unsteady(result)
            self.told[version] = trials
        if trials.failed == 1:
            again = trial_of(self.executor.result(version, self.case))
            self.told[version] = trials = trials + again
        self.is_unsteady |= bool(trials.failed and trials.passed)

    @staticmethod
    def _counts(trials: Trials) -> str:
        said = {"failed": trials.failed, "passed": trials.passed, "neither": trials.neither}
        return ", ".join(f"{word} {count:,}" for word, count in said.items() if count)
