"""Which failures of a search have the same bug."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opconform_runners.findings.causes.cause import CONVERSIONS
from opconform_runners.findings.failures import SEVERITIES, severity_of
from opconform_runners.tools.fuzz.batch import Failure
from opconform_runners.tools.fuzz.cases.simplicity import cost, parts

#: The signals that memory ends a process with that was overwritten, or is not its own.
_OF_MEMORY = ("SIGABRT", "SIGBUS", "SIGSEGV")


@dataclass(frozen=True, kw_only=True, slots=True)
class FuzzFinding:
    """A finding: a case that shows it, and after how many tests and seconds the case was found.

    `is_reduced` is whether nothing can be left out of the case, `is_confirmed` whether it fails in fresh harnesses, and
    `varies` whether it fails only sometimes.
    """

    failure: Failure
    tests: int = 0
    seconds: float = 0.0
    is_reduced: bool = False
    is_confirmed: bool = False
    varies: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What tells bugs apart: what is broken, the symptom, and what could not be left out of the case."""
        if self.varies:
            return (self.failure.trial.draft.op, "fails only sometimes")
        return (*self.failure.signature, *self.parts)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the case has besides shapes and values; a node that fails alone needs nothing of its graph."""
        return self._parts_with()

    def _parts_with(self, *, has_widths: bool = True) -> tuple[str, ...]:
        return () if self.failure.failing_node else parts(self.failure.trial.draft, has_widths=has_widths)

    def may_repeat(self, simpler: "FuzzFinding") -> bool:
        """Whether another finding explains this one: the operation is the same, and this one needs all it needs."""
        mine, theirs = self.failure, simpler.failure
        if self.varies or simpler.varies:  # chance decides what can be left out
            return self.key == simpler.key
        if mine.trial.draft.op != theirs.trial.draft.op or not self._needs(simpler):
            return False
        if mine.signature == theirs.signature and not (self.is_reduced and mine.marks.isdisjoint(theirs.marks)):
            return True
        if mine.symptom[1] == "nan-payload":  # NaNs changed as other numbers do
            return theirs.symptom[1] == "value" and not mine.marks.isdisjoint(theirs.marks)
        return self._may_end_by(simpler)

    def _needs(self, simpler: "FuzzFinding") -> bool:
        """Whether this finding has all parts of another; a conversion converts data of any width."""
        shared = self.failure.marks & simpler.failure.marks
        has_widths = not any(x.startswith(CONVERSIONS) for x in shared)
        mine, theirs = (x._parts_with(has_widths=has_widths) for x in (self, simpler))
        return set(theirs) <= set(mine)

    def _may_end_by(self, simpler: "FuzzFinding") -> bool:
        """Whether the process ended by a bug that corrupts memory, which shows itself in other ways, too.

        Chance decides how an invalid case shows that it was accepted. The bug of a valid case also ends processes in
        invalid cases that need the same parts, whatever they violate.
        """
        if self.failure.symptom[1] != "crash" or not (_corrupts_memory(self) and _corrupts_memory(simpler)):
            return False
        is_invalid = self.failure.trial.twin is not None
        if self.failure.result.broken == simpler.failure.result.broken:
            return is_invalid or not self.is_reduced or (bool(self.parts) and set(self.parts) == set(simpler.parts))
        return bool(simpler.parts) and is_invalid and simpler.failure.trial.twin is None


def _corrupts_memory(finding: FuzzFinding) -> bool:
    severity, reason, message = finding.failure.symptom
    return severity == "memory" or (reason == "crash" and message in _OF_MEMORY)


def severity_order(finding: FuzzFinding) -> tuple[object, ...]:
    """By what findings are ordered: the worst first, then the simplest."""
    failure = finding.failure
    is_invalid, is_nan = failure.trial.twin is not None, failure.symptom[1] == "nan-payload"
    return (SEVERITIES.index(severity_of(failure.result)), is_invalid, is_nan, cost(failure.trial.draft))


def distinct(findings: Iterable[FuzzFinding], known: Mapping[tuple[str, ...], FuzzFinding]) -> Iterator[FuzzFinding]:
    """The findings that are not known and repeat no other one: the worst first, then the simplest; each case once."""
    others, keys = [*known.values()], {*known}
    digits = set()
    for finding in sorted(findings, key=severity_order):
        is_repeated = finding.key in keys or any(finding.may_repeat(known_finding) for known_finding in others)
        if not is_repeated and finding.failure.trial.draft.digits not in digits:
            keys.add(finding.key)
            digits.add(finding.failure.trial.draft.digits)
            yield finding
        others.append(finding)
