"""A sitting: a backend and the cases it is asked for, one at a time, each with the verdict that a run would give."""

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.runner import Seen, light, result_of
from opconform_runners.execution.warm_harness import KeptHarness
from opconform_runners.harness.command import Command
from opconform_runners.verdicts.judge import (
    as_declared,
    compared,
    control_due,
    controlled,
    final_verdict,
    first_verdict,
)
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import Error, Fail, Nondeterministic, Pass, Unsupported, Verdict, reason_of


class Sitting:
    """Verdicts of single cases, in any order, from one warm harness.

    As in a run, what fails is executed once more in another harness, what then ends otherwise or crashed in one that no
    other case has touched, and a refusal counts when its twin passes; the twin is executed for that.
    """

    def __init__(self, suite: Suite, command: Command, timeout: float, *, once: bool = False) -> None:
        """Nothing is started yet.

        Args:
            suite: The suite; it holds the expected outputs.
            command: How a harness is started.
            timeout: How long a case may take, in seconds.
            once: Whether a failure is taken as it is, for whoever executes the case again himself.
        """
        self._once = once
        self._suite = suite
        self._command = command
        self._timeout = timeout
        self._first = KeptHarness(suite, command, timeout)
        self._again = KeptHarness(suite, command, timeout)
        self._own: dict[str, Verdict] = {}
        self._seen: dict[str, Seen] = {}

    @property
    def implementation(self) -> Implementation:
        """What is tested.

        Raises:
            HarnessError: The harness cannot be started.
        """
        return self._first.implementation

    def result_of(self, entry: Entry) -> Result:
        """What becomes of a case.

        Raises:
            HarnessError: The harness cannot be started.
            SuiteError: A file of the suite is not what it says.
            UsageError: The suite holds nothing that the harness reads.
        """
        own = self._verdict_of(entry)
        if isinstance(own, Pass) and entry.twin is not None and entry.twin in self._suite.by_id:
            self._verdict_of(self._suite.by_id[entry.twin])
        verdict = final_verdict(entry, self._own)
        return result_of(self._suite, entry, self._seen[entry.id], verdict, self.implementation)

    def close(self) -> None:
        """Stop the harnesses."""
        self._first.close()
        self._again.close()

    def _verdict_of(self, entry: Entry) -> Verdict:
        """The verdict of a case for itself; it is executed when it is first asked for."""
        if entry.id not in self._own:
            case, outcome = self._first.outcome_of(entry)
            first = first_verdict(self._suite, entry, case, outcome)
            self._seen[entry.id] = Seen(case=case, outcome=light(outcome))
            own = self._confirmed(entry, first) if isinstance(first, Fail) and not self._once else first
            verdict = as_declared(case, own, self.implementation)
            control = None if self._once else control_due(entry, case, verdict)
            if control is not None:
                with KeptHarness(self._suite, self._command, self._timeout) as fresh:
                    verdict = controlled(case, verdict, self._judged(control, fresh))
            self._own[entry.id] = verdict
        return self._own[entry.id]

    def _confirmed(self, entry: Entry, first: Fail) -> Verdict:
        if reason_of(first) not in ("crash", "timeout"):
            second = compared(first, self._judged(entry, self._again))
            if not isinstance(second, Nondeterministic):
                return second
        with KeptHarness(self._suite, self._command, self._timeout) as fresh:
            return compared(first, self._judged(entry, fresh))

    def _judged(self, entry: Entry, harness: KeptHarness) -> Pass | Fail | Unsupported | Error:
        case, outcome = harness.outcome_of(entry)
        return first_verdict(self._suite, entry, case, outcome)
