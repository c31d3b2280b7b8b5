"""The arguments of an operation, as its reference semantics read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from opconform.suite.case import Attribute, Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.rounding import Number, numbers_of
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorType:
    """An element type and a shape."""

    element_type: str
    shape: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """One input of an operation; `tensor` has its elements, and is None during inference.

    `integers` are the exact elements of a tensor of integers or booleans at a setting port, in row-major order.
    `is_given_at_run_time` is False for a constant of the model, and where it makes no difference.
    """

    element_type: str
    shape: Shape
    integers: tuple[int, ...] | None = None
    tensor: Tensor | None = None
    is_given_at_run_time: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether its element type is one of the integer types."""
        return ELEMENT_TYPES[self.element_type].is_integer

    @property
    def known_integers(self) -> tuple[int, ...] | None:
        """Its exact elements at any port, or None if they are not known or not integers."""
        if not self.is_integer:
            return None
        if self.integers is None and self.tensor is not None:
            return tuple(self.tensor.integers())
        return self.integers


class Unknown(Exception):  # noqa: N818 - an answer, not an error
    """What a check or a fact reads is missing, not known yet, or already violates another requirement."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """The arguments of an operation: operands by port name, without omitted ones, and attributes.

    The methods raise `Unknown` for what is missing, not known yet, or `wrong`.

    Attributes:
        omitted: The attributes that have their default because they are omitted.
        wrong: The inputs whose shape, and the attributes whose value, violates the declaration.
    """

    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()

    def tensor(self, name: str) -> Tensor:
        """The elements of an input, available during evaluation."""
        tensor = self.operand(name).tensor
        if tensor is None:
            raise Unknown
        return tensor

    def every(self, port: str) -> tuple[Operand, ...]:
        """The operands at a variadic port, in order."""
        return tuple(input_ for name, input_ in self.inputs.items() if name.rpartition("_")[0] == port)

    def operand(self, name: str) -> Operand:
        """An input, whatever its shape."""
        if name not in self.inputs:
            raise Unknown
        return self.inputs[name]

    def shape(self, name: str) -> Shape:
        """The shape of an input."""
        if name in self.wrong:
            raise Unknown
        return self.operand(name).shape

    def integers(self, name: str) -> tuple[int, ...]:
        """The elements of an input of integers, in row-major order."""
        integers = self.operand(name).known_integers
        if integers is None or name in self.wrong:
            raise Unknown
        return integers

    def elements(self, name: str) -> tuple[Number, ...]:
        """The elements of a setting of numbers of any type, in row-major order."""
        operand = self.operand(name)
        if operand.is_integer:
            return self.integers(name)
        if operand.tensor is None or operand.element_type in ("boolean", "string") or name in self.wrong:
            raise Unknown
        return tuple(numbers_of(operand.tensor))

    def booleans(self, name: str) -> tuple[bool, ...]:
        """The elements of a setting of booleans, in row-major order."""
        operand = self.operand(name)
        if operand.element_type != "boolean" or operand.integers is None or name in self.wrong:
            raise Unknown
        return tuple(map(bool, operand.integers))

    def attribute(self, name: str) -> Attribute:
        """The value of an attribute."""
        if name not in self.attributes or name in self.wrong:
            raise Unknown
        return self.attributes[name]

    def number(self, name: str) -> int:
        """The value of an attribute of type `int`."""
        value = self.attribute(name)
        if type(value) is not int:
            raise Unknown
        return value

    def numbers(self, name: str) -> tuple[int, ...]:
        """The value of an attribute of type `ints`."""
        value = self.attribute(name)
        if not isinstance(value, tuple):
            raise Unknown
        return tuple(x for x in value if type(x) is int)


class Rejection(Exception):  # noqa: N818 - a valid answer, not an error
    """The arguments violate the specification; `requirements` names every requirement that they violate."""

    def __init__(self, requirements: tuple[str, ...]) -> None:
        super().__init__(requirements)
        self.requirements = requirements


class NoGolden(Exception):  # noqa: N818 - an answer, not an error
    """The page, or errors that are not followed, leave the outputs for valid arguments open; the message says why."""
