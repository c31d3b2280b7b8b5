"""The verdict of each case, from its executions so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from opconform.errors import SuiteError
from opconform.suite.case import Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.executions import first_of, follows, is_on_outputs, pack_note, second_of
from opconform_runners.execution.log.logged_outcome import Answer, Attempt, LoggedOutcome, Saved, answer_of
from opconform_runners.execution.log.outcomes import Log
from opconform_runners.execution.log.outputs_zip import CASE_LIMIT
from opconform_runners.execution.packs.pack import Packed
from opconform_runners.execution.packs.sample import history_of
from opconform_runners.harness.outcome import Error, Incident, Outcome, Returned
from opconform_runners.verdicts import judge, neighbours
from opconform_runners.verdicts.accuracy_level import rounded_type
from opconform_runners.verdicts.claims import Claims
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import (
    Fail,
    Nondeterministic,
    Own,
    Pass,
    Unsupported,
    Verdict,
    failure_of,
    reason_of,
    sentence_of,
)

#: The fields of a result that the first outcome of its case decides.
_FACTS = ("seconds", "placement", "stage", "message")


#: Why a neighbour check that is due has no verdict.
NOT_EXECUTED, NOT_RECORDED = "it was not executed", "recorded outputs are those of cases alone"


class Executions(Protocol):
    """What is known of cases so far, and which executions are due."""

    def due(self, entries: Sequence[Entry], attempt: Attempt) -> list[Entry]:
        """The entries to execute again, alone, or as their neighbour checks, in this order."""


def execute_again(
    executions: Executions, entries: Sequence[Entry], execute: Callable[[list[Entry], Attempt], str | None]
) -> str | None:
    """Execute cases as often as their first outcomes require; returns why that was given up, or None."""
    attempts: tuple[Attempt, ...] = ("again", "alone", "neighbour-check")
    for attempt in attempts:
        due = executions.due(entries, attempt)
        if due and (why := execute(due, attempt)) is not None:
            return why
    return None


class CaseVerdicts:
    """The executions of cases of a suite on one backend, and the verdicts that they add up to."""

    def __init__(self, suite: Suite, implementation: Implementation, claims: Claims | None = None) -> None:
        self._suite = suite
        self._claims = claims
        self.implementation = implementation
        self._facts: dict[str, Mapping[str, Any]] = {}
        self._incidents: dict[str, tuple[Incident, ...]] = {}
        self._executions: dict[str, dict[Attempt, Own]] = {}
        self._results: dict[str, Result] = {}
        #: The verdict of each executed case, regardless of its twin.
        self.own: dict[str, Verdict] = {}

    def add_packed(
        self, entry: Entry, case: Case, outcome: Outcome, packed: Packed, *incidents: Incident
    ) -> LoggedOutcome:
        """Take what was seen of a case in a pack; returns its line of the log. Only a pass is a verdict."""
        answer, _ = answer_of(outcome, keeps=False)
        self._keep(entry, case, "packed", packed.own, answer, incidents)
        return LoggedOutcome(
            case=entry.id,
            execution="packed",
            outcome=answer,
            own=packed.own,
            incidents=incidents,
            pack=packed.pack,
            checked=packed.checked,
        )

    def add(
        self, entry: Entry, attempt: Attempt, case: Case, outcome: Outcome, *incidents: Incident
    ) -> tuple[LoggedOutcome, list[bytes]]:
        """Judge the outcome of one execution of a case, or of its neighbour check, at which incidents happened.

        Returns its line of the log, and the files of the outputs that are kept.
        """
        neighbour_check = entry.neighbour_check if attempt == "neighbour-check" else None
        flushes = self.implementation.flushes_denormals
        verdict = judge.first_verdict(self._suite, neighbour_check or entry, case, outcome, flushes=flushes)
        answer, files = answer_of(
            outcome, keeps=attempt == "first" and isinstance(verdict, Fail) and _is_small(outcome)
        )
        if neighbour_check is not None:
            case, incidents = self._suite.case(entry), ()
        self._keep(entry, case, attempt, verdict, answer, incidents)
        saved = verdict if isinstance(answer, Saved) else None
        return LoggedOutcome(case=entry.id, execution=attempt, outcome=answer, own=saved, incidents=incidents), files

    def restore(self, logged: LoggedOutcome) -> bool:
        """Take over a line of the log; returns whether it follows from the suite and the lines before it."""
        entry, executed = self._suite.by_id.get(logged.case), self._executions.get(logged.case, {})
        if entry is None or not follows(logged, entry, executed):
            return False
        case, judged, verdict = self._suite.case(entry), entry, logged.own
        if logged.execution == "neighbour-check":
            if entry.neighbour_check is None:
                return False
            judged = entry.neighbour_check
        if not isinstance(logged.outcome, Saved):
            if verdict is not None:
                return False
            judged_case = case if judged is entry else self._suite.case(judged)
            verdict = judge.first_verdict(self._suite, judged, judged_case, logged.outcome)
        elif verdict is None or not is_on_outputs(verdict, judged):
            return False
        self._keep(entry, case, logged.execution, verdict, logged.outcome, logged.incidents)
        return True

    def due(self, entries: Sequence[Entry], attempt: Attempt) -> list[Entry]:
        """The entries to execute for failures: `again` in a fresh harness, `alone` in one each, or `neighbour-check`.

        Cases that crashed or timed out are only executed alone, and so are those that did not end the same way again.
        The neighbour check is due where a neighbour of the node under test may be at fault.
        """
        if attempt == "neighbour-check":
            return list(self._neighbour_checks_due(entries).values())
        return [entry for entry in entries if self._is_due(entry, attempt)]

    def give_up_neighbour_checks(self, entries: Sequence[Entry], why: str) -> None:
        """Settle the cases whose neighbour checks are still due, without their neighbour checks."""
        for name in self._neighbour_checks_due(entries):
            entry = self._suite.by_id[name]
            self._keep(entry, self._suite.case(entry), "neighbour-check", Unsupported(why=why), None, ())

    def result(self, entry: Entry) -> Result:
        """The result of an executed case, which also depends on its twin."""
        verdict = judge.final_verdict(self._suite, entry, self.own)
        if self._claims is not None:
            verdict = self._claims.judged(self._suite, entry, verdict)
        result = self._judged(entry, verdict)
        return result if self._claims is None else self._claims.marked(self._suite, entry, result)

    def _judged(self, entry: Entry, verdict: Verdict) -> Result:
        if verdict is self.own[entry.id]:
            return self._results[entry.id]
        facts, incidents = self._facts[entry.id], self._results[entry.id].incidents
        result = result_of(self._suite, entry, self._suite.case(entry), facts, verdict, self.implementation)
        return replace(result, incidents=incidents, pack=pack_note(self._executions[entry.id], self.own[entry.id]))

    def _keep(
        self,
        entry: Entry,
        case: Case,
        attempt: Attempt,
        execution_verdict: Own,
        answer: Answer | None,
        incidents: tuple[Incident, ...],
    ) -> None:
        executions = self._executions.setdefault(entry.id, {})
        executions[attempt] = execution_verdict
        case_incidents = self._incidents[entry.id] = (*self._incidents.get(entry.id, ()), *incidents)
        if (first := first_of(executions)) is None:
            return
        if attempt in ("packed", "first") or (attempt == "alone" and judge.has_ended(first)):
            self._facts[entry.id] = execution_facts(answer)
        facts = self._facts[entry.id]
        both = judge.combined(first, second_of(executions))
        verdict = judge.as_declared(case, both, self.implementation)
        if "neighbour-check" in executions:
            verdict = neighbours.with_neighbour_check(case, verdict, executions["neighbour-check"])
        result = result_of(self._suite, entry, case, facts, verdict, self.implementation)
        past = tuple(incident for incident in case_incidents if not judge.has_recurred(incident, both))
        self._results[entry.id] = replace(result, incidents=past, pack=pack_note(executions, verdict))
        self.own[entry.id] = verdict  # last: a case with a verdict has a result, even if Ctrl-C comes here

    def _is_due(self, entry: Entry, attempt: Attempt) -> bool:
        executions = self._executions.get(entry.id, {})
        first, second = executions.get("first"), second_of(executions)
        if not isinstance(first, Fail) or "alone" in executions:
            return False
        if attempt == "again":
            return second is None and first.reason not in judge.ENDS
        return second is None or judge.combined(first, second) is not first

    def _neighbour_checks_due(self, entries: Sequence[Entry]) -> dict[str, Entry]:
        """The neighbour checks to execute, by the ids of their cases. Only failures need one, so few cases are read."""
        executed = [entry for entry in entries if entry.id in self.own and entry.neighbour_check is not None]
        failed = [case for case in executed if failure_of(self.own[case.id]) is not None]
        open_ones = [failure for failure in failed if "neighbour-check" not in self._executions[failure.id]]
        due = {
            open_one.id: neighbours.neighbour_check_due(open_one, self._suite.case(open_one), self.own[open_one.id])
            for open_one in open_ones
        }
        return {name: neighbour_check for name, neighbour_check in due.items() if neighbour_check is not None}


def _is_small(outcome: Outcome) -> bool:
    """Whether the outputs of a failure may be kept."""
    feeds = outcome.outputs if isinstance(outcome, Returned) else ()
    return sum(array.nbytes for feed in feeds for array in feed) <= CASE_LIMIT


def execution_facts(answer: Answer | None) -> Mapping[str, Any]:
    """The fields of the first outcome that a result repeats."""
    return {name: getattr(answer, name, None) for name in _FACTS}


def results_of(log: Log, suite: Suite, claims: Claims | None = None, *, settled: bool = False) -> list[Result]:
    """The results that follow from a log, its suite and its claims, sorted by id.

    Raises a SuiteError if the log does not follow from the suite.

    With `settled`, all failures must have been executed again, and no neighbour check is still to come.
    """
    if suite.header.identity != log.header.suite.digest:
        raise SuiteError(f"{log.path} is of another suite than {suite.store.root}. Name the suite that was run.")
    verdicts = CaseVerdicts(suite, log.header.implementation, claims)
    restore(verdicts, log.lines, log.path)
    attempts: tuple[Attempt, ...] = ("again", "alone")
    if settled and any(verdicts.due(suite.entries, attempt) for attempt in attempts):
        raise SuiteError(f"{log.path} lacks the second execution of a failure. Repeat the run with --force.")
    if settled and history_of(log.lines).unchecked:
        raise SuiteError(f"{log.path} lacks the execution alone of a pass in a pack. Repeat the run with --force.")
    if settled or len(verdicts.own) == log.header.cases:
        verdicts.give_up_neighbour_checks(suite.entries, NOT_EXECUTED if log.header.outputs is None else NOT_RECORDED)
    return [verdicts.result(suite.by_id[name]) for name in sorted(verdicts.own)]


def restore(verdicts: CaseVerdicts, lines: Sequence[LoggedOutcome], where: str) -> None:
    """Take over the lines of a log, or raise a SuiteError at the first that does not follow."""
    for number, logged in enumerate(lines, 2):
        if not verdicts.restore(logged):
            what = f"{where}:{number} does not follow from the suite and the executions before it"
            raise SuiteError(f"{what}. Repeat the run with --force.")


def result_of(
    suite: Suite,
    entry: Entry,
    case: Case,
    facts: Mapping[str, Any],
    verdict: Verdict,
    implementation: Implementation,
) -> Result:
    """The line of the results for a case; `facts` has the facts of its first outcome."""
    failure = failure_of(verdict)
    shown = not isinstance(verdict, Pass) or verdict.late or verdict.other_reason is not None
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)] if shown else []
    return Result(
        id=entry.id,
        profile=entry.profile,
        expect="accept" if entry.expect == "accept" else "reject",
        verdict=verdict.verdict,
        reason=reason_of(verdict),
        sentence=sentence_of(verdict),
        requirements=entry.requirements,
        essential=entry.essential,
        broken=() if failure is None else judge.broken_by(entry, failure.reason, failure.mismatch, suite.header),
        inputs=description_of(case, feeds) if shown else "",
        **facts,
        late=isinstance(verdict, Pass) and verdict.late,
        other_reason=verdict.other_reason if isinstance(verdict, Pass) else None,
        error=verdict.error if isinstance(verdict, Pass) else None if failure is None else _error_of(failure),
        rounded=rounded_type(case),
        remarks=judge.remarks_of(case, verdict, implementation, sent=facts["message"] is not None),
        mismatch=None if failure is None else failure.mismatch,
        again=sentence_of(verdict.second) or "passed" if isinstance(verdict, Nondeterministic) else None,
        log=verdict.log if isinstance(verdict, Error) else None,
    )


def _error_of(failure: Fail) -> float | None:
    return failure.mismatch.error if failure.mismatch is not None else None
