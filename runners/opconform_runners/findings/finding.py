"""A finding of a backend: failures that have a condition or a symptom in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from opconform.suite.names import CaseId, Identifier, Line

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
class Subgraph:
    """The smallest connected part of the graph of a case that fails as the graph does, given its golden inputs.

    Attributes:
        case: The id of the case.
        nodes: The names of the nodes.
        text: Their operations in words, as in `Add-1 behind Convolution-1`.
        of: How many nodes the graph has.
        is_smallest: Whether the search for a smaller part was finished.
    """

    case: CaseId
    nodes: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    text: Line
    of: _Count
    is_smallest: bool = True

    @property
    def sentence(self) -> str:
        """The part in words, as in `Add-1 behind Convolution-1 (2 of 5 nodes)`."""
        part = f"{len(self.nodes)} of {self.of} nodes{'' if self.is_smallest else '; the search was not finished'}"
        return f"{self.text} ({f'all {self.of} nodes' if self.is_smallest and len(self.nodes) == self.of else part})"


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
        subgraph: The smallest part that fails of the first graph among its cases whose nodes pass alone, if it was
            searched.
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
    subgraph: Subgraph | None = None
    symptoms: Mapping[str, _Count]
    cases: Annotated[tuple[CaseId, ...], Field(min_length=1)]

    @property
    def when(self) -> str:
        """When the cases fail, as far as it is known: the condition, or what the first case tests."""
        return self.condition or self.about
