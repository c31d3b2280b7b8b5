"""Which failures of a search have the same bug."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opconform_runners.findings.causes.cause import CONVERSIONS
from opconform_runners.findings.failures import SEVERITIES, severity_of
from opconform_runners.tools.fuzz.batch import Failure
from opconform_runners.tools.fuzz.cases.reduction import cost, parts

#: The signals that memory ends a process with that was overwritten, or is not its own.
_OF_MEMORY = ("SIGABRT", "SIGBUS", "SIGSEGV")


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
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
        """What the case has besides shapes and values."""
        return parts(self.failure.trial.draft)

    def may_repeat(self, other: "Find") -> bool:
        """Whether another find explains this one: the operation is the same, and this one needs all that it needs."""
        one, two = self.failure, other.failure
        if self.varies or other.varies:  # chance decides what can be left out
            return self.key == other.key
        if one.trial.draft.op != two.trial.draft.op or not self._needs(other):
            return False
        if one.signature == two.signature and not (self.is_reduced and one.marks.isdisjoint(two.marks)):
            return True
        if one.symptom[1] == "nan-payload":  # NaNs changed as other numbers do
            return two.symptom[1] == "value" and not one.marks.isdisjoint(two.marks)
        return self._may_end_by(other)

    def _needs(self, other: "Find") -> bool:
        """Whether this find has all parts of another; a conversion converts data of any width."""
        shared = self.failure.marks & other.failure.marks
        has_widths = not any(x.startswith(CONVERSIONS) for x in shared)
        one, two = (parts(x.failure.trial.draft, has_widths=has_widths) for x in (self, other))
        return set(two) <= set(one)

    def _may_end_by(self, other: "Find") -> bool:
        """Whether the process ended by a bug that corrupts memory, which shows itself in other ways, too.

        Chance decides how an invalid case shows that it was accepted. The bug of a valid case also ends processes in
        invalid cases that need the same parts, whatever they violate.
        """
        if self.failure.symptom[1] != "crash" or not (_corrupts_memory(self) and _corrupts_memory(other)):
            return False
        is_invalid = self.failure.trial.twin is not None
        if self.failure.result.broken == other.failure.result.broken:
            return is_invalid or not self.is_reduced or (bool(self.parts) and set(self.parts) == set(other.parts))
        return bool(other.parts) and is_invalid and other.failure.trial.twin is None


def _corrupts_memory(find: Find) -> bool:
    severity, reason, said = find.failure.symptom
    return severity == "memory" or (reason == "crash" and said in _OF_MEMORY)


def severity_order(find: Find) -> tuple[object, ...]:
    """By what finds are ordered: the worst first, then the simplest."""
    failure = find.failure
    is_invalid, is_nan = failure.trial.twin is not None, failure.symptom[1] == "nan-payload"
    return (SEVERITIES.index(severity_of(failure.result)), is_invalid, is_nan, cost(failure.trial.draft))


def distinct(finds: Iterable[Find], known: Mapping[tuple[str, ...], Find]) -> Iterator[Find]:
    """The finds that are not known and repeat no other one: the worst first, then the simplest; each case once."""
    others, keys = [*known.values()], {*known}
    digits = set()
    for find in sorted(finds, key=severity_order):
        is_repeated = find.key in keys or any(find.may_repeat(other) for other in others)
        if not is_repeated and find.failure.trial.draft.digits not in digits:
            keys.add(find.key)
            digits.add(find.failure.trial.draft.digits)
            yield find
        others.append(find)
