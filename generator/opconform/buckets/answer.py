"""Answers of a store, which may fail, and may never come."""

import errno
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from opconform.errors import DiskError, quoted_text

#: How long a store may take to answer, in seconds, and the bytes that it must transfer in another one.
ANSWER_LIMIT, SLOWEST = 30.0, 1 << 16
#: The seconds after which a request that is waited for is mentioned.
GLANCE = 10.0
_Answer = TypeVar("_Answer")


class NoAnswerError(Exception):
    """A request that the store does not answer."""


def answer_of(request: Callable[[], _Answer], size: int, on_wait: Callable[[str], None]) -> _Answer:
    """The answer to a request that transfers some bytes, made in a thread that is left alone if none comes in time.

    `on_wait` is called periodically with how long the request is waited for. Raises `NoAnswerError`, or what the
    request raises.
    """
    limit = ANSWER_LIMIT + size / SLOWEST
    future: Future[_Answer] = Future()

    def make() -> None:
        try:
            future.set_result(request())
        except BaseException as fault:  # noqa: BLE001 - it is raised in the thread that waits
            future.set_exception(fault)

    threading.Thread(target=make, daemon=True).start()
    waited = 0.0
    while not wait([future], min(GLANCE, limit - waited)).done:
        waited += GLANCE
        if waited >= limit:
            raise NoAnswerError(f"no answer within {limit:,.0f} seconds")
        on_wait(f"has not answered for {waited:,.0f} of at most {limit:,.0f} seconds")
    return future.result()


def may_pass(fault: Exception) -> bool:
    """Whether a request may succeed if it is repeated."""
    lasting = isinstance(fault, FileNotFoundError | PermissionError) or is_unsupported(fault)
    return isinstance(fault, OSError) and not lasting and not DiskError.is_full(fault)


def is_unsupported(fault: Exception) -> bool:
    """Whether a store does not know a request."""
    return isinstance(fault, NotImplementedError) or getattr(fault, "errno", None) == errno.ENOSYS


def reason_of(fault: BaseException, secrets: Sequence[str]) -> str:
    """The reason of an error in one line, without the secrets of a URL."""
    text = str(getattr(fault, "strerror", None) or fault) or type(fault).__name__
    for each in secrets:
        text = text.replace(each, "***")
    return quoted_text(" ".join(text.split()).removesuffix("."))
