"""The declaration of an operation: its ports, its attributes, and its reference semantics."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from opconform.suite.case import Attribute, Graph, Node, Role, Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Port:
    """One input of an operation, by the specification's name.

    Attributes:
        role: `control` for values that decide what the operation does, which specs write out; `tensor` for data, which
            may be filled.
        variadic: Whether it takes any number of tensors; only the last port may.
        element_type: The default element type; None for `f32` at a tensor port and `i64` at a control port.
    """

    name: str
    _: KW_ONLY
    role: Role
    variadic: bool = False
    optional: bool = False
    element_type: str | None = None

    @property
    def default_type(self) -> str:
        """The default element type."""
        return self.element_type or ("f32" if self.role == "tensor" else "i64")

    def names(self, count: int) -> tuple[str, ...]:
        """The names of the tensors at this port; `count` applies to a variadic port."""
        return tuple(f"{self.name}_{number}" for number in range(count)) if self.variadic else (self.name,)


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One attribute of an operation; `values` are the strings of an `enum`, and a default of None means required."""

    name: str
    _: KW_ONLY
    type: Literal["int", "ints", "float", "string", "boolean", "enum"]
    values: tuple[str, ...] = ()
    default: Attribute | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorType:
    """An element type and a shape."""

    element_type: str
    shape: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """One input of an operation; `tensor` has its elements, and is None during inference.

    `integers` are the exact elements of an integer tensor at a control port, in row-major order; otherwise None.
    """

    element_type: str
    shape: Shape
    integers: tuple[int, ...] | None = None
    tensor: Tensor | None = None

    @property
    def is_integer(self) -> bool:
        """Whether its element type is one of the integer types."""
        return ELEMENT_TYPES[self.element_type].is_integer

    @property
    def known_integers(self) -> tuple[int, ...] | None:
        """Its exact elements at any port, or None if they are not known or not integers."""
        if self.integers is None and self.tensor is not None and self.is_integer:
            return tuple(self.tensor.integers())
        return self.integers


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """The arguments of an operation: operands by port name, without omitted ones, and attributes.

    `omitted` has the attributes that have their default because they are omitted.
    """

    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    omitted: frozenset[str] = frozenset()

    def tensor(self, name: str) -> Tensor:
        """The elements of an input, available during evaluation."""
        tensor = self.inputs[name].tensor
        if tensor is None:
            raise LookupError(f"the elements of {name} are not known while types are inferred")
        return tensor

    def every(self, port: str) -> tuple[Operand, ...]:
        """The operands at a variadic port, in order."""
        return tuple(each for name, each in self.inputs.items() if name.rpartition("_")[0] == port)


class Rejection(Exception):  # noqa: N818 - a valid answer, not an error
    """The arguments violate the specification; `requirements` names every requirement that they violate."""

    def __init__(self, requirements: tuple[str, ...]) -> None:
        super().__init__(requirements)
        self.requirements = requirements


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """The node under test, for the context that builds a graph around it.

    Attributes:
        arguments: Its arguments in each accepted feed, or in the only feed of an invalid case.
        outputs: The types of its outputs in each accepted feed; none for an invalid case with one feed.
    """

    operation: "Operation"
    node: Node
    arguments: tuple[Arguments, ...]
    outputs: tuple[tuple[TensorType, ...], ...]


class ContextError(Exception):
    """A context cannot be built around a case; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """A block that moves: of an input to a whole output, or of the output from a whole input.

    Attributes:
        input: The input that it moves from.
        start: Where it begins.
        sizes: The sizes of its dimensions.
    """

    input: str
    start: Shape
    sizes: Shape

    @property
    def index(self) -> tuple[slice, ...]:
        """The index of the block."""
        return tuple(slice(start, start + size) for start, size in zip(self.start, self.sizes, strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One versioned operation. Nothing outside its module knows more about it.

    Attributes:
        name: Its name and version, as in `Split-1`.
        infer: The types of its outputs; raises `Rejection` with every requirement that the arguments violate.
        evaluate: Its outputs, for arguments that `infer` accepts.
        requested_outputs: How many outputs the arguments request, even if they are invalid, or None; one by default.
        bits: The requirement that the outputs have the exact bits of the inputs, or None if the operation
            computes.
        contexts: The builders of its contexts besides `bare` and `folded`; a builder may raise `ContextError`.
        highlight: The region of an input that is each output, or None if the outputs are not regions.
        joined: The region of the only output that is each input, or None if the inputs are not regions of it.
        values: The integers of its only output, or None if its inputs do not determine them during inference; for
            operations that compute control inputs of other operations.
    """

    name: str
    inputs: tuple[Port, ...]
    attributes: tuple[AttributeSpec, ...]
    infer: Callable[[Arguments], tuple[TensorType, ...]]
    evaluate: Callable[[Arguments], tuple[Tensor, ...]]
    requested_outputs: Callable[[Arguments], int | None] = lambda _: 1
    bits: str | None = None
    contexts: Mapping[str, Callable[[Tested], Graph]] = field(default_factory=dict)
    highlight: Callable[[Arguments], tuple[Region, ...]] | None = None
    joined: Callable[[Arguments], tuple[Region, ...]] | None = None
    values: Callable[[Arguments], tuple[int, ...] | None] = lambda _: None

    @property
    def type(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("-")[0]

    def arguments(self, inputs: Mapping[str, Operand], attributes: Mapping[str, Attribute]) -> Arguments:
        """The arguments of the reference semantics: omitted attributes have their defaults."""
        defaults = {each.name: each.default for each in self.attributes if each.default is not None}
        omitted = frozenset(defaults.keys() - attributes.keys())
        return Arguments(inputs=inputs, attributes={**defaults, **attributes}, omitted=omitted)

    @property
    def context_names(self) -> tuple[str, ...]:
        """The contexts that it can be tested in."""
        return ("bare", "folded", *self.contexts)

    def role_of(self, name: str) -> Role:
        """The role of an input of a model around it; an input that it does not take itself is a tensor."""
        try:
            return self.port_of(name).role
        except LookupError:
            return "tensor"

    def port_of(self, name: str) -> Port:
        """The port of a tensor, by the tensor's name."""
        for port in self.inputs:
            if name == port.name and not port.variadic:
                return port
            if port.variadic and name.rpartition("_")[0] == port.name:
                return port
        raise LookupError(f"{self.name} has no input {name}")
