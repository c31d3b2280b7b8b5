"""How many cases a pack has, and how long it may take: as the packs before it say."""

from collections import Counter
from dataclasses import dataclass, field

#: The cases of the first pack. Packs grow while the backend is quick.
_FIRST = 4
#: A pack that takes more than this part of the time limit of a case is too large.
_SLOW = 1 / 8
#: After so many packs in a row without a pass, no more are made.
_PATIENCE = 64
#: After so many packs that ended a process, no more are made of the operation: each costs a start.
_ENDS = 3
#: The least part of the time limit that a pack has, and its limit as a multiple of the slowest one so far.
_LEAST, _TIMES = 1 / 10, 8


@dataclass(slots=True)
class Limits:
    """The size and the time of the next pack.

    Attributes:
        packs: The most cases of a pack, as the backend declares.
        timeout: The time limit of a case in seconds.
    """

    packs: int
    timeout: float
    _largest: int = _FIRST
    _by_operation: dict[str, int] = field(default_factory=dict)
    _slowest: float = 0.0
    _useless: int = 0
    _ends: Counter[str] = field(default_factory=Counter)

    @property
    def is_useless(self) -> bool:
        """Whether packs have shown no pass for so long that no more are made."""
        return self._useless >= _PATIENCE

    def size(self, op: str) -> int:
        """The most cases of the next pack of an operation."""
        return 1 if self.is_useless else min(self._largest, self._by_operation.get(op, self.packs))

    def seconds(self, *, fresh: bool) -> float:
        """The time limit of a pack.

        One in a fresh process may have less time than a case: if it is halved for no reason, nothing is lost. In other
        processes an earlier case may be the reason for a timeout, which has to be a real one.
        """
        if not fresh or not self._slowest:
            return self.timeout
        return min(self.timeout, max(_LEAST * self.timeout, _TIMES * self._slowest))

    def note_executed(self, op: str, size: int, seconds: float, passed: int) -> None:
        """Let packs grow, or shrink if they take too long."""
        self._useless = 0 if passed else self._useless + 1
        self._slowest = max(self._slowest, seconds)
        if seconds > _SLOW * self.timeout:
            self._largest = max(2, size // 2)
            return
        self._largest = min(self.packs, max(self._largest, 2 * size))
        if op in self._by_operation:
            self._by_operation[op] = min(self.packs, max(self._by_operation[op], 2 * size))

    def note_ended(self, op: str) -> bool:
        """Note a pack that ended its process; returns whether the rest of the operation is executed alone."""
        self._useless += 1
        self._ends[op] += 1
        return self._ends[op] >= _ENDS

    def note_refused(self, op: str, size: int, *, is_named: bool) -> None:
        """Let packs of an operation shrink, unless the refusal names the case that it is about."""
        self._useless += 1
        if not is_named:
            self._by_operation[op] = max(1, size // 2)
