"""What waits for a harness: cases one after the other, or a schedule of cases and packs."""

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from opconform.suite.manifest import Entry
from opconform_runners.execution.packs.pack import Pack


class Waiting(Protocol):
    """The cases and packs that were not sent."""

    def __len__(self) -> int:
        """About how many requests they are, and 0 only if there are none."""

    def next(self) -> Entry | Pack | None:
        """The next case or pack, or None if there is none."""

    def put_back(self, item: Entry | Pack, /) -> None:
        """Execute a case or a pack before the others, since it was not executed."""


class InOrder:
    """Cases that are executed alone, one after the other."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = deque[Entry | Pack](entries)

    def __len__(self) -> int:
        return len(self._entries)

    def next(self) -> Entry | Pack | None:
        """The next case."""
        return self._entries.popleft() if self._entries else None

    def put_back(self, item: Entry | Pack, /) -> None:
        """Execute a case first."""
        self._entries.appendleft(item)
