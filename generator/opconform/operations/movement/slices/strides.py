"""What slices with steps can have in common, in words."""

from collections.abc import Iterable

from opconform.operations.arguments import Arguments

#: The longest step that fits into 32 bits.
LONGEST = (1 << 31) - 1


def is_long_backwards(arguments: Arguments, name: str) -> bool:
    """Whether a step of an input goes back further than 31 bits."""
    return min(arguments.integers(name), default=0) < -LONGEST


def selects_only_the_first(slices: Iterable[range]) -> bool:
    """Whether a backward slice selects a single element, which is the first one."""
    return any(slice_.step < 0 and [*slice_[:2]] == [0] for slice_ in slices)
