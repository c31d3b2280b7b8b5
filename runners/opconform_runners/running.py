"""Running: a suite, a harness, and a verdict for every case."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from opconform.case import Case
from opconform.errors import SuiteError, UsageError
from opconform.selecting import EVERYTHING, Selection, near_miss
from opconform.suite import Entry, Suite, inputs_name
from opconform_runners.backend import Implementation
from opconform_runners.commands import Command
from opconform_runners.describing import description_of
from opconform_runners.environment import UNKNOWN, Environment, environment_of
from opconform_runners.executing import Executed, NotSent, Outcome, Returned, execute
from opconform_runners.judging import (
    as_declared,
    broken_requirements,
    compared,
    final_verdict,
    findings_of,
    first_verdict,
)
from opconform_runners.kept import Keeper
from opconform_runners.protocol import NotSupported, Refused
from opconform_runners.results import GrowingResults, Result, check_folder, placements_of, write_results
from opconform_runners.verdicts import (
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


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a suite is run.

    Attributes:
        jobs: How many harness processes there are.
        timeout: How long a case may take, in seconds.
        selection: Which cases are run, together with the twins that their verdicts need.
    """

    jobs: int = 1
    timeout: float = 60.0
    selection: Selection = EVERYTHING


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
    """

    implementation: Implementation
    results: tuple[Result, ...]
    missing: tuple[str, ...]
    gave_up: str | None
    environment: Environment = UNKNOWN
    outputs: str | None = None


class Executor(Protocol):
    """What gives the outcomes of cases: a harness, or a file of what one gave before."""

    def __call__(
        self,
        entries: Sequence[Entry],
        tell: Callable[[Entry, Case, Outcome], None],
        *,
        again: bool,
        alone: bool,
        ready: Callable[[], None] = ...,
    ) -> Executed:
        """Tell the outcome of each case.

        Args:
            entries: The lines of the cases.
            tell: Told each outcome, in no certain order.
            again: Whether each has been executed before.
            alone: Whether each has a harness process of its own.
            ready: Called once outcomes are sure to come, before the first of them.
        """


def _nothing() -> None:
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

    Args:
        suite: The suite; it holds the expected outputs.
        command: How the harness is started.
        out: The folder for the results.
        options: How to run.
        tell: Told the share of the cases that are done, of 1, and how many that are.

    Raises:
        HarnessError: The harness cannot be started.
        SuiteError: The suite is blind, or a file of it is not what it says.
        UsageError: No case is selected, or the results have no place.
    """

    def executor(
        entries: Sequence[Entry],
        tell: Callable[[Entry, Case, Outcome], None],
        *,
        again: bool,  # noqa: ARG001 - a harness does not know what another one did
        alone: bool,
        ready: Callable[[], None] = _nothing,
    ) -> Executed:
        return execute(
            suite, entries, command, jobs=options.jobs, timeout=options.timeout, tell=tell, alone=alone, ready=ready
        )

    run = judged(suite, selected(suite, options.selection), executor, out, tell)
    return replace(run, environment=environment_of(command, run.implementation, placements_of(run.results)))


def judged(
    suite: Suite,
    entries: Sequence[Entry],
    executor: Executor,
    out: Path,
    tell: Callable[[float, int], None] = lambda *_: None,
    *,
    twice: bool = False,
) -> Run:
    """Judge what comes of cases, and write `results.jsonl`.

    Args:
        suite: The suite; it holds the expected outputs.
        entries: The lines of the cases, each twin before its case.
        executor: What gives their outcomes.
        out: The folder for the results.
        tell: Told the share of the cases that are done, of 1, and how many that are.
        twice: Whether what passed is executed once more, too: recorded outputs have it.

    Raises:
        SuiteError: The suite is blind, or a file of it is not what it says.
        UsageError: The results have no place.
    """
    if suite.header.blind:
        raise SuiteError(
            f"{suite.store.root} is blind: it holds no outputs to compare with. Generate it without --blind, or "
            f"`run` it with --outputs FILE.zip for somebody else to judge."
        )
    check_folder(out)
    with contextlib.closing(GrowingResults(out)) as growing, contextlib.closing(Keeper(out)) as keeper:
        return _Running(suite, executor, growing, keeper, tell, len(entries)).run(entries, out, twice=twice)


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


class _Running:
    """One run, from its first case to its results."""

    def __init__(
        self,
        suite: Suite,
        executor: Executor,
        growing: GrowingResults,
        keeper: Keeper,
        tell: Callable[[float, int], None],
        count: int,
    ) -> None:
        self._suite = suite
        self._executor = executor
        self._growing = growing
        self._keeper = keeper
        self._tell = tell
        self._count = count
        self._seen: dict[str, Seen] = {}
        self._own: dict[str, Verdict] = {}
        self._second: dict[str, Pass | Fail | Unsupported | Error] = {}
        self._confirmed: set[str] = set()

    def run(self, entries: Sequence[Entry], out: Path, *, twice: bool) -> Run:
        executed = self._executor(entries, self._first, again=False, alone=False, ready=self._growing.begin)
        failed = [each for each in entries if isinstance(self._own.get(each.id), Fail)]
        if failed and executed.gave_up is None:
            self._confirm(failed)
        if twice:
            failed += self._failed_again([each for each in entries if isinstance(self._own.get(each.id), Pass)])
        for each in failed:
            self._own[each.id] = as_declared(self._seen[each.id].case, self._own[each.id], executed.implementation)
        results = [
            result_of(self._suite, each, self._seen[each.id], final_verdict(each, self._own), executed.implementation)
            for each in entries
            if each.id in self._own
        ]
        missing = tuple(each.id for each in entries if each.id not in self._own)
        if not missing:
            write_results(out, results)
        return Run(
            implementation=executed.implementation, results=tuple(results), missing=missing, gave_up=executed.gave_up
        )

    def _confirm(self, failed: Sequence[Entry]) -> None:
        """Execute what failed once more in a fresh harness; what then ends otherwise, and what crashed, each alone."""
        together = [each for each in failed if reason_of(self._own[each.id]) not in ("crash", "timeout")]
        if together:
            self._executor(together, self._again, again=True, alone=False)
        alone = [each for each in failed if each.id not in self._confirmed]
        if alone:
            self._executor(alone, self._again, again=True, alone=True)
        for each in failed:
            first, second = self._own[each.id], self._second.get(each.id)
            if isinstance(first, Fail) and second is not None:
                self._own[each.id] = compared(first, second)

    def _failed_again(self, passed: Sequence[Entry]) -> list[Entry]:
        """Execute what passed once more; gives what then failed: a failure that comes and goes."""
        self._executor(passed, self._again, again=True, alone=False)
        failed = []
        for each in passed:
            own, second = self._own[each.id], self._second[each.id]
            if isinstance(own, Pass) and isinstance(second, Fail):
                self._own[each.id] = Nondeterministic(first=second, second=own)
                failed.append(each)
        return failed

    def _first(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        own = first_verdict(self._suite, entry, case, outcome)
        self._own[entry.id] = own
        if isinstance(own, Fail) and isinstance(outcome, Returned):
            self._keeper.keep(entry.id, outcome.outputs)
        self._seen[entry.id] = Seen(case=case, outcome=light(outcome))
        self._growing.add(_plain_result(entry, own))
        self._tell(len(self._own) / self._count, len(self._own))

    def _again(self, entry: Entry, case: Case, outcome: Outcome) -> None:
        first, second = self._own[entry.id], first_verdict(self._suite, entry, case, outcome)
        self._second[entry.id] = second
        if isinstance(first, Fail) and not isinstance(compared(first, second), Nondeterministic):
            self._confirmed.add(entry.id)


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


def _plain_result(entry: Entry, own: Verdict) -> Result:
    """What is written while the run goes on, when neither twins nor second executions are known."""
    return Result(
        id=entry.id,
        profile=entry.profile,
        expect="accept" if entry.expect == "accept" else "reject",
        verdict=name_of(own),
        reason=reason_of(own),
        sentence=sentence_of(own),
        requirements=entry.requirements,
    )
