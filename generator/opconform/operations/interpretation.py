"""Another reading of what only an interpretation decides (docs/verdicts.md, Interpretations)."""

from collections.abc import Callable
from dataclasses import dataclass

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.checks import Predicate, never
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How another reading of an interpretation treats arguments that are valid by the project's reading.

    A violable interpretation needs none: its other reading accepts what the project's reading rejects. A normative
    requirement can have one too, by element: what kernels do that misread it, so that a failure names it. It stands
    behind the others, since of readings that give one element the first one counts.

    Attributes:
        rejects: Whether the other reading rejects the arguments.
        computes: Functions from arguments to the outputs of the other reading, of an operation that computes.
        rewrites: Functions from arguments to those whose outputs the other reading gives; to the same arguments where
            it does not differ. Arguments that are then invalid are rejected by the other reading.
        by_element: Whether each element is right by this reading alone, whatever the others are, since the page says
            what becomes of one element: a kernel may read a block of elements one way and the rest another way.
        misreads: Whether the requirement is normative, so that the reading is wrong.
    """

    rejects: Predicate = never
    rewrites: tuple[Callable[[Arguments], Arguments], ...] = ()
    computes: tuple[Callable[[Arguments], tuple[Tensor, ...]], ...] = ()
    by_element: bool = False
    misreads: bool = False


def is_empty(operand: Operand) -> bool:
    """Whether an input has no elements."""
    return 0 in operand.shape


def has_kind(operand: Operand, *kinds: str) -> bool:
    """Whether the element type of an input is of one of some kinds."""
    return ELEMENT_TYPES[operand.element_type].kind in kinds


def types_differ(arguments: Arguments, *names: str) -> bool:
    """Whether some inputs have different element types."""
    return len({arguments.inputs[name].element_type for name in names if name in arguments.inputs}) > 1
