"""A run: it executes the cases that a supply gives it, and writes a verdict for every case."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from opconform.errors import DiskError, HarnessError
from opconform.suite.case import Case
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.backends.constraints import resolved
from opconform_runners.execution.case_verdicts import NOT_EXECUTED, CaseVerdicts, execute_again, restore
from opconform_runners.execution.dialects import check_dialects
from opconform_runners.execution.executor import AnyExecutor, Executor, LocalExecutor, planned
from opconform_runners.execution.log.logged_outcome import Attempt
from opconform_runners.execution.log.outcomes import OutcomeLog
from opconform_runners.execution.packs.earlier import unpassed_cases
from opconform_runners.execution.packs.pack import Packed
from opconform_runners.execution.packs.sample import PackHistory, history_of
from opconform_runners.execution.plan import RunOptions, RunPlan, check_not_blind, run_header_of, selected
from opconform_runners.execution.progress import OnProgress, Stage, repeated_stage
from opconform_runners.execution.run import Run
from opconform_runners.execution.scale.remote import (
    Executed,
    RemoteBatch,
    RemoteExecution,
    environment_on_machine,
    executed_in,
    placed,
)
from opconform_runners.execution.scheduler import OnReady, Packing
from opconform_runners.harness.command import Command
from opconform_runners.harness.outcome import Incident, Outcome
from opconform_runners.verdicts.results import OUTCOMES, Result, write_results
from opconform_runners.verdicts.run_header import RunHeader, progress_of


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
        UsageError: No case is selected, the results cannot be written, or the folder holds the results of another run.
    """
    entries = selected(suite, options.selection)
    plan, executor_of = planned(command, out, options)
    return judged(suite, entries, executor_of(suite), plan, on_progress)


def judged(
    suite: Suite,
    entries: Sequence[Entry],
    executor: AnyExecutor,
    plan: RunPlan,
    on_progress: OnProgress = lambda *_: None,
) -> Run:
    """Judge the outcomes of cases, each twin before its case, and write `results.jsonl`."""
    check_not_blind(suite)
    return run_supply(_WholeSuite(suite, entries, executor, plan, on_progress), plan)


def execute_batch(batch: RemoteBatch) -> Executed:
    """Run the cases of a batch on this machine, as any other run."""
    command = placed(batch.launch.command)
    options = RunOptions(timeout=batch.launch.timeout, alone=batch.launch.alone)
    with batch.opened() as (suite, out):
        plan, executor_of = planned(command, out, options)
        plan = replace(plan, known=batch.known, environment_of=partial(environment_on_machine, command))
        run = judged(suite, batch.entries, executor_of(suite), plan)
        if run.interrupted is not None:
            raise run.interrupted
        return executed_in(out, run.gave_up)


class Supply(Protocol):
    """What a run executes: a suite, or a stream of batches. Each batch is generated, executed and dropped."""

    def parts(self, log: OutcomeLog) -> Iterator["Judgement"]:
        """The parts of the run. One is over, and may be dropped, when the next one is asked for."""

    def conclude(self) -> Run | None:
        """The results so far, or None if there are none that an interrupted run keeps."""

    def clear(self) -> None:
        """Remove what only an interrupted run needs."""


def run_supply(supply: Supply, plan: RunPlan) -> Run:
    """Execute the parts of a supply one after another, and write the results, also of an interrupted run."""
    with contextlib.closing(OutcomeLog(plan.out, force=plan.options.force, resume=plan.options.resume)) as log:
        gave_up, interrupted = None, None
        try:
            for judgement in supply.parts(log):
                if (gave_up := judgement.execute()) is not None:
                    break
        except (KeyboardInterrupt, DiskError, HarnessError) as error:
            interrupted = error
        run = supply.conclude()
        if run is None:
            raise interrupted or HarnessError(f"{gave_up} The same command continues with the cases that are left.")
        run = _ended(run, gave_up, interrupted)
        try:
            write_results(plan.out, run.header, run.results, interrupted=run.gave_up is not None)
        except (KeyboardInterrupt, DiskError) as error:
            return run if run.interrupted else _ended(run, run.gave_up, error)
        if run.gave_up is None:
            supply.clear()
    return run


def _ended(run: Run, gave_up: str | None, interrupted: KeyboardInterrupt | DiskError | HarnessError | None) -> Run:
    """A run with what ended it."""
    if interrupted is not None and gave_up is None:
        how = "I" if isinstance(interrupted, KeyboardInterrupt) else f"{str(interrupted).rstrip('.')}, i"
        gave_up = f"{how}nterrupted {run.progress}"
    return replace(run, gave_up=gave_up, interrupted=interrupted)


@dataclass(slots=True)
class _WholeSuite:
    """The cases of a suite, as the one part of a run."""

    suite: Suite
    entries: Sequence[Entry]
    executor: AnyExecutor
    plan: RunPlan
    on_progress: OnProgress
    judgement: "Judgement | None" = None

    def parts(self, log: OutcomeLog) -> Iterator["Judgement"]:
        """The suite."""
        self.judgement = Judgement(
            self.suite, self.entries, self.executor, self.plan, log, self._header_of, self.on_progress
        )
        yield self.judgement

    def conclude(self) -> Run | None:
        """The results of the cases that were executed."""
        judgement = self.judgement
        if judgement is None or not judgement.log.is_begun:
            return None
        return Run(
            header=judgement.header,
            results=judgement.results(),
            missing=tuple(entry.id for entry in self.entries if entry.id not in judgement.verdicts.own),
            continued=len({logged.case for logged in judgement.log.lines}),
        )

    def clear(self) -> None:
        """Nothing else is needed."""

    def _header_of(self, implementation: Implementation) -> RunHeader:
        return run_header_of(self.suite, self.entries, self.plan, implementation)


class _Stop(Exception):  # noqa: N818 - no error
    """A case ended in a way that ends the run."""


@dataclass(slots=True)
class Judgement:
    """The execution of cases of a suite. The header and the verdicts exist once the backend has started."""

    suite: Suite
    entries: Sequence[Entry]
    executor: AnyExecutor
    plan: RunPlan
    log: OutcomeLog
    header_of: Callable[[Implementation], RunHeader]
    on_progress: OnProgress
    header: RunHeader = field(init=False)
    verdicts: CaseVerdicts = field(init=False)
    stage: Stage = field(init=False)
    history: PackHistory = field(default_factory=PackHistory)
    unpacked: set[str] = field(default_factory=set)

    def execute(self) -> str | None:
        """Execute the cases without a verdict, and failures again; returns why that was given up, or None."""
        if isinstance(self.executor, RemoteExecution):
            return self._gather(self.executor)
        self.history = history_of([*self.log.lines, *self.plan.known])
        waiting = [entry for entry in self.entries if entry.id not in self.history.done]
        on_ready: OnReady = self._begin
        while True:
            try:
                return self._attempts(self.executor, waiting, on_ready)
            except _Stop:
                self._confirm(self.executor)
                if len(self.verdicts.own) < len(self.entries) and any(map(self._stops, self.results())):
                    return self._stopped
            waiting, on_ready = [x for x in waiting if x.id not in self.verdicts.own], lambda _: None

    @property
    def _stopped(self) -> str:
        return f"Stopped at the first failure, {progress_of(len(self.verdicts.own), len(self.entries))}"

    def _gather(self, workers: RemoteExecution) -> str | None:
        """Let workers execute the cases that are not settled, and take over their logs."""
        check_dialects(self.suite, workers.machine.implementation)
        self._begin(resolved(workers.machine.implementation, self.suite.header.declarations))
        attempts: tuple[Attempt, ...] = ("again", "alone", "neighbour-check")
        due = {entry.id for attempt in attempts for entry in self.verdicts.due(self.entries, attempt)}
        due = {name.removesuffix(f"/{NEIGHBOUR_CHECK}") for name in due}
        waiting = [entry for entry in self.entries if entry.id in due or entry.id not in self.verdicts.own]
        known = [logged for logged in self.log.lines if logged.case in due]
        done = len(self.entries) - len(waiting)
        for lines, gave_up in workers.execute(waiting, known, execute_batch):
            for logged, files in lines:
                restore(self.verdicts, [logged], "The log of a worker")
                self.log.add(logged, files)
            done += len({logged.case for logged, _ in lines})
            self.on_progress(done / len(self.entries), done)
            if gave_up is not None:
                return gave_up
            if len(self.verdicts.own) < len(self.entries) and any(map(self._stops, self.results())):
                return self._stopped
        self.verdicts.give_up_neighbour_checks(self.entries, NOT_EXECUTED)
        return None

    def _attempts(self, executor: Executor, waiting: Sequence[Entry], on_ready: OnReady) -> str | None:
        on_outcome = partial(self._note, "first")
        if isinstance(executor, LocalExecutor):
            packing = Packing(history=self.history, unpacked=self.unpacked, on_packed=self._note_packed)
            gave_up = executor.execute_first(waiting, packing, on_outcome, on_ready)
        else:
            gave_up = executor(waiting, "first", on_outcome, on_ready)
        if gave_up is None:
            self._confirm(executor)
        return gave_up

    def _confirm(self, executor: Executor) -> None:
        """Execute failures again, and the neighbour checks that they need."""

        def execute(due: list[Entry], attempt: Attempt) -> str | None:
            self.stage = repeated_stage(self.on_progress, attempt, len(due))
            return executor(due, attempt, partial(self._note, attempt), lambda _: None)

        why = execute_again(self.verdicts, self.entries, execute)
        self.verdicts.give_up_neighbour_checks(self.entries, why or NOT_EXECUTED)

    def _stops(self, result: Result) -> bool:
        return self.plan.options.stops is not None and self.plan.options.stops(self.header, result)

    def _begin(self, implementation: Implementation) -> None:
        self.header = self.header_of(implementation)
        self.unpacked |= unpassed_cases(self.plan.out, self.header)
        self.verdicts = CaseVerdicts(self.suite, implementation, self.plan.options.claims)
        self.log.begin(self.header)
        ids = {entry.id for entry in self.entries}
        known = [logged for logged in (*self.log.lines, *self.plan.known) if logged.case in ids]
        restore(self.verdicts, known, str(self.plan.out / OUTCOMES))

    def _note_packed(self, entry: Entry, case: Case, outcome: Outcome, packed: Packed, /, *incidents: Incident) -> None:
        self.log.add(self.verdicts.add_packed(entry, case, outcome, packed, *incidents))
        self._show_progress()

    def _note(self, attempt: Attempt, entry: Entry, case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
        if attempt == "neighbour-check":
            entry = self.suite.by_id[entry.id.removesuffix(f"/{NEIGHBOUR_CHECK}")]
        self.log.add(*self.verdicts.add(entry, attempt, case, outcome, *incidents))
        if attempt != "first":
            self.stage.step()
        else:
            self._show_progress()
            if self.plan.options.stops is not None and self._stops(self.verdicts.result(entry)):
                raise _Stop

    def _show_progress(self) -> None:
        self.on_progress(len(self.verdicts.own) / len(self.entries), len(self.verdicts.own))

    def results(self) -> tuple[Result, ...]:
        """The results of the cases that were executed."""
        return tuple(self.verdicts.result(entry) for entry in self.entries if entry.id in self.verdicts.own)
