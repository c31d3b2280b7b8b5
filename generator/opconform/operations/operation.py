"""What an operation is to the generator: its ports, its attributes, and its reference semantics."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from opconform.suite.case import Attribute, Graph, Node, Role, Shape
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Port:
    """One input of an operation.

    Attributes:
        name: The specification's name.
        role: `control` for values that decide what the operation does, which a spec gives in place; `tensor` for data,
            which a spec may have filled.
        variadic: Whether it takes any number of tensors; only the last port may.
        optional: Whether the specification allows to leave it out.
        element_type: The element type of a tensor whose spec does not say one.
    """

    name: str
    _: KW_ONLY
    role: Role
    variadic: bool = False
    optional: bool = False
    element_type: str = ""

    @property
    def default_type(self) -> str:
        """The element type of a tensor whose spec does not say one."""
        return self.element_type or ("f32" if self.role == "tensor" else "i64")

    def names(self, count: int) -> tuple[str, ...]:
        """What the tensors at this port are called, where a variadic one has so many."""
        return tuple(f"{self.name}_{number}" for number in range(count)) if self.variadic else (self.name,)


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """One attribute of an operation.

    Attributes:
        name: The specification's name.
        type: The type of its value.
        values: The allowed texts of an `enum`.
        default: What applies where it is left out, or None where it must be given.
    """

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
    """One input as the semantics see it.

    Attributes:
        element_type: A name of `ELEMENT_TYPES`.
        shape: The sizes of the dimensions.
        integers: The elements of an integer tensor at a control port, exact and in row-major order; otherwise None.
        tensor: The elements; None while only types are inferred.
    """

    element_type: str
    shape: Shape
    integers: tuple[int, ...] | None = None
    tensor: Tensor | None = None

    @property
    def is_integer(self) -> bool:
        """Whether its element type is one of the integer types."""
        return ELEMENT_TYPES[self.element_type].is_integer


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """What an operation is given: operands by the names of its ports. What is left out is not in `inputs`."""

    inputs: Mapping[str, Operand]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def tensor(self, name: str) -> Tensor:
        """The elements of an input, which are there when an operation is evaluated."""
        tensor = self.inputs[name].tensor
        if tensor is None:
            raise LookupError(f"the elements of {name} are not known while types are inferred")
        return tensor

    def every(self, port: str) -> tuple[Operand, ...]:
        """The operands at a variadic port, in order."""
        numbered = {
            int(name.removeprefix(f"{port}_")): each
            for name, each in self.inputs.items()
            if name.startswith(f"{port}_") and name.removeprefix(f"{port}_").isdecimal()
        }
        return tuple(numbered[number] for number in sorted(numbered))


class Rejection(Exception):  # noqa: N818 - it is the specification's answer and not an error
    """The arguments violate the specification; `requirements` names every requirement that they violate."""

    def __init__(self, requirements: tuple[str, ...]) -> None:
        super().__init__(requirements)
        self.requirements = requirements


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """What a context builds a graph around.

    Attributes:
        operation: The operation under test.
        node: Its node, connected to the model's inputs.
        arguments: What it is given in each feed that it accepts, or in the only feed of a rejected case.
        outputs: The types of its outputs in each feed that it accepts; none for a rejected case with one feed.
    """

    operation: "Operation"
    node: Node
    arguments: tuple[Arguments, ...]
    outputs: tuple[tuple[TensorType, ...], ...]


class ContextError(Exception):
    """A context cannot be built around a case; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """A block of an input that becomes an output: where it begins, and the sizes of its dimensions."""

    input: str
    start: Shape
    sizes: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One versioned operation. Nothing outside its module knows more of it than this.

    Attributes:
        name: Its name and version, as in `Split-1`.
        inputs: Its input ports, in order.
        attributes: Its attributes.
        infer: The types of its outputs; raises `Rejection` with every requirement that the arguments violate.
        evaluate: Its outputs, for arguments that `infer` accepts.
        requested_outputs: How many outputs arguments ask for, right or wrong, or None where they do not say.
        bits: The requirement that says that the elements of the outputs are those of the inputs, bit for bit.
        contexts: The graphs that it can be tested in beside `bare` and `folded`, which every operation has. A builder
            raises `ContextError` where a case does not fit.
        highlight: For pictures: the region of an input that each output is, or None where outputs are no regions.
    """

    name: str
    inputs: tuple[Port, ...]
    attributes: tuple[AttributeSpec, ...]
    infer: Callable[[Arguments], tuple[TensorType, ...]]
    evaluate: Callable[[Arguments], tuple[Tensor, ...]]
    requested_outputs: Callable[[Arguments], int | None]
    bits: str
    contexts: Mapping[str, Callable[[Tested], Graph]] = field(default_factory=dict)
    highlight: Callable[[Arguments], tuple[Region, ...]] | None = None

    @property
    def type(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("-")[0]

    @property
    def context_names(self) -> tuple[str, ...]:
        """The contexts that it can be tested in."""
        return ("bare", "folded", *self.contexts)

    def port_of(self, name: str) -> Port:
        """The port that a tensor stands at, by the tensor's name."""
        for port in self.inputs:
            if name == port.name and not port.variadic:
                return port
            if port.variadic and name.rpartition("_")[0] == port.name:
                return port
        raise LookupError(f"{self.name} has no input {name}")
