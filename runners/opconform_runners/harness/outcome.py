"""The outcomes of one execution of a case; `status` names their kind in files."""

from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedOut:
    """The harness did not answer in time."""

    status: Literal["timeout"] = "timeout"
    seconds: float


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


Outcome = Returned | Oversized | Refused | NotSupported | Crashed | TimedOut | Error | NotSent
