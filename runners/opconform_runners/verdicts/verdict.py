"""The verdict on one case on one backend; `verdict` is its name in files and reports."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from opconform_runners.harness.outcome import Error
from opconform_runners.verdicts.comparison import Mismatch

FailReason = Literal[
    "count",
    "element-type",
    "shape",
    "value",
    "rounding",
    "nan-payload",
    "accepted-invalid",
    "rejected-valid",
    "claimed",
    "accuracy",
    "crash",
    "timeout",
    "nondeterministic",
]
#: The failures that break a claim of the backend's maker, and no requirement: refused, or less accurate than claimed.
OF_CLAIMS: tuple[FailReason, ...] = ("claimed", "accuracy")
VerdictName = Literal["pass", "fail", "unsupported", "inconclusive", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """The backend does what the specification requires.

    Attributes:
        late: It rejected at run time what it could have rejected when the model was built.
        other_reason: The requirement that its message names, where that is not the violated one.
        error: The largest error of its outputs divided by its bound, at most 1; None if no output has bounds.
        flushed: Whether outputs are right only if denormal numbers are flushed to zero, which the backend declares.
    """

    verdict: Literal["pass"] = "pass"
    late: bool = False
    other_reason: str | None = None
    error: float | None = None
    flushed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Fail:
    """The backend violates the specification.

    Attributes:
        mismatch: The first difference, if outputs were compared.
        outputs: Of a graph under test, or of its nodes side by side, the first difference of each output.
        node_fails: Whether a node of the graph under test fails alone, with the inputs that it has in the graph.
    """

    verdict: Literal["fail"] = "fail"
    reason: FailReason
    sentence: str
    mismatch: Mismatch | None = None
    outputs: tuple[Mismatch, ...] = ()
    node_fails: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Nondeterministic:
    """The backend failed, and gave another verdict in a fresh harness."""

    verdict: Literal["fail"] = "fail"
    first: Fail
    second: "Own"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unsupported:
    """The backend does not support the case.

    `why` is its message, or what it does not declare; `fails` says that it fails a case that it does not declare.
    """

    verdict: Literal["unsupported"] = "unsupported"
    why: str
    fails: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Inconclusive:
    """The case proves nothing: a rejection whose twin did not pass, or a failure whose neighbour check failed too."""

    verdict: Literal["inconclusive"] = "inconclusive"
    why: str


#: The verdict on one execution, regardless of the twin and of other executions.
Own = Annotated[Pass | Fail | Unsupported | Error, Field(discriminator="verdict")]
Verdict = Own | Nondeterministic | Inconclusive


def failure_of(verdict: Verdict) -> Fail | None:
    """The failure in a verdict, the first one where it is nondeterministic; None if there is none."""
    failure = verdict.first if isinstance(verdict, Nondeterministic) else verdict
    return failure if isinstance(failure, Fail) else None


def reason_of(verdict: Verdict) -> FailReason | None:
    """The reason of a failure, or None."""
    if isinstance(verdict, Nondeterministic):
        return "nondeterministic"
    return verdict.reason if isinstance(verdict, Fail) else None


def sentence_of(verdict: Verdict) -> str:
    """A verdict as a sentence; empty for a plain pass."""
    match verdict:
        case Pass(late=late, other_reason=other):
            return "rejected at run time" if late else f"rejected for {other}" if other else ""
        case Fail(sentence=sentence) | Error(sentence=sentence):
            return sentence
        case Nondeterministic(first=first, second=second):
            again = sentence_of(second) or "passed"
            return f"first: {first.sentence}; then in a fresh harness: {again}"
        case Unsupported(why=why) | Inconclusive(why=why):
            return why


def twin_gap(twin: str | None, verdict: tuple[VerdictName, str] | None) -> str | None:
    """Why a rejection proves nothing, given the verdict of its twin and its sentence; None where the twin passed."""
    if twin is None:
        return "the case has no twin, so the rejection proves nothing"
    if verdict is None:
        return f"its twin {twin} has no verdict"
    return None if verdict[0] == "pass" else f"its twin {twin} has the verdict {verdict[0]}: {verdict[1]}"
