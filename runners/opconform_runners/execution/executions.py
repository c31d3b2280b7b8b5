"""What several executions of one case add up to."""

from collections.abc import Mapping

from opconform.suite.manifest import Entry
from opconform_runners.execution.log.logged_outcome import Attempt, LoggedOutcome
from opconform_runners.verdicts.tally import PackNote
from opconform_runners.verdicts.verdict import Fail, Own, Pass, Verdict


def follows(logged: LoggedOutcome, entry: Entry, executed: Mapping[Attempt, Own]) -> bool:
    """Whether a line of a log can follow executions of its case: in a pack, perhaps several times, then alone."""
    if (logged.execution == "packed") != (logged.pack is not None) or (logged.checked and logged.pack is None):
        return False
    match logged.execution:
        case "packed":
            return entry.expect == "accept" and "first" not in executed
        case "first":
            return "first" not in executed
        case execution:
            return "first" in executed and execution not in executed


def is_on_outputs(verdict: Own, entry: Entry) -> bool:
    """Whether a verdict can be about outputs: outputs of a valid case are compared; outputs of an invalid one fail."""
    match verdict:
        case Pass():
            return entry.expect == "accept"
        case Fail(reason="accepted-invalid", mismatch=None):
            return entry.expect != "accept"
        case Fail(reason=reason, mismatch=mismatch):
            return entry.expect == "accept" and mismatch is not None and mismatch.reason == reason
        case _:
            return False


def first_of(executions: Mapping[Attempt, Own]) -> Own | None:
    """The first verdict that counts: alone, or a pass in a pack."""
    packed = executions.get("packed")
    return executions.get("first") or (packed if isinstance(packed, Pass) else None)


def pack_note(executions: Mapping[Attempt, Own], verdict: Verdict) -> PackNote | None:
    """What a result says of the case in a pack."""
    packed = executions.get("packed")
    if packed is None:
        return None
    if "first" not in executions:
        return "counted"
    if isinstance(packed, Pass):
        return "confirmed" if isinstance(verdict, Pass) else "differs"
    return "alone-only" if isinstance(verdict, Pass) else None


def second_of(executions: Mapping[Attempt, Own]) -> Own | None:
    """The second verdict: of the execution in a harness that no other case touched, or in a fresh one."""
    return executions.get("alone", executions.get("again"))
