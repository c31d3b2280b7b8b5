"""The execution of trials: each batch is a suite in a scratch folder, and all batches share a warm harness."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from opconform.generation.options import Options
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.session import Session
from opconform_runners.findings.causes.feeds import feeds_of, likely_causes
from opconform_runners.findings.symptom import symptom_of
from opconform_runners.harness.command import Launch
from opconform_runners.harness.outcome import Outcome, Returned
from opconform_runners.tools.fuzz.cases.supply import Batch, Source, supply, written
from opconform_runners.tools.fuzz.graphs.experience import Lesson
from opconform_runners.tools.fuzz.trial import Trial
from opconform_runners.verdicts.neighbours import deviates_alone
from opconform_runners.verdicts.results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A trial that failed, the symptom, which remains while the trial is reduced, and the causes that it can have."""

    trial: Trial
    result: Result
    symptom: tuple[str, str, str]
    causes: frozenset[str] = frozenset()

    @property
    def sign(self) -> tuple[str, ...]:
        """What stays the same while a failure is reduced: what is broken, and the symptom."""
        severity, reason, message = self.symptom
        return (*self._broken, reason, "" if reason == "accepted-invalid" else message, severity)

    @property
    def signature(self) -> tuple[str, ...]:
        """What failures by the same bug have in common.

        Which of the elements a case has decides how wrong ones look, and chance how a crash looks, or whether outputs
        vary; but different messages have different causes.
        """
        _, reason, message = self.symptom
        if reason == "nondeterministic":
            reason = "value" if self.trial.twin is None else "accepted-invalid"
        return (*self._broken, reason, message if reason == "rejected-valid" else "")

    @property
    def without_message(self) -> "Failure":
        """The failure where the message of a rejection varies, so that it tells nothing about the bug."""
        severity, reason, _ = self.symptom
        return replace(self, symptom=(severity, reason, ""))

    @property
    def marks(self) -> frozenset[str]:
        """The causes or the message, if they tell bugs apart; what varies has no other cause."""
        _, reason, message = self.symptom
        if reason in ("rejected-valid", "nondeterministic"):
            return frozenset({message or reason})
        return self.causes if reason in ("value", "nan-payload") else frozenset()

    @property
    def _broken(self) -> tuple[str, ...]:
        """The operation and what is broken of it, but not the pattern of a graph, which changes if a node is cut."""
        draft = self.trial.draft
        patterns = () if draft.graph is None else draft.requirements
        return (draft.op, *(x for x in self.result.broken if x not in patterns), *self.failing_node)

    @property
    def is_of_node(self) -> bool:
        """Whether a node of a graph fails alone, named or not."""
        return self.trial.draft.graph is not None and deviates_alone(self.result.sentence)

    @property
    def failing_node(self) -> tuple[str, ...]:
        """The operation that fails alone, if it is one of a graph."""
        graph = self.trial.draft.graph
        nodes = () if graph is None else graph.nodes
        return tuple(node.op for node in nodes if deviates_alone(self.result.sentence, node))[:1]


def lesson_of(outcome: Failure | Result) -> tuple[str, Lesson]:
    """The digits of a graph, and what its outcome says about its operations."""
    result = outcome.result if isinstance(outcome, Failure) else outcome
    digits = result.id.rpartition("/")[2]
    if not isinstance(outcome, Failure):
        return digits, Lesson(verdict=result.verdict)
    return digits, Lesson(verdict="alone" if outcome.is_of_node else "fail", failing=outcome.failing_node)


class Batches:
    """Executes batches of trials on a backend; `folder` is a scratch folder."""

    def __init__(self, launch: Launch, folder: Path, options: Options) -> None:
        self._launch, self._folder = launch, folder
        self.options = options
        self._session: Session | None = None

    def drawn(self, source: Source, seed: int, tests: float) -> AbstractContextManager[Iterator[Batch]]:
        """Batches of new trials. Each batch is drawn and written while the one before is executed."""
        return supply(source, seed, tests, self._folder / "drawn", self.options)

    def start(self) -> None:
        """Start the harness, if none has been started.

        Raises:
            HarnessError: It cannot be started.
        """
        if self._session is None:
            _, session = self._opened(self._written([]))
            session.implementation  # noqa: B018 - starts it

    def outcomes(
        self, trials: Batch | Sequence[Trial], until: float = math.inf, *, once: bool = False
    ) -> Iterator[Failure | Result]:
        """The failure or another result of each trial that begins until a time (monotonic).

        As in a run, failures are executed again in other harnesses, unless each trial is to be executed once.

        Raises:
            HarnessError: The harness cannot be started.
        """
        batch = trials if isinstance(trials, Batch) else self._written(trials)
        suite, session = self._opened(batch)
        op = None
        for number, trial in enumerate(batch.trials):
            if number > 0 and time.monotonic() >= until:
                break
            if once and trial.draft.op != op:
                op = trial.draft.op
                session.execute_packed(_valid_cases(suite, op, batch.trials[number:]))
            yield _executed(suite, session, trial, once=once)

    @property
    def implementation(self) -> Implementation | None:
        """The backend, once it has started."""
        return None if self._session is None else self._session.implementation

    def close(self) -> None:
        """Stop the harness."""
        if self._session is not None:
            self._session.close()

    def _written(self, trials: Sequence[Trial]) -> Batch:
        return written(trials, self._folder / "given", self.options)

    def _opened(self, batch: Batch) -> tuple[Suite, Session]:
        """The suite of a batch, and the session that executes it."""
        suite = open_suite(batch.folder)
        if self._session is None:
            self._session = Session(suite, self._launch)
        self._session.turn_to(suite)
        return suite, self._session


def _valid_cases(suite: Suite, op: str, trials: Sequence[Trial]) -> list[Entry]:
    """The valid cases of the first trials, which are of one operation, and the twins of the invalid ones."""
    row = takewhile(lambda trial: trial.draft.op == op, trials)
    return [suite.by_id[name] for name in dict.fromkeys((trial.twin or trial.draft).id for trial in row)]


def _executed(suite: Suite, session: Session, trial: Trial, *, once: bool) -> Failure | Result:
    """The failure of a trial, or another result."""
    entry = suite.by_id[trial.draft.id]
    result = session.result_of(entry, once=once)
    if result.verdict == "fail" and trial.draft.graph is not None:  # whether a node fails alone decides what is broken
        result = session.result_of(entry)
    if result.verdict != "fail":
        return result
    causes = _causes(suite, entry, result, session.outcomes[entry.id])
    names = frozenset(cause.partition(":")[0] for cause in causes)
    return Failure(trial=trial, result=result, symptom=symptom_of(result, next(iter(causes), "")), causes=names)


def _causes(suite: Suite, entry: Entry, result: Result, outcome: Outcome) -> list[str]:
    """The causes that a failure can have, the likeliest first."""
    if not isinstance(outcome, Returned):
        return []
    outputs: Mapping[tuple[int, int], Array] = {
        (feed, number): x for feed, arrays in enumerate(outcome.outputs) for number, x in enumerate(arrays)
    }
    feeds = feeds_of(suite, entry, result, outputs)
    return [*likely_causes(suite.case(entry), result, feeds[0])] if feeds and feeds[0].actual else []
