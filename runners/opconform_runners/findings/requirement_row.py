"""The cases of one requirement in a report, and the conclusion from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opconform.suite.manifest import Level
from opconform_runners.backends.backend import full_name

#: The conclusion from a backend's cases for a requirement.
RequirementStatus = Literal["kept", "broken", "mapped", "open", "error"]
#: The verdicts that are evidence for or against the backend.
DECIDED = ("pass", "fail")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequirementRow:
    """The cases of one requirement by verdict; a failure counts only for the requirements that it breaks.

    Attributes:
        cases: How many cases of the run list it, failures included that break others.
        profiles: The profiles in which the suite's specs have cases for it.
        is_mapped: Whether the harness fulfils the requirement on the backend's behalf.
    """

    op: str
    id: str
    level: Level
    text: str
    counts: Mapping[str, int]
    is_mapped: bool
    cases: int
    profiles: tuple[str, ...]

    @property
    def name(self) -> str:
        """The requirement with its operation, as in `Split-1:axis.range`."""
        return full_name(self.op, self.id)

    @property
    def note(self) -> str:
        """The level; empty for a normative requirement."""
        return "" if self.level == "normative" else self.level

    @property
    def is_broken(self) -> bool:
        """Whether a case fails that is evidence for it."""
        return self.counts["fail"] > 0

    @property
    def is_tested(self) -> bool:
        """Whether a case shows that the backend itself meets or breaks it."""
        return is_tested(self.counts, is_mapped=self.is_mapped)

    @property
    def status(self) -> RequirementStatus:
        """The conclusion from its cases."""
        if self.is_broken:
            return "broken"
        if self.counts["error"]:
            return "error"
        if not self.counts["pass"]:
            return "open"
        return "mapped" if self.is_mapped else "kept"


def is_tested(counts: Mapping[str, int], *, is_mapped: bool) -> bool:
    """Whether a case of a requirement passed or failed, if the backend fulfils the requirement itself."""
    return supported(counts) > 0 and not is_mapped


def supported(counts: Mapping[str, int]) -> int:
    """How many of the cases by verdict passed or failed."""
    return sum(counts[name] for name in DECIDED)
