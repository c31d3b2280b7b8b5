"""Answers: what the exceptions of a framework mean, for backends that call it directly."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opconform_runners.backend import Rejected, Stage, Unsupported

_FAULTS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError)
_NOISE = re.compile(r"\{\{function_node [^}]*\}\}\s*|\s*\[\[\{\{node [^\]]*\]\]|\s*\[Op:[^\]]*\]")
_LONGEST = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """How a framework says no.

    Attributes:
        requirements: What its messages speak of: a pattern, and the requirement.
        not_implemented: The messages that say that it does not implement something, as against refusing it.
        missing: The exceptions that say so by their type.
        faults: Its own exceptions, beside Python's.
    """

    requirements: tuple[tuple[re.Pattern[str], str], ...]
    not_implemented: re.Pattern[str]
    missing: tuple[type[Exception], ...] = (NotImplementedError,)
    faults: tuple[type[Exception], ...] = ()

    def asked(self, stage: Stage, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call of the framework's whose exceptions are its answers. Nothing of ours may happen inside it."""
        answers: tuple[type[Exception], ...] = (*self.missing, *self.faults, *_FAULTS)

        def answering(*arguments: Any, **named: Any) -> Any:
            try:
                return call(*arguments, **named)
            except answers as fault:
                raise self._answer(stage, fault) from fault

        return answering

    def _answer(self, stage: Stage, fault: Exception) -> Rejected | Unsupported:
        message = _NOISE.sub("", " ".join(str(fault).split()))
        short = f"{type(fault).__name__}: {message}"[:_LONGEST]
        if isinstance(fault, self.missing) or self.not_implemented.search(message):
            return Unsupported(short)
        spoken_of = (name for pattern, name in self.requirements if pattern.search(message))
        return Rejected(stage, short, next(spoken_of, None))
