"""Which failures of a run are known of a release of its product."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ConfigDict

from opconform.suite.names import CaseId

#: The most findings that are named.
_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """Which failures of a run are known of a release.

    Attributes:
        name: The name of the release's files.
        product: The product and the release, as in `OpenVINO CPU plugin 2026.4.1`.
        release: The release alone.
        is_other: Whether the run is of another version.
        cases: The numbers of the findings that explain a failing case; none where no finding was written about it.
        notes: Since when a finding is known, and its public report, by its number.
        gone: The numbers of the findings whose cases all passed in the run.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    product: str
    release: str
    is_other: bool
    cases: Mapping[CaseId, tuple[int, ...]]
    notes: Mapping[int, str] = field(default_factory=dict)
    gone: tuple[int, ...] = ()

    def sentence(self, cases: Sequence[str]) -> str:
        """What is known of some of its cases: `in 2026.4.1: finding 12 (first in 2024.0.0) of openvino-2026.4`."""
        numbers = list(dict.fromkeys(number for case in cases for number in self.cases[case]))
        place = f"in {self.release}, seen here too" if self.is_other else f"in {self.release}"
        if not numbers:
            return f"{place}: listed in {self.name}"
        named = [f"{x} ({self.notes[x]})" if x in self.notes else str(x) for x in numbers[:_NAMED]]
        others = f" and {len(numbers) - _NAMED} others" if len(numbers) > _NAMED else ""
        return f"{place}: finding{'s' if len(numbers) > 1 else ''} {', '.join(named)}{others} of {self.name}"
