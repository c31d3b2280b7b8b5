"""The sample of the cases that pass in packs: they are executed alone, too, and what differs counts against packs."""

from collections.abc import Sequence
from dataclasses import dataclass

from opconform_runners.execution.log.logged_outcome import LoggedOutcome
from opconform_runners.verdicts.verdict import Pass

#: One case in so many is in the sample, and at least one of each operation.
ONE_IN = 20


def sample_of(passed: Sequence[str], *, is_first: bool) -> set[str]:
    """The cases that are executed alone too among the ids of those that passed in a pack; their digests decide.

    At least one of the first pack of an operation is among them.
    """
    sample = {name for name in passed if _digest(name) % ONE_IN == 0}
    return sample or ({min(passed, key=_digest)} if is_first and passed else set())


@dataclass(frozen=True, kw_only=True, slots=True)
class PackHistory:
    """What a run that is continued has seen of its cases, by their ids.

    Attributes:
        alone: The cases that were executed alone.
        counted: The cases whose passes in packs count.
        unchecked: The cases that passed in packs and have still to be executed alone.
        differing: The operations with a case that passed in a pack, but not alone.
    """

    alone: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    unchecked: frozenset[str] = frozenset()
    differing: frozenset[str] = frozenset()

    @property
    def done(self) -> frozenset[str]:
        """The cases that are not executed any more."""
        return self.alone | self.counted


def history_of(lines: Sequence[LoggedOutcome]) -> PackHistory:
    """The history in the lines of a log."""
    passed = {x.case: x.checked for x in lines if x.execution == "packed" and isinstance(x.own, Pass)}
    passed |= dict.fromkeys(sample_of([*passed], is_first=False), True)
    alone = {x.case: isinstance(x.own, Pass) for x in lines if x.execution == "first"}
    differing = {_operation(name) for name in passed if alone.get(name) is False}
    passed_in_packs = {name: checked for name, checked in passed.items() if name not in alone}
    counted = {name for name, checked in passed_in_packs.items() if not checked and _operation(name) not in differing}
    return PackHistory(
        alone=frozenset(alone),
        counted=frozenset(counted),
        unchecked=frozenset(passed_in_packs.keys() - counted),
        differing=frozenset(differing),
    )


def _digest(case: str) -> int:
    return int(case.rpartition("/")[2], 16)


def _operation(case: str) -> str:
    return case.partition("/")[0]
