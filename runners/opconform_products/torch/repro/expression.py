"""Expressions of a script, recorded by executing a framework's row with them instead of the framework and tensors."""

from collections.abc import Iterator
from typing import Any


class Expression:
    """An expression; every attribute, call, index and comparison of it is an expression again.

    An expression of a tensor also has the `shape` and the `dtype` of the tensor.
    """

    def __init__(self, text: str, **known: Any) -> None:
        self._text = text
        self.__dict__.update(known)

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __getattr__(self, name: str) -> "Expression":
        return Expression(f"{self}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> "Expression":  # noqa: D102 - a call is a call
        shown = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in named.items())]
        return Expression(f"{self}({', '.join(shown)})")

    def __getitem__(self, index: Any) -> "Expression":
        entries = index if isinstance(index, tuple) else (index,)
        return Expression(f"{self}[{', '.join(map(_entry, entries)) or '()'}]")

    def __lt__(self, other: Any) -> "Expression":
        return Expression(f"{self} < {other!r}")

    def __iter__(self) -> Iterator["Expression"]:
        """All elements, however many there are."""
        yield Expression(f"*{self}")


def _entry(entry: Any) -> str:
    if not isinstance(entry, slice):
        return "..." if entry is ... else repr(entry)
    shown = ["" if number is None else repr(number) for number in (entry.start, entry.stop, entry.step)]
    return ":".join(shown[: 3 if shown[2] else 2])
