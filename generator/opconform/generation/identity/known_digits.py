"""The digits of the cases of a group, by which repeated ones are recognized."""

import numpy as np

#: How many digits are in a set, which takes ten times as much memory, before they are sorted in among the others.
_RECENT = 4_096


class KnownDigits:
    """A set of the digits of ids, for millions of cases: eight bytes each, since most are in a sorted array."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted = np.empty(0, np.uint64)

    def add(self, digits: str) -> bool:
        """Add digits. Returns whether they are new."""
        number = int(digits, 16)
        if number in self._recent or self._is_sorted_in(number):
            return False
        self._recent.add(number)
        if len(self._recent) == _RECENT:
            recent = np.fromiter(self._recent, np.uint64, len(self._recent))
            self._sorted = np.sort(np.concatenate([self._sorted, recent]))
            self._recent.clear()
        return True

    def __len__(self) -> int:
        """How many different digits were added."""
        return len(self._sorted) + len(self._recent)

    def _is_sorted_in(self, number: int) -> bool:
        if not len(self._sorted):
            return False
        place = self._sorted.searchsorted(np.uint64(number))
        return bool(place < len(self._sorted) and self._sorted[place] == number)
