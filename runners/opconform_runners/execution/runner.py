"""Running: a suite, a harness, and a verdict for every case."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from opconform.errors import DiskError, HarnessError, SuiteError, UsageError
from opconform.suite.case import Case
from opconform.suite.manifest import CONTROL, Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.suite.selection import EVERYTHING, Selection, near_miss
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.failed_outputs import Keeper
from opconform_runners.execution.journal import Execution, Journal, Own, Step, check_folder, own_document
from opconform_runners.execution.scheduler import Executed, execute
from opconform_runners.harness.command import Command
from opconform_runners.harness.environment import UNKNOWN, Environment, environment_of
from opconform_runners.harness.outcome import NotSent, Outcome, Returned
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.judge import (
    as_declared,
    broken_requirements,
    combined,
    control_due,
    controlled,
    final_verdict,
    findings_of,
    first_verdict,
)
from opconform_runners.verdicts.results import RESULTS, Result, placements_of, write_results
from opconform_runners.verdicts.run_header import RunHeader, RunPlan, header_of, progress_of
from opconform_runners.verdicts.verdict import (
    Error,
    Fail,
    Nondeterministic,
    Pass,
    Unsupported,
    Verdict,
    name_of,
    reason_of,
    sentence_of,
)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a suite is run.

    Attributes:
        jobs: How many harness processes there are.
        timeout: How long a case may take, in seconds.
        selection: Which cases are run, together with the twins that their verdicts need.
        whole: Whether whole profiles are run, as a certificate needs.
        strict: Whether interpretations count as much as normative requirements.
        force: Whether the results of another run are replaced.
        resume: Whether the same run goes on where it was interrupted.
    """

    jobs: int = 1
    timeout: float = 60.0
    selection: Selection = EVERYTHING
    whole: bool = False
    strict: bool = False
    force: bool = False
    resume: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What came of a run.

    Attributes:
        implementation: What was tested.
        results: What became of each case, sorted by id.
        missing: The ids of the cases that have no verdict.
        gave_up: Why there are some, or None.
        environment: Where it ran.
        outputs: The SHA-256 of the file that the outputs came in, where they did not come from a harness.
        interrupted: What ended the run before its end, to be raised once the report is written, or None.
        continued: How many cases were executed before an interruption, and not now.
    """

    implementation: Implementation
    results: tuple[Result, ...]
    missing: tuple[str, ...]
    gave_up: str | None
    environment: Environment = UNKNOWN
    outputs: str | None = None
    interrupted: KeyboardInterrupt | DiskError | None = None
    continued: int = 0


class Executor(Protocol):
    """What gives the outcomes of cases: a harness, or a file of what one gave before."""

    def __call__(
        self,
        entries: Sequence[Entry],
        tell: Callable[[Entry, Case, Outcome], None],
        *,
        again: bool,
        alone: bool,
        ready: Callable[[Implementation], None] = ...,
    ) -> Executed:
        """Tell the outcome of each case.

        Args:
            entries: The lines of the cases.
            tell: Told each outcome, in no certain order.
            again: Whether each has been executed before.
            alone: Whether each has a harness process of its own.
            ready: Told what is tested once outcomes are sure to come, before the first of them.
        """


def _nothing(_: Implementation) -> None:
    """Nothing waits for the harness to be up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What is kept of a case between its execution and its verdict."""

    case: Case
    outcome: Outcome


def run_suite(
    suite: Suite, command: Command, out: Path, options: RunOptions, tell: Callable[[float, int], None] = lambda *_: None
) -> Run:
    """Run cases of a suite, and write `results.jsonl`, and beside it what the cases that fail returned.

    The same run goes on where it was interrupted.

    Args:
        suite: The suite; it holds the expected outputs.
        command: How the harness is started.
        out: The folder for the results.
        options: How to run.
        tell: Told the share of the cases that are done, of 1, and how many that are.

    Raises:
        DiskError: The disk is full before there is any result.
        HarnessError: The harness cannot be started.
        SuiteError: The suite is blind, or a file of it is not what it says.
        UsageError: No case is selected, or the results have no place, or the folder holds those of another run.
    """

    def executor(
        entries: Sequence[Entry],
        tell: Callable[[Entry, Case, Outcome], None],
        *,
        again: bool,  # noqa: ARG001 - a harness does not know what another one did
        alone: bool,
        ready: Callable[[Implementation], None] = _nothing,
    ) -> Executed:
        return execute(
            suite, entries, command, jobs=options.jobs, timeout=options.timeout, tell=tell, alone=alone, ready=ready
        )

    plan = RunPlan(
        out=out,
        started=command.options,
        profiles=options.selection.profiles,
        whole=options.whole,
        strict=options.strict,
        environment_of=lambda implementation: environment_of(command, implementation, ()),
        timeout=options.timeout,
        memory=command.memory,
        force=options.force,
        resume=options.resume,
    )
    return judged(suite, selected(suite, options.selection), executor, plan, tell)


def judged(
    suite: Suite,
    entries: Sequence[Entry],
    executor: Executor,
    plan: RunPlan,
    tell: Callable[[float, int], None] = lambda *_: None,
) -> Run:
    """Judge what comes of cases, and write `results.jsonl`.

    Args:
        suite: The suite; it holds the expected outputs.
        entries: The lines of the cases, each twin before its case.
        executor: What gives their outcomes. Of recorded outputs each is asked for twice, whatever came first.
        plan: What is known of the run; where the results go.
        tell: Told the share of the cases that are done, of 1, and how many that are.

    Raises:
        DiskError: The disk is full before there is any result.
        SuiteError: The suite is blind, or a file of it is not what it says.
        UsageError: The results have no place, or the folder holds those of another run.
    """
    if suite.header.blind:
        raise SuiteError(
            f"{suite.store.root} is blind: it holds no outputs to compare with. Generate it without --blind, or "
            f"`run` it with --outputs FILE.zip for somebody else to judge."
        )
    check_folder(plan.out)
    journal = Journal(plan.out, force=plan.force, resume=plan.resume and plan.outputs is None)
    with contextlib.closing(journal), contextlib.closing(Keeper(plan.out)) as keeper:
        return _Running(suite, entries, executor, plan, _Files(journal, keeper), tell).run()


def selected(suite: Suite, selection: Selection) -> list[Entry]:
    """The selected lines of a manifest and the twins of the rejected cases among them, each twin before its case.

    Without a profile all of the suite is selected, since who generated it named what is in it.

    Raises:
        UsageError: There are none, or none of a profile that is named.
    """
    profiles = sorted({each.profile for each in suite.entries})
    selection = selection.of(profiles, f"in {suite.store.root}")
    wanted = [
        each
        for each in suite.entries
        if selection.wants_profile(each.profile) and selection.wants(each.id, each.requirements)
    ]
    if not wanted:
        groups = [each.id.rpartition("/")[0] for each in suite.entries]
        hint = near_miss(selection.patterns, groups, [name for each in suite.entries for name in each.requirements])
        raise UsageError(f"No case of {suite.store.root} matches {' '.join(selection.patterns)}.{hint}")
    twins = [suite.by_id[each.twin] for each in wanted if each.twin is not None and each.twin in suite.by_id]
    ordered = dict.fromkeys(sorted(each.id for each in [*twins, *wanted]))
    return [suite.by_id[each] for each in ordered]


class _Files(NamedTuple):
    """Where a run writes what it finds."""

    journal: Journal
    keeper: Keeper


class _Running:
    """One run, from its first case to its results."""

    def __init__(
        self,
        suite: Suite,
        entries: Sequence[Entry],
        executor: Executor,
        plan: RunPlan,
        files: _Files,
        tell: Callable[[float, int], None],
    ) -> None:
        self._suite = suite
        self._entries = entries
        self._executor = executor
        self._plan = plan
        self._files = files
        self._tell = tell
        self._implementation: Implementation | None = None
        self._header: RunHeader | None = None
        self._seen: dict[str, Seen] = {}
        self._first: dict[str, Own] = {}
        self._second: dict[str, Own] = {}
        self._alone: set[str] = set()
        self._controls: dict[str, Own] = {}
        self._own: dict[str, Verdict] = {}
        self._so_far: dict[str, Result] = {}

    def run(self) -> Run:
        """Execute what has to be, and give what came of all the cases."""
        interrupted = None
        try:
            gave_up = self._execute()
            self._complete()
        except (KeyboardInterrupt, DiskError) as fault:
            if not self._files.journal.is_begun:
                raise
            interrupted = fault
            how = "interrupted" if isinstance(fault, KeyboardInterrupt) else f"{str(fault).rstrip('.')}, interrupted"
            gave_up = f"{how[:1].upper()}{how[1:]} {progress_of(len(self._first), len(self._entries))}"
        results = tuple(self._results())
        return Run(
            implementation=self._known(self._implementation),
            results=results,
            missing=tuple(each.id for each in self._entries if each.id not in self._own),
            gave_up=gave_up,
            environment=self._known(self._header).environment.placed(placements_of(results)),
            outputs=self._plan.outputs,
            interrupted=interrupted,
            continued=len({each.result.id for each in self._files.journal.steps}),
        )

    def _execute(self) -> str | None:
        """Execute what has no verdict yet, and what failed once more; gives why that was given up, if it was."""
        done = {each.result.id for each in self._files.journal.steps}
        left = [each for each in self._entries if each.id not in done]
        executed = self._executor(left, self._tell_first, again=False, alone=False, ready=self._begin)
        failed = [each for each in self._entries if isinstance(self._first.get(each.id), Fail)]
        if failed and executed.gave_up is None:
            self._confirm(failed)
        if self._plan.outputs is not None:  # of recorded outputs a failure that comes and goes is known
            passed = [each for each in self._entries if isinstance(self._first.get(each.id), Pass)]
            self._executor(passed, self._tell_again, again=True, alone=False)
        if executed.gave_up is None:
            self._control()
        return executed.gave_up

    def _begin(self, implementation: Implementation) -> None:
        """Begin the journal, or go on with it, now that it is known what is tested."""
        journal, ids = self._files.journal, [each.id for each in self._entries]
        self._implementation = implementation
        self._header = header_of(self._plan, self._suite.header, ids, implementation)
        journal.begin(self._header)
        if journal.steps:
            self._files.keeper.resume()
        for step in journal.steps:
            entry = self._suite.by_id[step.result.id]
            if step.execution == "first":
                self._seen[entry.id] = Seen(case=self._suite.case(entry), outcome=_outcome_of(step))
            self._keep(entry, step.execution, step.verdict)

    def _confirm(self, failed: Sequence[Entry]) -> None:
        """Execute what failed once more in a fresh harness; what then ends otherwise, and what crashed, each alone."""
        together = [
            each
            for each in failed
            if each.id not in self._second and reason_of(self._first[each.id]) not in ("crash", "timeout")
        ]
        if together:
            self._executor(together, self._tell_again, again=True, alone=False)
        alone = [each for each in failed if each.id not in self._alone and not self._is_confirmed(each)]
        if alone:
            self._executor(alone, self._tell_alone, again=True, alone=True)

    def _control(self) -> None:
        """Execute the controls of failures that may be due to a neighbour of the node under test, each alone."""
        due = {
            each.id: control
            for each in self._entries
            if each.id not in self._controls
            and (control := control_due(each, self._seen[each.id].case, self._own[each.id])) is not None
        }
        why: str | None = "recorded outputs are those of cases alone"
        if due and self._plan.outputs is None:
            why = self._executor(list(due.values()), self._tell_control, again=True, alone=True).gave_up
        for name in due.keys() - self._controls.keys():
            self._keep(self._suite.by_id[name], "control", Unsupported(why=why or "it was not executed"))

    def _is_confirmed(self, entry: Entry) -> bool:
        first, second = self._first[entry.id], self._second.get(entry.id)
        return second is not None and combined(first, second) is first

    def _tell_first(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        own = first_verdict(self._suite, entry, case, outcome)
        if isinstance(own, Fail) and isinstance(outcome, Returned):
            self._files.keeper.keep(entry.id, outcome.outputs)
        self._seen[entry.id] = Seen(case=case, outcome=light(outcome))
        self._note(entry, "first", own)
        self._tell(len(self._first) / len(self._entries), len(self._first))

    def _tell_again(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        self._note(entry, "again", first_verdict(self._suite, entry, case, outcome))

    def _tell_alone(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        self._note(entry, "alone", first_verdict(self._suite, entry, case, outcome))

    def _tell_control(self, control: Entry, case: Case, outcome: Outcome) -> None:
        entry = self._suite.by_id[control.id.removesuffix(f"/{CONTROL}")]
        self._note(entry, "control", first_verdict(self._suite, control, case, outcome))

    def _note(self, entry: Entry, execution: Execution, own: Own) -> None:
        """Keep the verdict of an execution, and write it down."""
        result = self._keep(entry, execution, own)
        self._files.journal.add(
            Step(
                execution=execution,
                own=own_document(own),
                result=result,
                twin=entry.twin if entry.expect != "accept" else None,
            )
        )

    def _keep(self, entry: Entry, execution: Execution, own: Own) -> Result:
        """Keep the verdict of an execution; gives the result of its case so far."""
        if execution == "first":
            self._first[entry.id] = own
        elif execution == "control":
            self._controls[entry.id] = own
        else:
            self._second[entry.id] = own
        if execution == "alone":
            self._alone.add(entry.id)
        implementation, seen = self._known(self._implementation), self._seen[entry.id]
        verdict = as_declared(seen.case, combined(self._first[entry.id], self._second.get(entry.id)), implementation)
        if entry.id in self._controls:
            verdict = controlled(seen.case, verdict, self._controls[entry.id])
        self._own[entry.id] = verdict
        self._so_far[entry.id] = result_of(self._suite, entry, seen, verdict, implementation)
        return self._so_far[entry.id]

    def _results(self) -> list[Result]:
        """The results of the cases that have one, with what their twins say."""
        results = []
        for each in self._entries:
            if each.id in self._own:
                verdict = final_verdict(each, self._own)
                if verdict is not self._own[each.id]:
                    implementation = self._known(self._implementation)
                    results.append(result_of(self._suite, each, self._seen[each.id], verdict, implementation))
                else:
                    results.append(self._so_far[each.id])
        return results

    def _complete(self) -> None:
        """Write the complete results, if every case has one."""
        if all(each.id in self._own for each in self._entries):
            try:
                write_results(self._plan.out, self._known(self._header), self._results())
            except OSError as fault:
                raise DiskError(self._plan.out / RESULTS, fault) from fault

    def _known(self, value: T | None) -> T:
        """What is known once the backend has started."""
        if value is None:
            raise HarnessError("The backend ended before it said what it is.")
        return value


def result_of(suite: Suite, entry: Entry, seen: Seen, verdict: Verdict, implementation: Implementation) -> Result:
    """What became of a case, as a line of the results says it.

    Args:
        suite: The suite that the case is of.
        entry: The case's line of the manifest.
        seen: The case and what came of it.
        verdict: Its verdict, once its twin and a second execution have been asked.
        implementation: What was tested.
    """
    outcome = seen.outcome
    failure = verdict.first if isinstance(verdict, Nondeterministic) else verdict
    sent = not isinstance(outcome, NotSent)
    shown = not isinstance(verdict, Pass) or verdict.late or verdict.other_reason is not None
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(seen.case.feeds)] if shown else []
    return Result(
        id=entry.id,
        profile=entry.profile,
        expect="accept" if entry.expect == "accept" else "reject",
        verdict=name_of(verdict),
        reason=reason_of(verdict),
        sentence=sentence_of(verdict),
        requirements=entry.requirements,
        essential=entry.essential,
        broken=broken_requirements(entry, verdict, suite.header),
        inputs=description_of(seen.case, feeds) if shown else "",
        seconds=getattr(outcome, "seconds", None),
        placement=outcome.placement if isinstance(outcome, Returned) else None,
        stage=outcome.stage if isinstance(outcome, Refused) else None,
        message=outcome.message if isinstance(outcome, Refused | NotSupported) else None,
        late=isinstance(verdict, Pass) and verdict.late,
        other_reason=verdict.other_reason if isinstance(verdict, Pass) else None,
        findings=findings_of(seen.case, verdict, implementation, sent=sent),
        mismatch=failure.mismatch if isinstance(failure, Fail) else None,
        again=sentence_of(verdict.second) or "passed" if isinstance(verdict, Nondeterministic) else None,
        log=verdict.log if isinstance(verdict, Error) else None,
    )


def light(outcome: Outcome) -> Outcome:
    """An outcome without the outputs, which have been compared and would fill the memory."""
    if isinstance(outcome, Returned):
        return replace(outcome, outputs=(), element_types=None)
    return outcome


def _outcome_of(step: Step) -> Outcome:
    """The outcome of an execution before an interruption, as far as a result says more than its verdict."""
    result = step.result
    if result.stage is not None:
        return Refused(seq=0, stage=result.stage, message=result.message or "", seconds=result.seconds)
    if result.message is not None:
        return NotSupported(seq=0, message=result.message, seconds=result.seconds)
    if isinstance(step.verdict, Unsupported):
        return NotSent(why=step.verdict.why)
    return Returned(outputs=(), element_types=None, seconds=result.seconds, placement=result.placement)
