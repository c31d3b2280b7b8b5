"""What an operation is to the generator: its inputs and attributes, and its reference semantics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from opconform.case import Attribute
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """One input as the semantics see it.

    Attributes:
        element_type: A name of `ELEMENT_TYPES`.
        shape: The sizes of the dimensions.
        integers: The elements as exact integers in row-major order; None for data, and for what is no integer type.
    """

    element_type: str
    shape: Shape
    integers: tuple[int, ...] | None

    @property
    def is_integer(self) -> bool:
        """Whether its element type is one of the integer types."""
        return ELEMENT_TYPES[self.element_type].is_integer


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """What an operation is given. An input that is left out is not in `inputs`."""

    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute]

    def with_data(self, name: str, shape: Shape) -> "Arguments":
        """The same arguments for data of another shape."""
        return replace(self, inputs={**self.inputs, name: replace(self.inputs[name], shape=shape)})


class Rejection(Exception):  # noqa: N818 - it is the specification's answer and no error
    """The arguments violate the specification; `requirements` names every requirement that they violate."""

    def __init__(self, requirements: tuple[str, ...]) -> None:
        super().__init__(requirements)
        self.requirements = requirements


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One versioned operation.

    Attributes:
        inputs: The names of its inputs, in the order of its ports; the first is data.
        attributes: The names of its attributes.
        infer: The shapes of the outputs; raises `Rejection`.
        axis: The axis that it works along, counted from the front, or None where the arguments name none.
        evaluate: The outputs for an array of data; raises `Rejection`.
        asked: How many outputs a rejected case's own terms ask for, or None where they do not say.
    """

    inputs: tuple[str, ...]
    attributes: tuple[str, ...]
    infer: Callable[[Arguments], tuple[Shape, ...]]
    axis: Callable[[Arguments], int | None]
    evaluate: Callable[[Arguments, Array], tuple[Array, ...]]
    asked: Callable[[Arguments], int | None]
