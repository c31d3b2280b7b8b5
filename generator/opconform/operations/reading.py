"""Another reading of what only an interpretation decides (docs/interpretations.md)."""

from collections.abc import Callable
from dataclasses import dataclass

from opconform.operations.operation import Arguments


def never(_: Arguments) -> bool:
    """No arguments are rejected."""
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How another reading of an interpretation treats arguments that are valid by ours.

    A violable interpretation needs none: its other reading accepts what ours rejects.

    Attributes:
        rejects: Whether the other reading rejects the arguments.
        rewrites: Functions from arguments to those whose outputs the other reading gives; to the same arguments where
            it does not differ. Arguments that are then invalid are rejected by the other reading.
    """

    rejects: Callable[[Arguments], bool] = never
    rewrites: tuple[Callable[[Arguments], Arguments], ...] = ()
