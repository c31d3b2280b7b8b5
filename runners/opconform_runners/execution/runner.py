"""A run: a suite, what executes its cases, and a verdict for every case."""

import contextlib
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from opconform.errors import DiskError, HarnessError, SuiteError
from opconform.suite.case import Case
from opconform.suite.hints import check_matches
from opconform.suite.manifest import CONTROL, Entry
from opconform.suite.matches import Matches
from opconform.suite.reader import Suite
from opconform.suite.selection import EVERYTHING, Selection
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.case_verdicts import NOT_EXECUTED, CaseVerdicts, execute_again, restore
from opconform_runners.execution.outcomes import Attempt, OutcomeLog
from opconform_runners.execution.remote import RemoteExecution, machine_of_worker
from opconform_runners.execution.scheduler import OnOutcome, OnReady, execute
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.environment import Environment, environment_of
from opconform_runners.harness.outcome import Incident, Outcome
from opconform_runners.verdicts.results import OUTCOMES, Result, write_results
from opconform_runners.verdicts.run_header import RunHeader, ids_digest, progress_of, suite_note

#: Called periodically with the completed fraction (0 to 1) and the number of completed cases.
OnProgress = Callable[[float, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a suite is run.

    Attributes:
        jobs: The number of harness processes; if it is None, the backend's device and the number of cases decide.
        timeout: The time limit of a case, in seconds.
        selection: Which cases are run, together with the twins that their verdicts need.
        whole: Whether whole profiles are run, as a certificate needs.
        strict: Whether interpretations count as much as normative requirements.
        force: Whether the results of another run are replaced.
        resume: Whether an interrupted run of the same kind is continued.
        executor: What executes batches of cases on other machines, or None for this machine.
        stops: Whether the run ends with a result, or None if it does not end before its last case.
    """

    jobs: int | None = 1
    timeout: float = 60.0
    selection: Selection = EVERYTHING
    whole: bool = False
    strict: bool = False
    force: bool = False
    resume: bool = True
    executor: futures.Executor | None = None
    stops: "Callable[[RunHeader, Result], bool] | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlan:
    """A run, as far as it is known before its backend starts.

    Attributes:
        out: The folder for the results.
        environment_of: Returns the environment of a backend, without the devices that execute its cases.

    The other attributes are those of `RunHeader`.
    """

    out: Path
    options: RunOptions
    environment_of: Callable[[Implementation], Environment]
    started: str = ""
    memory: int | None = None
    outputs: str | None = None
    program: str | None = None


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
    launch = Launch(command=command, jobs=options.jobs, timeout=options.timeout)
    remote = None
    if options.executor is not None:
        machine = machine_of_worker(options.executor, command)
        remote = RemoteExecution(options.executor, suite, launch, machine)

    def executor(entries: Sequence[Entry], attempt: Attempt, on_outcome: OnOutcome, on_ready: OnReady) -> str | None:
        alone = attempt in ("alone", "control")
        if remote is not None:
            return remote.execute(entries, on_outcome, on_ready, alone=alone)
        _, gave_up = execute(suite, entries, launch, on_outcome, alone=alone, on_ready=on_ready)
        return gave_up

    plan = RunPlan(
        out=out,
        options=options,
        environment_of=lambda implementation: (
            environment_of(command, implementation, ()) if remote is None else remote.machine.environment
        ),
        started=command.options,
        memory=command.memory,
        program=command.program if remote is None else remote.machine.program,
    )
    return judged(suite, selected(suite, options.selection), executor, plan, on_progress)


def judged(
    suite: Suite,
    entries: Sequence[Entry],
    executor: Executor,
    plan: RunPlan,
    on_progress: OnProgress = lambda *_: None,
) -> Run:
    """Judge the outcomes of cases, each twin before its case, and write `results.jsonl`."""
    check_not_blind(suite)
    with contextlib.closing(OutcomeLog(plan.out, force=plan.options.force, resume=plan.options.resume)) as log:
        return _Judgement(suite, entries, executor, plan, log, on_progress).run()


def check_not_blind(suite: Suite) -> None:
    """Refuse a suite without expected outputs."""
    if suite.header.blind:
        raise SuiteError(
            f"{suite.store.root} is blind: it has no expected outputs. Generate it without --blind, or "
            f"record its outputs with `run --record FILE.zip` and judge them elsewhere."
        )


def selected(suite: Suite, selection: Selection) -> list[Entry]:
    """The selected lines of a manifest and the twins of the invalid cases among them, each twin before its case.

    Without a profile the whole suite is selected. Only a shard can be empty.
    """
    profiles = sorted({each.profile for each in suite.entries})
    selection.check_profiles(profiles, f"in {suite.store.root}")
    matches = Matches(selection, every_profile=True)
    wanted = [each for each in suite.entries if matches.wants(each.id, each.profile, each.requirements)]
    hint = f" `opconform list {suite.store.root} --cases` lists its cases."
    check_matches(matches, suite.known, within=f" of {suite.store.root}", otherwise=hint)
    twins = {each.twin for each in wanted if each.twin is not None and each.twin in suite.by_id}
    return [suite.by_id[each] for each in sorted({each.id for each in wanted} | twins)]


class _Stop(Exception):  # noqa: N818 - no error
    """A case ended in a way that ends the run."""


@dataclass(slots=True)
class _Judgement:
    """One run, from its first case to its results. The header and the verdicts exist once the backend has started."""

    suite: Suite
    entries: Sequence[Entry]
    executor: Executor
    plan: RunPlan
    log: OutcomeLog
    on_progress: OnProgress
    header: RunHeader = field(init=False)
    verdicts: CaseVerdicts = field(init=False)

    def run(self) -> Run:
        interrupted = None
        try:
            gave_up = self._execute()
        except (KeyboardInterrupt, DiskError) as fault:
            if not self.log.is_begun:
                raise
            interrupted = fault
            gave_up = self._how(fault)
        results = self._results()
        is_partial = interrupted is not None or len(results) < len(self.entries)
        try:
            write_results(self.plan.out, self.header, results, interrupted=is_partial)
        except (KeyboardInterrupt, DiskError) as fault:
            interrupted = interrupted or fault
            gave_up = gave_up or self._how(fault)
        return Run(
            header=self.header,
            results=results,
            missing=tuple(each.id for each in self.entries if each.id not in self.verdicts.own),
            gave_up=gave_up,
            interrupted=interrupted,
            continued=len({logged.case for logged in self.log.lines}),
        )

    def _execute(self) -> str | None:
        """Execute the cases without a verdict, and failures again; returns why that was given up, or None."""
        done = {logged.case for logged in self.log.lines}
        left = [each for each in self.entries if each.id not in done]
        on_ready: OnReady = self._begin
        while True:
            try:
                return self._attempts(left, on_ready)
            except _Stop:
                self._confirm()
                if len(self.verdicts.own) < len(self.entries) and any(map(self._stops, self._results())):
                    return f"Stopped at the first failure, {progress_of(len(self.verdicts.own), len(self.entries))}"
            left, on_ready = [each for each in left if each.id not in self.verdicts.own], lambda _: None

    def _attempts(self, left: Sequence[Entry], on_ready: OnReady) -> str | None:
        gave_up = self.executor(left, "first", partial(self._note, "first"), on_ready)
        if gave_up is None:
            self._confirm()
        return gave_up

    def _confirm(self) -> None:
        """Execute failures again, and the controls that they need."""

        def execute(due: list[Entry], attempt: Attempt) -> str | None:
            return self.executor(due, attempt, partial(self._note, attempt), lambda _: None)

        why = execute_again(self.verdicts, self.entries, execute)
        self.verdicts.give_up_controls(self.entries, why or NOT_EXECUTED)

    def _how(self, fault: KeyboardInterrupt | DiskError) -> str:
        how = "Interrupted" if isinstance(fault, KeyboardInterrupt) else f"{str(fault).rstrip('.')}, interrupted"
        return f"{how} {progress_of(len(self.verdicts.own), len(self.entries))}"

    def _stops(self, result: Result) -> bool:
        return self.plan.options.stops is not None and self.plan.options.stops(self.header, result)

    def _begin(self, implementation: Implementation) -> None:
        self.header = header_of(self.suite, self.entries, self.plan, implementation)
        self.verdicts = CaseVerdicts(self.suite, implementation)
        self.log.begin(self.header)
        ids = {entry.id for entry in self.entries}
        known = [logged for logged in self.log.lines if logged.case in ids]
        restore(self.verdicts, known, str(self.plan.out / OUTCOMES))

    def _note(self, attempt: Attempt, entry: Entry, case: Case, outcome: Outcome, /, *incidents: Incident) -> None:
        if attempt == "control":
            entry = self.suite.by_id[entry.id.removesuffix(f"/{CONTROL}")]
        self.log.add(*self.verdicts.add(entry, attempt, case, outcome, *incidents))
        if attempt == "first":
            self.on_progress(len(self.verdicts.own) / len(self.entries), len(self.verdicts.own))
            if self.plan.options.stops is not None and self._stops(self.verdicts.result(entry)):
                raise _Stop

    def _results(self) -> tuple[Result, ...]:
        return tuple(self.verdicts.result(each) for each in self.entries if each.id in self.verdicts.own)


def header_of(suite: Suite, entries: Sequence[Entry], plan: RunPlan, implementation: Implementation) -> RunHeader:
    """The header of a run of some cases of a suite."""
    selection = plan.options.selection
    everything = entries if selection.shard is None else selected(suite, replace(selection, shard=None))
    return RunHeader(
        cases=len(entries),
        selected=ids_digest([entry.id for entry in everything]),
        suite=suite_note(suite.header),
        implementation=replace(implementation, hardware=None, driver=None),  # the environment has them
        started=plan.started,
        profiles=tuple(sorted(selection.profiles)),
        whole=plan.options.whole,
        partial=bool(suite.header.select) or len(everything) < len(suite.entries),
        strict=plan.options.strict,
        environment=plan.environment_of(implementation),
        timeout=plan.options.timeout,
        memory=plan.memory,
        outputs=plan.outputs,
        shard=selection.shard,
        program=plan.program,
        requirements=suite.header.requirements,
    )
