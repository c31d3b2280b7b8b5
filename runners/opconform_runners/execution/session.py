"""A session executes single cases on request, in any order, each with the verdict that a run would give."""

import asyncio
import contextlib
from collections import deque

from opconform.errors import HarnessError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.case_verdicts import CaseVerdicts
from opconform_runners.execution.journal import Attempt
from opconform_runners.execution.scheduler import IN_FLIGHT, Execution, Worker
from opconform_runners.harness.command import Launch
from opconform_runners.harness.outcome import Outcome
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import Pass


class Session:
    """Verdicts of single cases. Harnesses stay between cases.

    As in a run, a failure is executed again in a second harness, and in a fresh one where that ends differently or it
    crashed; `once` prevents that. A rejection counts when the twin passes, which is executed for that.
    """

    def __init__(self, suite: Suite, launch: Launch, *, once: bool = False) -> None:
        self._suite = suite
        self._launch = launch
        self._attempts: tuple[Attempt, ...] = () if once else ("again", "alone", "control")
        self._first = _WarmHarness(suite, launch)
        self._again = _WarmHarness(suite, launch)
        self._verdicts: CaseVerdicts | None = None
        self._done: set[str] = set()

    @property
    def implementation(self) -> Implementation:
        """What is tested."""
        return self._first.implementation

    def result_of(self, entry: Entry) -> Result:
        """The result of a case, which is executed when it is first asked for."""
        if self._verdicts is None:
            self._verdicts = CaseVerdicts(self._suite, self.implementation)
        self._execute(self._verdicts, entry)
        twin = None if entry.twin is None else self._suite.by_id.get(entry.twin)
        if twin is not None and isinstance(self._verdicts.own[entry.id], Pass):
            self._execute(self._verdicts, twin)
        return self._verdicts.result(entry)

    def close(self) -> None:
        """Stop the harnesses."""
        self._first.close()
        self._again.close()

    def _execute(self, verdicts: CaseVerdicts, entry: Entry) -> None:
        if entry.id in self._done:
            return
        verdicts.add(entry, "first", *self._first.execute(entry))
        for attempt in self._attempts:
            for each in verdicts.due([entry], attempt):
                if attempt == "again":
                    verdicts.add(entry, attempt, *self._again.execute(each))
                else:
                    with contextlib.closing(_WarmHarness(self._suite, self._launch)) as fresh:
                        verdicts.add(entry, attempt, *fresh.execute(each))
        self._done.add(entry.id)


class _WarmHarness:
    """A harness that starts with its first case, stays between cases, and is replaced when a case ends it."""

    def __init__(self, suite: Suite, launch: Launch) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)  # leaves the caller's event loop alone
        self._outcomes: list[tuple[Case, Outcome]] = []
        self._execution = Execution(suite, launch.command, deque(), launch.timeout, self._on_outcome, ahead=IN_FLIGHT)
        self._worker = Worker(self._execution)

    @property
    def implementation(self) -> Implementation:
        if self._execution.implementation is None:
            return self._runner.run(self._connect())
        return self._execution.implementation

    def execute(self, entry: Entry) -> tuple[Case, Outcome]:
        self._outcomes.clear()
        try:
            self._runner.run(self._work(entry))
        except BaseException:
            self._runner.run(self._worker.end())
            self._execution.waiting.clear()
            self._worker.doubted = None
            raise
        [outcome] = self._outcomes
        return outcome

    def close(self) -> None:
        self._runner.run(self._worker.end())
        self._runner.close()

    def _on_outcome(self, _entry: Entry, case: Case, outcome: Outcome) -> None:
        self._outcomes.append((case, outcome))

    async def _work(self, entry: Entry) -> None:
        if self._execution.implementation is None:
            await self._connect()
        self._execution.waiting.append(entry)
        await self._worker.work()
        if self._execution.gave_up is not None:
            raise HarnessError(self._execution.gave_up)

    async def _connect(self) -> Implementation:
        """Start the harness. Once that has failed, it is not tried again for every case."""
        if self._execution.gave_up is not None:
            raise HarnessError(self._execution.gave_up)
        try:
            return await self._worker.begin()
        except HarnessError as fault:
            self._execution.gave_up = str(fault)
            raise
