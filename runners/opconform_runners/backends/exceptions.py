"""The exceptions and messages of a product, translated into `Rejected` and `Unsupported`."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opconform_runners.backends.backend import Rejected, Stage, Unsupported

#: Python's own exceptions by which a Python product refuses its arguments.
PYTHON_ERRORS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError)
_LONGEST = 400
#: The most characters of a message that are searched.
_SEARCHED = 1 << 16

#: What a product's messages about each operation mean: a regular expression, and the id of the requirement it names.
MessageTable = Mapping[str, Mapping[str, str]]
#: Calls a product, as in `call(function, argument, name=argument)`, and translates its exceptions.
Call = Callable[..., Any]


def messages_beside(module: str) -> MessageTable:
    """The table in the TOML file beside the file of a backend's module."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def one_line(text: object) -> str:
    """The beginning of a message on one line; an exception may be longer than anything should search."""
    return " ".join(str(text)[:_SEARCHED].split())


def short_message(text: object, noise: re.Pattern[str] | None = None, limit: int = _LONGEST) -> str:
    """A message on one line, without noise such as places in a product's source, and cut to a limit."""
    line = one_line(text)
    return (noise.sub("", line) if noise else line)[:limit].strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Translation:
    """How the exceptions of a product are interpreted.

    Attributes:
        messages: What its messages mean; those about an operation that is not in the table name no requirement.
        not_implemented: The messages that say that something is not implemented, rather than invalid.
        missing: The exceptions that say so by their type.
        faults: The exceptions by which the product refuses a case; Python's own by default.
        noise: The parts of messages that are left out.
        shows_type: Whether a message begins with the type of its exception.
    """

    messages: MessageTable = field(default_factory=dict)
    not_implemented: re.Pattern[str]
    missing: tuple[type[Exception], ...] = (NotImplementedError,)
    errors: tuple[type[Exception], ...] = PYTHON_ERRORS
    noise: re.Pattern[str] | None = None
    shows_type: bool = True

    @contextmanager
    def at(self, stage: Stage, op: str = "") -> Iterator[None]:
        """Raise `Rejected` or `Unsupported` instead; only the product's own calls, about `op`, belong in this block."""
        try:
            yield
        except (*self.missing, *self.errors) as error:
            message = one_line(error)
            short = short_message(f"{type(error).__name__}: {message}" if self.shows_type else message, self.noise)
            if isinstance(error, self.missing) or self.not_implemented.search(message):
                raise Unsupported(short) from error
            rows = self.messages.get(op, {}).items()
            requirement = next((name for pattern, name in rows if re.search(pattern, message)), None)
            raise Rejected(stage, short, requirement) from error

    def caller(self, stage: Stage) -> Call:
        """A function that calls the product and translates its exceptions, as `at` does."""

        def call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
            with self.at(stage):
                return function(*arguments, **named)

        return call
