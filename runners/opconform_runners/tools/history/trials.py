"""Single executions of a case in a release: repetitions of what a single execution may miss."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from opconform.suite.reader import Suite
from opconform_runners.execution.session import Session
from opconform_runners.findings.history import History, Trials
from opconform_runners.harness.command import Command, Launch
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Executor:
    """Executes single cases of a suite, each time in a fresh harness."""

    suite: Suite
    command_of: Callable[[str], Command]
    timeout: float
    jobs: int = 1

    def results(self, version: str, case: str, times: int) -> Iterator[Result]:
        """The results of several executions of a case in a release, until it fails."""

        def result(_: int) -> Result:
            launch = Launch(command=self.command_of(version), timeout=self.timeout)
            with contextlib.closing(Session(self.suite, launch)) as session:
                return session.result_of(self.suite.by_id[case], once=True)

        with ThreadPoolExecutor(self.jobs) as pool:
            for first in range(0, times, self.jobs):
                results = [*pool.map(result, range(first, min(times, first + self.jobs)))]
                yield from results
                if any(result.verdict == "fail" for result in results):
                    return


def repetitions(history: History, executor: Executor) -> Iterator[tuple[History, int]]:
    """The history after each repetition of unsteady cases, and how many executions may be left.

    A release that seems to pass an unsteady case is asked until that is sure enough.
    """
    while doubts := [*history.doubts()]:
        remaining = sum(more for *_, more in doubts)
        for version, case, more in doubts:
            found = sum(map(trial_of, executor.results(version, case, more)), Trials())
            of_case = history.repeats.get(case, {})
            of_case = {**of_case, version: of_case.get(version, Trials()) + found}
            history, remaining = replace(history, repeats={**history.repeats, case: of_case}), remaining - more
            yield history, remaining


def trial_of(result: Result) -> Trials:
    """One execution as a trial."""
    is_fail, is_pass = result.verdict == "fail", result.verdict == "pass"
    return Trials(failed=int(is_fail), passed=int(is_pass), neither=int(not is_fail and not is_pass))
