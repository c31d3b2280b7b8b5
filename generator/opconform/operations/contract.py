"""What every operation declares, whatever it does: its ports, its attributes, its checks and its contexts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from opconform.operations.arguments import Arguments, Operand, Rejection, TensorType, Unknown
from opconform.operations.checks import Predicate, holding
from opconform.operations.interpretation import Reading
from opconform.suite.case import Attribute, Graph, Node, Role
from opconform.suite.declarations import AttributeSpec, Declaration, Port


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """The node under test, for the context that builds a graph around it.

    Attributes:
        arguments: Its arguments in each accepted feed, or in the only feed of an invalid case.
        outputs: The types of its outputs in each accepted feed; none for an invalid case with one feed.
    """

    operation: "Contract"
    node: Node
    arguments: tuple[Arguments, ...]
    outputs: tuple[tuple[TensorType, ...], ...]


#: The contexts of every operation, besides `bare`, `folded` and `then`.
SHARED_CONTEXTS = ("convolved", "flattened")


class ContextError(Exception):
    """A context cannot be built around a case; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Contract(ABC):
    """What movements and computations have in common. Nothing outside an operation's module knows more about it.

    Attributes:
        name: Its name and version, as in `Split-1`.
        checks: Per requirement that ports and attributes do not carry, whether arguments violate it.
        same_types: The settings that have the element type of the first input.
        requested: How many outputs the arguments request, even if they are invalid; None if there is always one.
        contexts: The builders of its contexts besides `bare` and `folded`; a builder may raise `ContextError`.
        facts: What arguments can have in common with few others, in words, for the conditions of reports.
        readings: Per interpretation that cases cannot violate, its other reading.
    """

    #: Whether it moves the elements of its data.
    moves_data: ClassVar[bool]

    name: str
    inputs: tuple[Port, ...]
    attributes: tuple[AttributeSpec, ...] = ()
    checks: Mapping[str, Predicate] = field(default_factory=dict)
    same_types: tuple[str, ...] = ()
    requested: Callable[[Arguments], int] | None = None
    contexts: Mapping[str, Callable[[Tested], Graph]] = field(default_factory=dict)
    facts: Mapping[str, Predicate] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)

    @abstractmethod
    def infer(self, arguments: Arguments) -> tuple[TensorType, ...]:
        """The types of its outputs.

        Raises:
            Rejection: The arguments violate requirements.
        """

    @property
    def type(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("-")[0]

    @cached_property
    def declaration(self) -> Declaration:
        """What a suite says of it."""
        return Declaration(name=self.name, inputs=self.inputs, attributes=self.attributes, moves_data=self.moves_data)

    @cached_property
    def data(self) -> tuple[Port, ...]:
        """The ports of data."""
        return tuple(input_ for input_ in self.inputs if not input_.setting)

    @property
    def context_names(self) -> tuple[str, ...]:
        """The contexts that it can be tested in."""
        return ("bare", "folded", *SHARED_CONTEXTS, *self.contexts)

    def arguments(self, inputs: Mapping[str, Operand], attributes: Mapping[str, Attribute]) -> Arguments:
        """The arguments of the reference semantics: omitted attributes have their defaults."""
        defaults = {attribute.name: attribute.default for attribute in self.attributes if attribute.default is not None}
        omitted = frozenset(defaults.keys() - attributes.keys())
        return Arguments(inputs=inputs, attributes={**defaults, **attributes}, omitted=omitted)

    def judged(self, arguments: Arguments) -> tuple[Arguments, tuple[str, ...]]:
        """The arguments, in which wrong ones are marked, and every requirement that they violate."""
        located = [*self.declaration.located_violations(arguments.inputs, arguments.attributes)]
        wrong = frozenset(name for name, violated in located if not violated.endswith(".element-type"))
        known = replace(arguments, wrong=wrong) if wrong else arguments
        declared = dict.fromkeys(violated for _, violated in located)
        for port in self.inputs:
            if port.constant and port.name in arguments.inputs and arguments.inputs[port.name].is_given_at_run_time:
                declared[port.constant_id] = None
        return known, (*declared, *holding(self.checks, known))

    def check(self, arguments: Arguments) -> None:
        """Raise a `Rejection` for arguments that violate requirements."""
        _, violated = self.judged(arguments)
        if violated:
            raise Rejection(violated)

    def requested_outputs(self, arguments: Arguments) -> int | None:
        """How many outputs the arguments request, even if they are invalid, or None."""
        if self.requested is None:
            return 1
        try:
            return self.requested(self.judged(arguments)[0])
        except Unknown:
            return None

    def facts_of(self, arguments: Arguments) -> Iterator[str]:
        """The facts that hold for some arguments, which may be invalid."""
        return holding(self.facts, self.judged(arguments)[0])

    def role_of(self, name: str) -> Role:
        """The role of an input of a model around it; an input that it does not take itself is data."""
        try:
            return self.port_of(name).role
        except LookupError:
            return "data"

    def port_of(self, name: str) -> Port:
        """The port of a tensor, by the tensor's name."""
        for port in self.inputs:
            if port.takes(name):
                return port
        raise LookupError(f"{self.name} has no input {name}")
