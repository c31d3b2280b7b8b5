"""A finding of a backend: failures that have a condition or a symptom in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from opconform.suite.names import CaseId

#: The kinds of failures, the worst first.
Severity = Literal[
    "memory",  # memory is read past its end, or an output has data that was never written
    "crash",
    "hang",
    "wrong data",  # also a wrong number, shape or element type of the outputs
    "nondeterministic",
    "accepted-invalid",
    "rejected-valid",
    "claimed",  # refused or less accurate, although the backend's maker claims otherwise
    "interpretation",  # it breaks only interpretations that do not count
]
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Failures that have something in common, as in `report.json`.

    Attributes:
        severity: The worst one that at least a tenth of the cases have, without the cases of earlier conditions.
        condition: Under which condition all cases of the run fail, as a sentence; empty if none was found.
        about: Without a condition: what the first case tests, and how many cases of its group fail so.
        facts: The condition: a case has all of these facts, each with its alternatives.
        undecided: How many cases meet the condition and neither pass nor fail, by verdict; `large`: not compared.
        others: How many comparable cases do not meet the condition.
        passing: How many of those pass.
        cause: The likely cause of the failure of the first case; empty if it is unknown.
        causes: The likely causes of all its cases for which one is known, by their ids.
        symptoms: How the cases fail, and how many of them, the most frequent first.
        cases: The ids of the cases: the smallest one that decides the severity, and the others by size.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    severity: Severity
    condition: str = ""
    about: str = ""
    facts: tuple[tuple[str, ...], ...] = ()
    undecided: Mapping[str, _Count] = field(default_factory=dict)
    others: _Count = 0
    passing: _Count = 0
    cause: str = ""
    causes: Mapping[CaseId, str] = field(default_factory=dict)
    symptoms: Mapping[str, _Count]
    cases: Annotated[tuple[CaseId, ...], Field(min_length=1)]

    @property
    def when(self) -> str:
        """When the cases fail, as far as it is known: the condition, or what the first case tests."""
        return self.condition or self.about
