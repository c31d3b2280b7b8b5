"""The declaration of an operation: its ports, its attributes, its checks, and where its elements come from or go."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden, Operand, Rejection, TensorType, Unknown
from opconform.operations.checks import Predicate, holding, never
from opconform.operations.interpretation import Reading
from opconform.operations.places import Places, zero_of
from opconform.suite.case import MOST_VALUES, Attribute, Graph, Node, Role, Shape
from opconform.suite.declarations import AttributeSpec, Declaration, Port
from opconform.tensors.tensor import Array, Tensor, patterns


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


#: The contexts of every operation, besides `bare`, `folded` and `then`.
SHARED_CONTEXTS = ("convolved", "flattened")


class ContextError(Exception):
    """A context cannot be built around a case; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One versioned operation. Nothing outside its module knows more about it.

    Attributes:
        name: Its name and version, as in `Split-1`.
        checks: Per requirement that ports and attributes do not carry, whether arguments violate it.
        moved: The outputs of an operation that moves data, for any contents of the data inputs (see `Places`).
        also: Other outputs for the same contents, of which each element is as right as that of `moved`.
        shapes: The shapes of the outputs, where `moved` needs elements or takes much memory to tell them.
        types: The types of the outputs of an operation that computes.
        compute: The outputs of an operation that computes. Their bits are compared, so cases need exact results.
        undefined: The arguments for which the page has no result.
        rounds: Whether it computes with numbers, so that results can be rounded.
        products: The work of computing the outputs, as a number of exact products of two numbers.
        sums: Whether its elements are sums of products, which numpy has exactly of small integers.
        reads_elements: Whether an operation that computes reads the elements of its data, and not only the shape.
        shaped_by_elements: Whether the shapes of the outputs depend on the elements of data.
        computes: The arguments with which an operation that otherwise moves data computes.
        known: The integers of the only output of an operation that computes, where its arguments say them.
        same_types: The settings that have the element type of the first input.
        requested: How many outputs the arguments request, even if they are invalid; None if there is always one.
        contexts: The builders of its contexts besides `bare` and `folded`; a builder may raise `ContextError`.
        facts: What arguments can have in common with few others, in words, for the conditions of reports.
        mistakes: What wrong implementations compute, in words after which a report can name them as a cause.
        readings: Per interpretation that cases cannot violate, its other reading.
    """

    name: str
    inputs: tuple[Port, ...]
    attributes: tuple[AttributeSpec, ...] = ()
    checks: Mapping[str, Predicate] = field(default_factory=dict)
    moved: Callable[[Arguments, Places], Sequence[Array]] | None = None
    also: Callable[[Arguments, Places], Sequence[Array]] | None = None
    shapes: Callable[[Arguments], Sequence[Shape]] | None = None
    types: Callable[[Arguments], tuple[TensorType, ...]] | None = None
    compute: Callable[[Arguments], tuple[Tensor, ...]] | None = None
    undefined: Predicate = never
    rounds: bool = False
    products: Callable[[Arguments], int] = lambda _: 0
    sums: bool = False
    reads_elements: bool = True
    shaped_by_elements: bool = False
    computes: Predicate = never
    known: Callable[[Arguments], tuple[int, ...] | None] = lambda _: None
    same_types: tuple[str, ...] = ()
    requested: Callable[[Arguments], int] | None = None
    contexts: Mapping[str, Callable[[Tested], Graph]] = field(default_factory=dict)
    facts: Mapping[str, Predicate] = field(default_factory=dict)
    mistakes: Mapping[str, Callable[[Arguments], tuple[Tensor, ...]]] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Its name without the version."""
        return self.name.rpartition("-")[0]

    @cached_property
    def declaration(self) -> Declaration:
        """What a suite says of it."""
        moves_data = self.moved is not None
        return Declaration(name=self.name, inputs=self.inputs, attributes=self.attributes, moves_data=moves_data)

    @cached_property
    def data(self) -> tuple[Port, ...]:
        """The ports of data."""
        return tuple(input_ for input_ in self.inputs if not input_.setting)

    @property
    def bits(self) -> str | None:
        """The requirement that the outputs have the exact bits of the inputs, or None if the operation computes."""
        computes = self.moved is None or self.compute is not None
        return None if computes else f"{self.data[0].prefix or self.data[0].name}.bits"

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

    def infer(self, arguments: Arguments) -> tuple[TensorType, ...]:
        """The types of its outputs.

        Raises:
            Rejection: The arguments violate requirements.
        """
        self._check(arguments)
        if self.types is not None:
            return self.types(arguments)
        shapes = self.shapes(arguments) if self.shapes is not None else self._shapes(arguments)
        data = next(input_ for name, input_ in arguments.inputs.items() if not self.port_of(name).setting)
        return tuple(TensorType(element_type=data.element_type, shape=tuple(shape)) for shape in shapes)

    def _check(self, arguments: Arguments) -> None:
        _, violated = self.judged(arguments)
        if violated:
            raise Rejection(violated)

    def _shapes(self, arguments: Arguments) -> Iterator[Shape]:
        empty = np.zeros((), np.int8)
        places = {name: np.broadcast_to(empty, x.shape) for name, x in self._data(arguments)}
        return (x.shape for x in self._moved(arguments, Places(places, none=empty)))

    def evaluate(self, arguments: Arguments) -> tuple[Tensor, ...]:
        """Its outputs.

        Raises:
            Rejection: The arguments violate requirements.
            NoGolden: The outputs are open.
        """
        self._check(arguments)
        if self.compute is not None and (self.moved is None or self.computes(arguments)):
            tensors = [input_.tensor for input_ in arguments.inputs.values() if input_.tensor is not None]
            if self.reads_elements and any(tensor.bounds for tensor in tensors):
                raise NoGolden(f"{self.name} computes with rounded elements, whose errors are not followed further")
            if self.reads_elements and any(tensor.also for tensor in tensors):
                raise NoGolden(f"{self.name} computes with elements that are open, whose results are not followed")
            if self.undefined(arguments):
                raise NoGolden(f"the page of {self.name} leaves the result of these elements undefined")
            return self.compute(_exact_arguments(arguments))
        tensors_by_name = {name: arguments.tensor(name) for name, _ in self._data(arguments)}
        return self._moved_tensors(arguments, tensors_by_name)

    def _moved_tensors(self, arguments: Arguments, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """The outputs of an operation that moves data, with the bounds and the other right values of the elements."""
        first = next(iter(tensors.values()))
        outputs, *others = self._right_elements(arguments, tensors)
        is_computed = any(tensor.is_computed for tensor in tensors.values())
        right = {name: (x.array, x.bounds) for name, x in tensors.items()}
        wide = {name: (x.array, x.reduced or x.bounds) for name, x in tensors.items()}
        both = [self._bounds_moved(arguments, elements, len(outputs)) for elements in (right, wide)]
        return tuple(
            Tensor(
                element_type=first.element_type,
                array=array,
                bounds=bounds,
                reduced=reduced,
                also=_others(array, [other[number] for other in others]),
                is_computed=is_computed,
            )
            for number, (array, bounds, reduced) in enumerate(zip(outputs, *both, strict=True))
        )

    def _right_elements(self, arguments: Arguments, tensors: Mapping[str, Tensor]) -> list[list[Array]]:
        """The outputs, then others of which each element is as right."""
        most = max(len(tensor.also) for tensor in tensors.values())
        values = {name: (x.array, *x.also, *(x.array,) * (most - len(x.also))) for name, x in tensors.items()}
        layers = [{name: arrays[number] for name, arrays in values.items()} for number in range(1 + most)]
        moved = [self._elements_moved(arguments, layer) for layer in layers]
        if self.also is None:
            return moved
        element_type = next(iter(tensors.values())).element_type
        every = [self.also(arguments, Places(layer, none=zero_of(element_type))) for layer in layers]
        return [*moved, *([np.asarray(array, order="C")] for arrays in every for array in arrays)]

    def _bounds_moved(
        self, arguments: Arguments, elements: Mapping[str, tuple[Array, tuple[Array, Array] | None]], count: int
    ) -> Sequence[tuple[Array, Array] | None]:
        """The bounds of the outputs for the elements of its data inputs and their bounds, if any has some."""
        if all(bounds is None for _, bounds in elements.values()):
            return [None] * count
        lower, upper = (
            self._elements_moved(arguments, {name: (x or (array,) * 2)[side] for name, (array, x) in elements.items()})
            for side in (0, 1)
        )
        return [*zip(lower, upper, strict=True)]

    def _elements_moved(self, arguments: Arguments, elements: Mapping[str, Array]) -> list[Array]:
        """The arrays of its outputs for the elements of its data inputs."""
        element_type = next(operand.element_type for _, operand in self._data(arguments))
        places = Places(elements, none=zero_of(element_type))
        return [np.asarray(x, order="C") for x in self._moved(arguments, places)]

    def values(self, arguments: Arguments) -> tuple[int, ...] | None:
        """The integers of its only output, or None if its arguments do not say them during inference.

        A context needs them where one operation computes the setting inputs of another.
        """
        try:
            if self.moved is None or self.computes(arguments):
                return self.known(arguments)
        except Unknown:
            return None
        data = dict(self._data(arguments))
        if not data or any(len(value.shape) > 1 for value in data.values()):
            return None
        lists = {name: value.known_integers for name, value in data.items()}
        if None in lists.values():
            return None
        elements = {name: np.array(lists[name], object).reshape(value.shape) for name, value in data.items()}
        places = Places(elements, none=np.array(0, object))
        try:
            outputs = self._moved(arguments, places)
        except Unknown:
            return None
        return tuple(outputs[0].ravel().tolist()) if len(outputs) == 1 else None

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

    def _data(self, arguments: Arguments) -> Iterator[tuple[str, Operand]]:
        return ((name, input_) for name, input_ in arguments.inputs.items() if not self.port_of(name).setting)

    def _moved(self, arguments: Arguments, places: Places) -> list[Array]:
        if self.moved is None:
            raise LookupError(f"{self.name} does not move data")
        return [np.asarray(x) for x in self.moved(arguments, places)]

    @property
    def context_names(self) -> tuple[str, ...]:
        """The contexts that it can be tested in."""
        return ("bare", "folded", *SHARED_CONTEXTS, *self.contexts)

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


def _exact_arguments(arguments: Arguments) -> Arguments:
    """The arguments with the exact elements of tensors alone, since errors are not followed further."""
    inputs = {
        name: replace(x, tensor=replace(x.tensor, reduced=None)) if x.tensor is not None and x.tensor.reduced else x
        for name, x in arguments.inputs.items()
    }
    return replace(arguments, inputs=inputs)


def _others(array: Array, others: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays that differ from an array and from each other."""
    different: list[Array] = []
    for other in others:
        if not any(np.array_equal(patterns(other), patterns(known)) for known in (array, *different)):
            different.append(other)
    if len(different) > MOST_VALUES:
        raise NoGolden(f"an element has more than {MOST_VALUES} other right values")
    return tuple(different)
