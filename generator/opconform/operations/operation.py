"""Operations: a movement says where elements come from or go, and a computation what they become."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden, Operand, TensorType, Unknown
from opconform.operations.arithmetic.propagation.spans import Formula, moved_spans, propagated, with_infinities
from opconform.operations.checks import Predicate, never
from opconform.operations.contract import Contract
from opconform.operations.places import Places, zero_of
from opconform.operations.rounded_elements import (
    check_elements,
    check_open,
    exact_arguments,
    has_spans,
    tensors_of,
    without_exact_spans,
)
from opconform.suite.case import MOST_VALUES, Shape
from opconform.tensors.exact import REALS
from opconform.tensors.tensor import Array, Spans, Tensor, patterns

#: The outputs for some arguments.
Calculate = Callable[[Arguments], tuple[Tensor, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Calculation:
    """What an operation that otherwise moves data computes, such as a scatter with a reduction.

    Attributes:
        applies: The arguments with which it computes.
        calculate: The outputs for them. Their bits are compared, so cases need exact results.
    """

    applies: Predicate
    calculate: Calculate


@dataclass(frozen=True, kw_only=True)
class Movement(Contract):
    """One versioned operation whose outputs have the elements of its data.

    Attributes:
        moved: The outputs, for any contents of the data inputs (see `Places`).
        also: Other outputs for the same contents, of which each element is as right as the one of `moved`.
        shapes: The shapes of the outputs, where `moved` needs elements or takes much memory to tell them.
        calculation: What it computes for some arguments.
    """

    moves_data: ClassVar[bool] = True
    is_numeric: ClassVar[bool] = False

    moved: Callable[[Arguments, Places], Sequence[Array]]
    also: Callable[[Arguments, Places], Sequence[Array]] | None = None
    shapes: Callable[[Arguments], Sequence[Shape]] | None = None
    calculation: Calculation | None = None

    @property
    def can_calculate(self) -> bool:
        """Whether it computes for some arguments."""
        return self.calculation is not None

    def calculates(self, arguments: Arguments) -> bool:
        """Whether it computes for these arguments."""
        return self.calculation is not None and self.calculation.applies(arguments)

    @property
    def bits(self) -> str | None:
        """The requirement that the outputs have the exact bits of the inputs, or None if it can compute."""
        return None if self.can_calculate else f"{self.data[0].prefix or self.data[0].name}.bits"

    def infer(self, arguments: Arguments) -> tuple[TensorType, ...]:
        """The types of its outputs.

        Raises:
            Rejection: The arguments violate requirements.
        """
        self.check(arguments)
        shapes = self.shapes(arguments) if self.shapes is not None else self._shapes(arguments)
        data = next(input_ for name, input_ in arguments.inputs.items() if not self.port_of(name).setting)
        return tuple(TensorType(element_type=data.element_type, shape=tuple(shape)) for shape in shapes)

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
        self.check(arguments)
        if self.calculation is not None and self.calculation.applies(arguments):
            arguments = without_exact_spans(arguments)
            check_elements(self.name, arguments)
            return self.calculation.calculate(exact_arguments(arguments))
        tensors_by_name = {name: arguments.tensor(name) for name, _ in self._data(arguments)}
        return self._moved_tensors(arguments, tensors_by_name)

    def values(self, arguments: Arguments) -> tuple[int, ...] | None:
        """The integers of its only output, or None if its arguments do not say them during inference.

        A context needs them where one operation computes the setting inputs of another.
        """
        try:
            if self.calculates(arguments):
                return None
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

    def _moved_tensors(self, arguments: Arguments, tensors: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """The outputs for the elements of data, with the bounds and the other right values of the elements."""
        first = next(iter(tensors.values()))
        outputs, *others = self._right_elements(arguments, tensors)
        is_computed = any(tensor.is_computed for tensor in tensors.values())
        right = {name: (x.array, x.bounds) for name, x in tensors.items()}
        wide = {name: (x.array, x.reduced or x.bounds) for name, x in tensors.items()}
        both = [self._bounds_moved(arguments, elements, len(outputs)) for elements in (right, wide)]
        spans = self._spans_moved(arguments, tensors, len(outputs))
        return tuple(
            Tensor(
                element_type=first.element_type,
                array=array,
                bounds=bounds,
                reduced=reduced,
                also=_others(array, [other[number] for other in others]),
                spans=spans[number],
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

    def _spans_moved(self, arguments: Arguments, tensors: Mapping[str, Tensor], count: int) -> Sequence[Spans | None]:
        """What the elements of the outputs can be, moved by their numbers; an element of no input is a zero."""
        if not any(tensor.spans for tensor in tensors.values()):
            return [None] * count
        return moved_spans(tensors, lambda places: self._moved(arguments, Places(places, none=np.array(-1))))

    def _elements_moved(self, arguments: Arguments, elements: Mapping[str, Array]) -> list[Array]:
        """The arrays of its outputs for the elements of its data inputs."""
        element_type = next(operand.element_type for _, operand in self._data(arguments))
        places = Places(elements, none=zero_of(element_type))
        return [np.asarray(x, order="C") for x in self._moved(arguments, places)]

    def _data(self, arguments: Arguments) -> Iterator[tuple[str, Operand]]:
        return ((name, input_) for name, input_ in arguments.inputs.items() if not self.port_of(name).setting)

    def _moved(self, arguments: Arguments, places: Places) -> list[Array]:
        return [np.asarray(x) for x in self.moved(arguments, places)]


@dataclass(frozen=True, kw_only=True)
class Computation(Contract):
    """One versioned operation that computes its outputs.

    Attributes:
        types: The types of the outputs.
        calculate: The outputs. Their bits are compared where they have no bounds, so cases need exact results.
        rounded: The formula of its only output for elements that may be rounded themselves; None where errors are not
            followed.
        undefined: The arguments for which the page has no result.
        is_numeric: Whether it computes with numbers, so that results can be rounded.
        products: The work of computing the outputs, as a number of exact products of two numbers.
        sums: Whether its elements are sums of products, which numpy has exactly of small integers.
        reads_elements: Whether it reads the elements of its data, and not only the shape.
        shaped_by_elements: Whether the shapes of the outputs depend on the elements of data.
        needs_written_elements: The arguments for which only chosen elements, not drawn ones, surely have a result.
        integer_output: The integers of its only output, where its arguments say them during inference.
        mistakes: What wrong implementations compute, in words after which a report can name them as a cause.
    """

    moves_data: ClassVar[bool] = False
    can_calculate: ClassVar[bool] = True
    bits: ClassVar[None] = None

    types: Callable[[Arguments], tuple[TensorType, ...]]
    calculate: Calculate
    rounded: Formula | None = None
    undefined: Predicate = never
    is_numeric: bool = False
    products: Callable[[Arguments], int] = lambda _: 0
    sums: bool = False
    reads_elements: bool = True
    shaped_by_elements: bool = False
    needs_written_elements: Predicate = never
    integer_output: Callable[[Arguments], tuple[int, ...] | None] = lambda _: None
    mistakes: Mapping[str, Calculate] = field(default_factory=dict)

    def infer(self, arguments: Arguments) -> tuple[TensorType, ...]:
        """The types of its outputs.

        Raises:
            Rejection: The arguments violate requirements.
        """
        self.check(arguments)
        return self.types(arguments)

    def evaluate(self, arguments: Arguments) -> tuple[Tensor, ...]:
        """Its outputs.

        Raises:
            Rejection: The arguments violate requirements.
            NoGolden: The outputs are open.
        """
        self.check(arguments)
        if self.reads_elements:
            arguments = without_exact_spans(arguments, is_certain=self.rounded is not None)
            if self.rounded is not None and has_spans(arguments):
                check_open(self.name, arguments)
                return (propagated(self.name, self.rounded, arguments, self.types(arguments)[0]),)
            check_elements(self.name, arguments)
        if self.undefined(arguments):
            raise NoGolden(f"the page of {self.name} leaves the result of these elements undefined")
        return self.calculate(exact_arguments(arguments))

    def followed(self, arguments: Arguments, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Its outputs for some arguments, with what the next operations of a graph compute with if they are rounded."""
        output = outputs[0]
        is_rounded = output.element_type in REALS and output.spans is None and output.array.size > 0
        data = (x for name, x in arguments.inputs.items() if not self.port_of(name).setting)
        if self.rounded is None or not is_rounded or all(x.element_type not in REALS for x in data):
            return outputs
        exact = exact_arguments(without_exact_spans(arguments))
        if self.rounded.is_exact(tensors_of(exact), output):
            return outputs
        spans = propagated(self.name, self.rounded, exact, self.types(arguments)[0]).spans
        if spans is None:
            return outputs
        spans = with_infinities(spans, output)
        is_exact = output.bounds is None and spans.are_exact
        return outputs if is_exact else (replace(output, spans=spans), *outputs[1:])

    def values(self, arguments: Arguments) -> tuple[int, ...] | None:
        """The integers of its only output, or None if its arguments do not say them during inference."""
        try:
            return self.integer_output(arguments)
        except Unknown:
            return None


Operation = Movement | Computation


def _others(array: Array, others: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays that differ from an array and from each other."""
    different: list[Array] = []
    for other in others:
        if not any(np.array_equal(patterns(other), patterns(known)) for known in (array, *different)):
            different.append(other)
    if len(different) > MOST_VALUES:
        raise NoGolden(f"an element has more than {MOST_VALUES} other right values")
    return tuple(different)
