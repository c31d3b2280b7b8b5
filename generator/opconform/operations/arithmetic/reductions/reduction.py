"""What the reductions have in common: elements along axes become one.

An operation is a row: what it does with the elements that become one, as exact integers or as numbers of f64.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import Keep, elements_of, tensor_of, without_special
from opconform.operations.arithmetic.mistakes import Accumulate, accumulators, tails
from opconform.operations.arithmetic.propagation.sums import Reduce, of_rows
from opconform.operations.arithmetic.sums import SUMMED
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.interpretation import Reading
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Result, bounded_tensor
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The work of adding an element, in exact products.
SUM_WORK = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduction:
    """What an operation computes; in both functions, the elements that become one are along the last axis.

    Attributes:
        integers: The exact results for an array of Python's integers, or of booleans as 0 and 1.
        results: The result for a list of numbers; `NoGolden` where the page or the order leaves it open.
        numbers: In place of `results`, the exact results for an array of f64.
        keeps_integers: Whether results for integers are integers, also in floating-point types.
        is_empty_defined: Whether the page has a result for data without elements.
        parts: The result for elements that may be rounded themselves.
        types: The element types of data.
        work: The work of an element in exact products, for the number of elements that become one.
        readings: Its own interpretations.
        mistakes: What wrong kernels compute.
    """

    integers: Callable[[Array], Array]
    results: Callable[[ElementType, list[float]], Result] | None = None
    numbers: Callable[[Array], Array] | None = None
    parts: Reduce | None = None
    keeps_integers: bool = True
    is_empty_defined: bool = True
    types: tuple[str, ...] = SUMMED
    work: Callable[[int], int] = lambda _: SUM_WORK
    readings: Mapping[str, Reading] = field(default_factory=dict)
    mistakes: Mapping[str, Calculate] = field(default_factory=dict)


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def reduced_axes(arguments: Arguments) -> tuple[int, ...]:
    """The dimensions that the axes name, each once, in ascending order."""
    return tuple(sorted({from_front(axis, _rank(arguments)) for axis in arguments.integers("axes")}))


def _shape(arguments: Arguments) -> Shape:
    axes, keeps = reduced_axes(arguments), arguments.attribute("keep_dims") is True
    sizes = enumerate(arguments.shape("data"))
    return tuple(1 if axis in axes else size for axis, size in sizes if keeps or axis not in axes)


def _rows(arguments: Arguments, elements: Array) -> Array:
    """The elements of data, with those that become one along the last axis."""
    axes = reduced_axes(arguments)
    kept = [axis for axis in range(elements.ndim) if axis not in axes]
    sizes = [elements.shape[axis] for axis in kept]
    return elements.transpose(*kept, *axes).reshape(*sizes, math.prod(elements.shape[axis] for axis in axes))


def is_reduced_from_none(arguments: Arguments) -> bool:
    """Whether elements of the output are reduced from none."""
    return 0 in [arguments.shape("data")[axis] for axis in reduced_axes(arguments)] and 0 not in _shape(arguments)


def computed_by(declared: Reduction, arguments: Arguments, keep: Keep = low_bits) -> Tensor:
    """The output; `keep` gives the integers of the type for those beyond its range."""
    data, shape = arguments.tensor("data"), _shape(arguments)
    if not arguments.integers("axes"):  # the identity (Particular cases, 1)
        return Tensor(element_type=data.element_type, array=data.array, is_computed=True)
    if 0 in data.shape and not declared.is_empty_defined:
        raise NoGolden("the page leaves the result for data without elements undefined")
    rows, is_real = _rows(arguments, elements_of(data)), data.type.kind in ("float", "lookup")
    of = declared.numbers if is_real else declared.integers
    if of is not None:
        return tensor_of(data.type, np.asarray(of(rows), None if is_real else object).reshape(shape), keep=keep)
    if declared.results is None:
        raise Unknown
    lists = rows.reshape(math.prod(shape), rows.shape[-1]).tolist()
    return bounded_tensor(data.element_type, shape, [declared.results(data.type, row) for row in lists])


def reduction(name: str, row: Reduction) -> Computation:
    """An operation by its row."""

    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        return (computed_by(row, arguments),)

    return Computation(
        name=name,
        inputs=(Port("data", types=row.types), Port("axes", setting=True, types=INTEGERS, ranks=(0, 1))),
        attributes=(AttributeSpec("keep_dims", type="boolean", default=False),),
        checks={
            "axes.range": lambda a: any(is_outside(axis, _rank(a)) for axis in a.integers("axes")),
            "axes.unique": lambda a: len({*a.integers("axes")}) < len(a.integers("axes")),
        },
        types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=_shape(a)),),
        calculate=calculate,
        rounded=of_rows(_rows, row.parts, keeps_integers=row.keeps_integers) if row.parts else None,
        is_numeric=True,
        products=lambda a: (
            math.prod(a.shape("data")) * row.work(math.prod(a.shape("data")[x] for x in reduced_axes(a)))
        ),
        contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
        mistakes=row.mistakes,
        facts=_FACTS,
        readings={
            "axes.aliases": Reading(rejects=lambda a: len(reduced_axes(a)) < len(a.integers("axes"))),
            **({"values.special": without_special(calculate)} if row.results else {}),
            **row.readings,
        },
    )


_FACTS: Mapping[str, Predicate] = {
    "no axes are given": lambda a: not a.integers("axes"),
    "axes is a scalar": lambda a: a.shape("axes") == (),
    "all dimensions are reduced": lambda a: len(reduced_axes(a)) == _rank(a),
    "the last dimension is reduced": lambda a: _rank(a) - 1 in reduced_axes(a),
    "the first dimension is reduced": lambda a: 0 in reduced_axes(a),
    "the reduced dimensions are not adjacent": lambda a: (
        reduced_axes(a)[-1] - reduced_axes(a)[0] >= len(reduced_axes(a)) if reduced_axes(a) else False
    ),
    "keep_dims is true": lambda a: a.attribute("keep_dims") is True,
    "there are no elements to reduce": is_reduced_from_none,
}
#: The reading by which a reduction of no elements is rejected.
EMPTY: Mapping[str, Reading] = {"values.empty": Reading(rejects=is_reduced_from_none)}


def otherwise(*others: Callable[[Array], Array], integers: bool, keep: Keep = low_bits) -> Reading:
    """The reading by which one of other functions computes integers, or floating-point numbers."""

    def computing(of: Callable[[Array], Array]) -> Callable[[Arguments], tuple[Tensor, ...]]:
        def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
            if arguments.operand("data").is_integer is not integers:
                raise Unknown
            return (computed_by(Reduction(integers=of, numbers=of), arguments, keep),)

        return calculate

    return Reading(computes=tuple(map(computing, others)), by_element=True)


def without_last(row: Reduction, count: int) -> Reduction:
    """A reduction without so many elements at the end."""

    def results(kind: ElementType, numbers: list[float]) -> Result:
        if row.results is None:
            raise Unknown
        return row.results(kind, numbers[:-count])

    return Reduction(integers=lambda rows: row.integers(rows[..., :-count]), results=results)


def mistakes_of_sums(
    without: Callable[[int], Reduction], narrow: Callable[[Accumulate, Array], Array]
) -> dict[str, Calculate]:
    """What wrong kernels compute in place of an operation that is made of sums.

    `without` is the operation without so many elements at the end, and `narrow` has the numbers by wrong sums of rows.
    """

    def shortened(count: int, arguments: Arguments) -> tuple[Tensor, ...]:
        return (computed_by(without(count), arguments),)

    def narrowed(accumulate: Accumulate, arguments: Arguments) -> tuple[Tensor, ...]:
        if arguments.operand("data").is_integer:
            raise Unknown
        numbers = partial(narrow, accumulate)
        return (computed_by(Reduction(integers=numbers, numbers=numbers), arguments),)

    return tails(shortened) | accumulators(narrowed)
