"""One attempt to break opconform, and how it ended."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["held", "lost", "run-ended", "traceback", "hang", "false-verdict"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One attempt.

    Attributes:
        what: What was tried, short enough for a line.
        outcome: `held`; or `lost` (something that had to be kept is gone), `run-ended` (one case cost others),
            `traceback` (an internal error instead of a message), `hang` (no end in time) or `false-verdict` (a wrong
            answer was given as a right one).
        detail: What a person needs to look into it; empty where it held.
    """

    what: str
    outcome: Outcome
    detail: str = ""
