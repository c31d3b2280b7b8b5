"""The outcomes of one execution of a case; `status` names their kind in files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Placement
from opconform_runners.harness.protocol import NotSupported, Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Returned:
    """The backend executed the case; `outputs` has the outputs of each feed."""

    outputs: tuple[tuple[Array, ...], ...]
    element_types: tuple[tuple[str, ...], ...] | None
    seconds: float | None
    placement: Placement | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Oversized:
    """The backend executed the case; its outputs are too large to be right and were not read."""

    status: Literal["oversized"] = "oversized"
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Crashed:
    """The harness process ended while it worked on the case."""

    status: Literal["crash"] = "crash"
    how: str

    @property
    def sentence(self) -> str:
        """What happened."""
        return f"the backend process {self.how}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut:
    """The harness did not answer in time."""

    status: Literal["timeout"] = "timeout"
    seconds: float

    @property
    def sentence(self) -> str:
        """What happened."""
        return f"no answer within {self.seconds:g} second{'s' * (self.seconds != 1)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Error:
    """The harness failed, not the backend. This is both the outcome and the verdict."""

    status: Literal["error"] = "error"
    verdict: Literal["error"] = "error"
    sentence: str
    log: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NotSent:
    """The case cannot be given to this kind of backend."""

    status: Literal["not-sent"] = "not-sent"
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """A crash, a timeout or an error that did not recur when its case was executed alone.

    A crash or a timeout can come late, so that each case that the process executed can have caused it.

    Attributes:
        cases: The last cases that the process was given, the last first; the first of them was not answered.
        earlier: How many cases it executed before these.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Literal["crash", "timeout", "error"]
    sentence: str
    cases: tuple[str, ...]
    earlier: Annotated[int, Field(ge=0)] = 0

    @property
    def is_death(self) -> bool:
        """Whether the process crashed or hung, which the protocol never allows."""
        return self.kind != "error"


#: The most cases of its process that an incident names.
_NAMED = 50


def incidents_of(outcome: "Outcome", executed: Sequence[str], *, last: int = 1) -> tuple[Incident, ...]:
    """The incident that an outcome is unless it recurs, given the ids of the cases of the process; none if it is one.

    The `last` of them are the case itself, or the cases of the pack.
    """
    if not isinstance(outcome, Crashed | TimedOut | Error):
        return ()
    cases = tuple(reversed(executed[-_NAMED - last + 1 :]))
    earlier = len(executed) - len(cases)
    return (Incident(kind=outcome.status, sentence=outcome.sentence, cases=cases, earlier=earlier),)


Outcome = Returned | Oversized | Refused | NotSupported | Crashed | TimedOut | Error | NotSent
