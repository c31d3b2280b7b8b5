"""A session executes single cases on request, in any order, each with the verdict that a run would give."""

import asyncio
import contextlib
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

from opconform.errors import HarnessError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.case_verdicts import CaseVerdicts, execute_again
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.packs.eligibility import Eligibility
from opconform_runners.execution.packs.pack import Packed
from opconform_runners.execution.packs.schedule import Schedule
from opconform_runners.execution.packs.size import Limits
from opconform_runners.execution.waiting import InOrder, Waiting
from opconform_runners.execution.worker import Execution, HarnessWorker
from opconform_runners.harness.command import Launch
from opconform_runners.harness.outcome import Incident, Outcome
from opconform_runners.verdicts.claims import Claims
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import Pass, Unsupported, Verdict

#: Fewer cases take longer in a pack, since some of them are executed alone too.
_FEWEST = 4
#: A case that was executed, its outcome, and what happened to the process at it.
_Executed = tuple[Entry, Case, Outcome, *tuple[Incident, ...]]


class Session:
    """Verdicts of single cases. Harnesses stay between cases.

    As in a run, a failure is executed again in a second harness, and in a fresh one if the results differ or it
    crashed. A rejection counts if the twin passes, which is executed if necessary.
    """

    def __init__(self, suite: Suite, launch: Launch, claims: Claims | None = None) -> None:
        self._suite = suite
        self._launch = launch
        self._claims = claims
        self._first = _WarmHarness(suite, launch)
        self._again = _WarmHarness(suite, launch)
        self._settled: dict[str, Verdict] = {}
        self._limits: Limits | None = None
        self._given_up: set[str] = set()
        self._sampled: set[str] = set()
        #: The first outcome of each executed case of the suite, by its id.
        self.outcomes: dict[str, Outcome] = {}

    def turn_to(self, suite: Suite) -> None:
        """Execute cases of another suite from now on, with the same harnesses.

        A twin that passed or was unsupported is not executed again.
        """
        if "_verdicts" in self.__dict__:
            verdicts = self._verdicts.own.items()
            self._settled |= {name: x for name, x in verdicts if isinstance(x, Pass | Unsupported)}
            del self._verdicts
        self._suite = suite
        self._first.turn_to(suite)
        self._again.turn_to(suite)
        self.outcomes.clear()

    @property
    def implementation(self) -> Implementation:
        """What is tested."""
        return self._first.start()

    @cached_property
    def _verdicts(self) -> CaseVerdicts:
        verdicts = CaseVerdicts(self._suite, self.implementation, self._claims)
        verdicts.own.update(self._settled)
        return verdicts

    def execute_packed(self, entries: Sequence[Entry]) -> None:
        """Execute those cases that may be packed, if the backend takes packs, before their results are asked for.

        As in a run, only a pass counts from a pack, and a sample of the passes is executed alone too.
        """
        implementation = self.implementation
        if implementation.packs == 1 or self._launch.alone:
            return
        eligibility = Eligibility(suite=self._suite, implementation=implementation)
        wanted = [x for x in entries if x.op not in self._given_up and x.id not in self._verdicts.own]
        packable = [x for x in wanted if eligibility.member(x) is not None]
        self._limits = self._limits or Limits(packs=implementation.packs, timeout=self._launch.timeout)

        def on_packed(entry: Entry, case: Case, outcome: Outcome, packed: Packed, /, *incidents: Incident) -> None:
            self._verdicts.add_packed(entry, case, outcome, packed, *incidents)
            if isinstance(packed.own, Pass):
                self.outcomes[entry.id] = outcome

        ordered = sorted(packable, key=attrgetter("op"))
        if len(ordered) < _FEWEST:
            return
        schedule = Schedule(ordered, eligibility, self._limits, on_packed, sampled=self._sampled)
        for entry, case, outcome, *incidents in self._first.execute_all(schedule):
            self.outcomes[entry.id] = outcome
            self._verdicts.add(entry, "first", case, outcome, *incidents)
        self._given_up |= schedule.given_up

    def result_of(self, entry: Entry, *, once: bool = False) -> Result:
        """The result of a case; the first call executes it. With `once`, a failure is not executed again."""
        self._execute(entry, once=once)
        twin = None if entry.twin is None else self._suite.by_id.get(entry.twin)
        if twin is not None and twin.id not in self._verdicts.own and isinstance(self._verdicts.own[entry.id], Pass):
            self._execute(twin, once=once)
        return self._verdicts.result(entry)

    def close(self) -> None:
        """Stop the harnesses."""
        self._first.close()
        self._again.close()

    def _execute(self, entry: Entry, *, once: bool) -> None:
        verdicts = self._verdicts
        if entry.id not in self.outcomes:
            case, outcome, *incidents = self._first.execute(entry)
            self.outcomes[entry.id] = outcome
            verdicts.add(entry, "first", case, outcome, *incidents)

        def execute(due: list[Entry], attempt: Attempt) -> None:
            for single in due:
                if attempt != "alone":
                    verdicts.add(entry, attempt, *self._again.execute(single))
                else:
                    with contextlib.closing(_WarmHarness(self._suite, self._launch)) as fresh:
                        verdicts.add(entry, attempt, *fresh.execute(single))

        if not once:
            execute_again(verdicts, [entry], execute)


class _WarmHarness:
    """A harness that starts with its first case, stays between cases, and is replaced when a case ends it."""

    def __init__(self, suite: Suite, launch: Launch) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)  # leaves the caller's event loop alone
        self._outcomes: list[_Executed] = []
        self._execution = Execution(suite, launch, self._on_outcome)
        self._worker = HarnessWorker(self._execution)

    def turn_to(self, suite: Suite) -> None:
        """Execute cases of another suite from now on."""
        self._execution.suite = suite

    def start(self) -> Implementation:
        """Start the harness, unless that was tried before."""
        execution = self._execution
        if execution.gave_up is not None:
            raise HarnessError(execution.gave_up)
        if execution.implementation is not None:
            return execution.implementation
        try:
            return self._runner.run(self._worker.begin())
        except HarnessError as error:
            execution.gave_up = str(error)
            raise

    def execute(self, entry: Entry) -> tuple[Case, Outcome, *tuple[Incident, ...]]:
        """The outcome of a case, and what happened to the process at it."""
        [(_, case, outcome, *incidents)] = self._executed(InOrder([entry]))
        return case, outcome, *incidents

    def execute_all(self, schedule: Schedule) -> Sequence[_Executed]:
        """The outcomes of the cases of a schedule that were executed alone, in the order of their execution."""
        self._execution.schedule = schedule
        try:
            return self._executed(schedule)
        finally:
            self._execution.schedule = None

    def _executed(self, waiting: Waiting) -> Sequence[_Executed]:
        self.start()
        self._outcomes = []
        self._execution.waiting = waiting
        try:
            self._runner.run(self._worker.work())
        except BaseException:
            self._runner.run(self._worker.end())
            self._execution.waiting = InOrder()
            self._worker.doubted = None
            raise
        if self._execution.gave_up is not None:
            raise HarnessError(self._execution.gave_up)
        return self._outcomes

    def close(self) -> None:
        self._runner.run(self._worker.end())
        self._runner.close()

    def _on_outcome(self, entry: Entry, case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
        self._outcomes.append((entry, case, outcome, *incidents))
