"""Verdicts: what became of one case on one backend."""

from dataclasses import dataclass
from typing import Literal

from opconform_runners.verdicts.comparison import Mismatch

FailReason = Literal[
    "count",
    "element-type",
    "shape",
    "value",
    "nan-payload",
    "accepted-invalid",
    "rejected-valid",
    "crash",
    "timeout",
    "nondeterministic",
]
VerdictName = Literal["pass", "fail", "unsupported", "inconclusive", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """The backend did what the specification says.

    Attributes:
        late: It refused at run time what it could have refused when the model was built.
        other_reason: The requirement that its message names, where that is not the one that is violated.
    """

    late: bool = False
    other_reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fail:
    """The backend did something else. `sentence` says what; `mismatch` says where, if outputs were compared."""

    reason: FailReason
    sentence: str
    mismatch: Mismatch | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Nondeterministic:
    """The backend failed, and once more in a fresh harness it did something else."""

    first: Fail
    second: "Pass | Fail | Unsupported | Error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unsupported:
    """The backend said that it does not do this.

    Attributes:
        why: Its words, or what it does not declare.
        instead: What it did where it declares that it cannot, and did it wrong; None where it said so.
    """

    why: str
    instead: "Fail | Nondeterministic | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Inconclusive:
    """The backend refused, but its twin did not pass, so the refusal is evidence of nothing."""

    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Error:
    """The harness failed, and not the backend."""

    sentence: str
    log: str | None = None


Verdict = Pass | Fail | Nondeterministic | Unsupported | Inconclusive | Error


def name_of(verdict: Verdict) -> VerdictName:
    """What a verdict is called in files and reports."""
    match verdict:
        case Pass():
            return "pass"
        case Fail() | Nondeterministic():
            return "fail"
        case Unsupported():
            return "unsupported"
        case Inconclusive():
            return "inconclusive"
        case Error():
            return "error"


def reason_of(verdict: Verdict) -> FailReason | None:
    """The reason of a failure, or None."""
    match verdict:
        case Fail(reason=reason):
            return reason
        case Nondeterministic():
            return "nondeterministic"
        case _:
            return None


def sentence_of(verdict: Verdict) -> str:
    """What a verdict says in words; nothing for a plain pass."""
    match verdict:
        case Pass(late=late, other_reason=other):
            return "refused at run time" if late else f"refused for {other}" if other else ""
        case Fail(sentence=sentence) | Error(sentence=sentence):
            return sentence
        case Nondeterministic(first=first, second=second):
            again = sentence_of(second) or "passed"
            return f"first: {first.sentence}; once more in a fresh harness: {again}"
        case Unsupported(why=why) | Inconclusive(why=why):
            return why


def twin_sentence(twin: str | None, said: tuple[VerdictName, str] | None) -> str:
    """Why a rejection is evidence of nothing: what its twin came to (verdict and sentence), which is not a pass."""
    if twin is None:
        return "the case has no twin, so a refusal may mean anything"
    return f"its twin {twin} has no verdict" if said is None else f"its twin {twin} is {said[0]}: {said[1]}"
