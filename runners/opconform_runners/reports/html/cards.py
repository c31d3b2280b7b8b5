"""The faults of a run as cards."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from opconform_runners.reports.failures import SEVERITIES
from opconform_runners.reports.faults import ShownFault, shown_faults
from opconform_runners.reports.html.subject import Subject

#: The most public reports on a card.
_SEEN = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A fault on the page.

    Attributes:
        number: The number of the run on the page.
        seen: Public reports of backends that fail such cases.
    """

    number: int
    shown: ShownFault
    seen: tuple[str, ...]

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Its place on the page: what a baseline expects comes last, and what is worst and most frequent first."""
        severity = SEVERITIES.index(self.shown.fault.severity)
        return self.shown.standing == "known", severity, -len(self.shown.results)


def cards_of(number: int, subject: Subject) -> Iterator[Card]:
    """The faults of a run on the page."""
    suite = subject.suite
    for shown in shown_faults(subject.column.report):
        known = [] if suite is None else [suite.by_id[each.id] for each in shown.results if each.id in suite.by_id]
        seen = Counter(name for each in known if suite is not None for name in suite.case(each).seen)
        yield Card(number=number, shown=shown, seen=tuple(name for name, _ in seen.most_common(_SEEN)))
