"""A run: a suite, what executes its cases, and a verdict for every case."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from opconform.errors import DiskError, HarnessError
from opconform.suite.case import Case
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.case_verdicts import NOT_EXECUTED, CaseVerdicts, execute_again, restore
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.log.outcomes import OutcomeLog
from opconform_runners.execution.plan import RunOptions, RunPlan, check_not_blind, header_of, local_plan, selected
from opconform_runners.execution.request import check_dialects
from opconform_runners.execution.scale.remote import RemoteExecution, machine_of_worker
from opconform_runners.execution.scheduler import OnOutcome, OnReady, execute
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.outcome import Incident, Outcome
from opconform_runners.verdicts.results import OUTCOMES, Result, write_results
from opconform_runners.verdicts.run_header import RunHeader, progress_of

#: Called periodically with the completed fraction (0 to 1) and the number of completed cases.
OnProgress = Callable[[float, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The outcome of a run.

    Attributes:
        results: The result of each case, sorted by id.
        missing: The ids of the cases that have no verdict.
        gave_up: Why cases are missing, or None.
        interrupted: What ended the run early, to be raised once the report is written, or None.
        continued: How many cases were executed before an interruption.
    """

    header: RunHeader
    results: tuple[Result, ...]
    missing: tuple[str, ...]
    gave_up: str | None
    interrupted: KeyboardInterrupt | DiskError | HarnessError | None
    continued: int


#: Executes cases for an attempt, in a harness or from recorded outputs: calls back with the implementation, then with
#: each outcome. Returns why the rest of the cases were not executed, or None.
Executor = Callable[[Sequence[Entry], Attempt, OnOutcome, OnReady], str | None]


def run_suite(
    suite: Suite, command: Command, out: Path, options: RunOptions, on_progress: OnProgress = lambda *_: None
) -> Run:
    """Run cases of a suite, and write `results.jsonl` and the outputs of cases that fail to the folder `out`.

    An interrupted run of the same kind is continued.

    Raises:
        ClusterError: The workers cannot be used. Of an interrupted run, the results so far are kept.
        DiskError: The disk is full before there is any result.
        HarnessError: The harness cannot be started.
        SuiteError: The suite is blind, or a file of it is missing, changed or not readable.
        UsageError: No case is selected, the results cannot be written, or the folder holds those of another run.
    """
    entries = selected(suite, options.selection)
    launch, plan = (
        Launch(command=command, jobs=options.jobs, timeout=options.timeout),
        local_plan(command, out, options),
    )
    if options.executor is None:
        return judged(suite, entries, local_executor(suite, launch), plan, on_progress)
    machine = machine_of_worker(options.executor, command)
    check_dialects(suite, machine.implementation)
    plan = replace(plan, program=machine.program, environment_of=lambda _: machine.environment)
    return judged(suite, entries, RemoteExecution(options.executor, suite, launch, machine), plan, on_progress)


def local_executor(suite: Suite, launch: Launch) -> Executor:
    """What executes cases on this machine."""

    def executor(entries: Sequence[Entry], attempt: Attempt, on_outcome: OnOutcome, on_ready: OnReady) -> str | None:
        alone = attempt in ("alone", "neighbour-check")
        _, gave_up = execute(suite, entries, launch, on_outcome, alone=alone, on_ready=on_ready)
        return gave_up

    return executor


def judged(
    suite: Suite,
    entries: Sequence[Entry],
    executor: Executor | RemoteExecution,
    plan: RunPlan,
    on_progress: OnProgress = lambda *_: None,
) -> Run:
    """Judge the outcomes of cases, each twin before its case, and write `results.jsonl`."""
    check_not_blind(suite)
    with contextlib.closing(OutcomeLog(plan.out, force=plan.options.force, resume=plan.options.resume)) as log:
        return _Judgement(suite, entries, executor, plan, log, on_progress).run()


class _Stop(Exception):  # noqa: N818 - no error
    """A case ended in a way that ends the run."""


@dataclass(slots=True)
class _Judgement:
    """One run, from its first case to its results. The header and the verdicts exist once the backend has started."""

    suite: Suite
    entries: Sequence[Entry]
    executor: Executor | RemoteExecution
    plan: RunPlan
    log: OutcomeLog
    on_progress: OnProgress
    header: RunHeader = field(init=False)
    verdicts: CaseVerdicts = field(init=False)

    def run(self) -> Run:
        interrupted = None
        try:
            gave_up = self._execute()
        except (KeyboardInterrupt, DiskError) as error:
            if not self.log.is_begun:
                raise
            interrupted = error
            gave_up = self._how(error)
        results = self._results()
        is_partial = interrupted is not None or len(results) < len(self.entries)
        try:
            write_results(self.plan.out, self.header, results, interrupted=is_partial)
        except (KeyboardInterrupt, DiskError) as error:
            interrupted = interrupted or error
            gave_up = gave_up or self._how(error)
        return Run(
            header=self.header,
            results=results,
            missing=tuple(entry.id for entry in self.entries if entry.id not in self.verdicts.own),
            gave_up=gave_up,
            interrupted=interrupted,
            continued=len({logged.case for logged in self.log.lines}),
        )

    def _execute(self) -> str | None:
        """Execute the cases without a verdict, and failures again; returns why that was given up, or None."""
        if isinstance(self.executor, RemoteExecution):
            return self._gather(self.executor)
        done = {logged.case for logged in (*self.log.lines, *self.plan.known)}
        left = [entry for entry in self.entries if entry.id not in done]
        on_ready: OnReady = self._begin
        while True:
            try:
                return self._attempts(self.executor, left, on_ready)
            except _Stop:
                self._confirm(self.executor)
                if len(self.verdicts.own) < len(self.entries) and any(map(self._stops, self._results())):
                    return self._stopped
            left, on_ready = [x for x in left if x.id not in self.verdicts.own], lambda _: None

    @property
    def _stopped(self) -> str:
        return f"Stopped at the first failure, {progress_of(len(self.verdicts.own), len(self.entries))}"

    def _gather(self, workers: RemoteExecution) -> str | None:
        """Let workers execute the cases that are not settled, and take over their logs."""
        self._begin(resolved(workers.machine.implementation, self.suite.header.declarations))
        attempts: tuple[Attempt, ...] = ("again", "alone", "neighbour-check")
        due = {entry.id for attempt in attempts for entry in self.verdicts.due(self.entries, attempt)}
        due = {name.removesuffix(f"/{NEIGHBOUR_CHECK}") for name in due}
        left = [entry for entry in self.entries if entry.id in due or entry.id not in self.verdicts.own]
        for lines, gave_up in workers.execute(left, [logged for logged in self.log.lines if logged.case in due]):
            for logged, files in lines:
                restore(self.verdicts, [logged], "The log of a worker")
                self.log.add(logged, files)
            self.on_progress(len(self.verdicts.own) / len(self.entries), len(self.verdicts.own))
            if gave_up is not None:
                return gave_up
            if len(self.verdicts.own) < len(self.entries) and any(map(self._stops, self._results())):
                return self._stopped
        self.verdicts.give_up_neighbour_checks(self.entries, NOT_EXECUTED)
        return None

    def _attempts(self, executor: Executor, left: Sequence[Entry], on_ready: OnReady) -> str | None:
        gave_up = executor(left, "first", partial(self._note, "first"), on_ready)
        if gave_up is None:
            self._confirm(executor)
        return gave_up

    def _confirm(self, executor: Executor) -> None:
        """Execute failures again, and the neighbour checks that they need."""

        def execute(due: list[Entry], attempt: Attempt) -> str | None:
            return executor(due, attempt, partial(self._note, attempt), lambda _: None)

        why = execute_again(self.verdicts, self.entries, execute)
        self.verdicts.give_up_neighbour_checks(self.entries, why or NOT_EXECUTED)

    def _how(self, error: KeyboardInterrupt | DiskError) -> str:
        how = "Interrupted" if isinstance(error, KeyboardInterrupt) else f"{str(error).rstrip('.')}, interrupted"
        return f"{how} {progress_of(len(self.verdicts.own), len(self.entries))}"

    def _stops(self, result: Result) -> bool:
        return self.plan.options.stops is not None and self.plan.options.stops(self.header, result)

    def _begin(self, implementation: Implementation) -> None:
        self.header = header_of(self.suite, self.entries, self.plan, implementation)
        self.verdicts = CaseVerdicts(self.suite, implementation)
        self.log.begin(self.header)
        ids = {entry.id for entry in self.entries}
        known = [logged for logged in (*self.log.lines, *self.plan.known) if logged.case in ids]
        restore(self.verdicts, known, str(self.plan.out / OUTCOMES))

    def _note(self, attempt: Attempt, entry: Entry, case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
        if attempt == "neighbour-check":
            entry = self.suite.by_id[entry.id.removesuffix(f"/{NEIGHBOUR_CHECK}")]
        self.log.add(*self.verdicts.add(entry, attempt, case, outcome, *incidents))
        if attempt == "first":
            self.on_progress(len(self.verdicts.own) / len(self.entries), len(self.verdicts.own))
            if self.plan.options.stops is not None and self._stops(self.verdicts.result(entry)):
                raise _Stop

    def _results(self) -> tuple[Result, ...]:
        return tuple(self.verdicts.result(entry) for entry in self.entries if entry.id in self.verdicts.own)
