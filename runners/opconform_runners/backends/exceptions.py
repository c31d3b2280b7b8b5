"""The exceptions and messages of a product, translated into `Rejected` and `Unsupported`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform_runners.backends.backend import Rejected, Stage, Unsupported

_FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError)
_NOISE = re.compile(r"\{\{function_node [^}]*\}\}\s*|\s*\[\[\{\{node [^\]]*\]\]|\s*\[Op:[^\]]*\]")
_LONGEST = 400

#: What a product's messages about one operation mean: a regular expression, and the id of the requirement it names.
Messages = Sequence[tuple[str, str]]
#: The messages of each operation; an operation that is not in it has none.
MessageTable = Mapping[str, Messages]
#: Calls a product, as in `call(function, argument, name=argument)`, and translates its exceptions.
Call = Callable[..., Any]


def requirement_of(messages: Messages, message: str) -> str | None:
    """The requirement that a message names, or None."""
    return next((name for pattern, name in messages if re.search(pattern, message)), None)


def short_message(text: object, noise: re.Pattern[str] | None = None, limit: int = _LONGEST) -> str:
    """A message on one line, without noise such as places in a product's source, and cut to a limit."""
    line = " ".join(str(text).split())
    return (noise.sub("", line) if noise else line)[:limit].strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Translation:
    """How the exceptions of a framework are read.

    Attributes:
        not_implemented: The messages that say that something is not implemented, rather than invalid.
        missing: The exceptions that say so by their type.
        faults: The framework's own exceptions, in addition to Python's.
    """

    not_implemented: re.Pattern[str]
    missing: tuple[type[Exception], ...] = (NotImplementedError,)
    faults: tuple[type[Exception], ...] = ()

    def caller(self, stage: Stage, messages: Messages = ()) -> Call:
        """A function that calls the framework and raises its exceptions as `Rejected` or `Unsupported`.

        Only the framework's own call belongs inside it.

        Args:
            stage: The stage that a refusal is reported for.
            messages: What the framework's messages mean.
        """
        expected: tuple[type[Exception], ...] = (*self.missing, *self.faults, *_FAULTS)

        def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except expected as fault:
                raise self._translated(stage, messages, fault) from fault

        return call

    def _translated(self, stage: Stage, messages: Messages, fault: Exception) -> Rejected | Unsupported:
        message = _NOISE.sub("", " ".join(str(fault).split()))
        short = f"{type(fault).__name__}: {message}"[:_LONGEST]
        if isinstance(fault, self.missing) or self.not_implemented.search(message):
            return Unsupported(short)
        return Rejected(stage, short, requirement_of(messages, message))
