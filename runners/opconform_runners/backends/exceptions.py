"""Answers: what the exceptions and messages of a product mean."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opconform_runners.backends.backend import Rejected, Stage, Unsupported

_FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError)
_NOISE = re.compile(r"\{\{function_node [^}]*\}\}\s*|\s*\[\[\{\{node [^\]]*\]\]|\s*\[Op:[^\]]*\]")
_LONGEST = 400

#: What a product's messages about one operation say: a pattern, and the id of the requirement that it names.
Messages = Sequence[tuple[re.Pattern[str], str]]
#: The messages of each operation; an operation that is not in it has none.
MessageTable = Mapping[str, Messages]
#: Makes a call to a product, as in `ask(function, argument, name=argument)`, and translates its exceptions.
Ask = Callable[..., Any]


def requirement_of(messages: Messages, message: str) -> str | None:
    """The requirement that a message names, or None."""
    return next((name for pattern, name in messages if pattern.search(message)), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """How a framework says no.

    Attributes:
        not_implemented: The messages that say that it does not implement something, as against refusing it.
        missing: The exceptions that say so by their type.
        faults: Its own exceptions, beside Python's.
    """

    not_implemented: re.Pattern[str]
    missing: tuple[type[Exception], ...] = (NotImplementedError,)
    faults: tuple[type[Exception], ...] = ()

    def ask(self, stage: Stage, messages: Messages = ()) -> Ask:
        """What makes a call to the framework and raises its exceptions as `Rejected` or `Unsupported`.

        Only the framework's own call belongs inside it.

        Args:
            stage: Where a refusal comes.
            messages: What the framework's messages say.
        """
        answers: tuple[type[Exception], ...] = (*self.missing, *self.faults, *_FAULTS)

        def ask(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            try:
                return call(*arguments, **named)
            except answers as fault:
                raise self._answer(stage, messages, fault) from fault

        return ask

    def _answer(self, stage: Stage, messages: Messages, fault: Exception) -> Rejected | Unsupported:
        message = _NOISE.sub("", " ".join(str(fault).split()))
        short = f"{type(fault).__name__}: {message}"[:_LONGEST]
        if isinstance(fault, self.missing) or self.not_implemented.search(message):
            return Unsupported(short)
        return Rejected(stage, short, requirement_of(messages, message))
