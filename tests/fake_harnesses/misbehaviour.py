"""A misbehaviour of a harness at one case, and the verdicts that the case may have then."""

from collections.abc import Callable
from typing import Any, NamedTuple

Request = dict[str, Any]
Act = Callable[[Request], object]

ERROR, FAIL, PASS = ("error",), ("fail",), ("pass",)
ERROR_OR_FAIL, PASS_OR_ERROR, ANY = ("error", "fail"), ("pass", "error"), ("pass", "fail", "error")


class Misbehaviour(NamedTuple):
    """What a harness does instead of an answer.

    Attributes:
        act: Is called with the request.
        verdicts: The verdicts that the case may have.
        sentence: A part of the sentence about the case, if that is fixed.
    """

    act: Act
    verdicts: tuple[str, ...] = ERROR
    sentence: str = ""
