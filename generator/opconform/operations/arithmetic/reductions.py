"""ReduceSum-1, ReduceMean-1, ReduceMax-1 and ReduceProd-1, from their pages: elements along axes become one.

An operation is a row: what it does with the elements that become one, as exact integers or as numbers of f64.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import Keep, clamped, elements_of, tensor_of, without_special
from opconform.operations.arithmetic.mistakes import Accumulate, accumulators, tails
from opconform.operations.arithmetic.products import product_of
from opconform.operations.arithmetic.propagation import sums as propagation
from opconform.operations.arithmetic.propagation.sums import Reduce, of_rows
from opconform.operations.arithmetic.sums import OPEN, SUMMED, is_open, sum_of_products
from opconform.operations.checks import INTEGERS, NUMBERS, Predicate
from opconform.operations.interpretation import Reading
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, bounded_tensor, numbers, rounded
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The work of adding an element, in exact products; and after how many factors a product takes as much more.
_SUM_WORK, _GROWTH = 4, 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduction:
    """What an operation computes; in both functions, the elements that become one are along the last axis.

    Attributes:
        integers: The exact results for an array of Python's integers.
        results: The result for a list of numbers; `NoGolden` where the page or the order leaves it open.
        numbers: In place of `results`, the exact results for an array of f64.
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
    is_empty_defined: bool = True
    types: tuple[str, ...] = SUMMED
    work: Callable[[int], int] = lambda _: _SUM_WORK
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


def _is_empty(arguments: Arguments) -> bool:
    """Whether elements of the output are reduced from none."""
    return 0 in [arguments.shape("data")[axis] for axis in reduced_axes(arguments)] and 0 not in _shape(arguments)


def computed_by(reduction: Reduction, arguments: Arguments, keep: Keep = low_bits) -> Tensor:
    """The output; `keep` gives the integers of the type for those beyond its range."""
    data, shape = arguments.tensor("data"), _shape(arguments)
    if not arguments.integers("axes"):  # the identity (Particular cases, 1)
        return Tensor(element_type=data.element_type, array=data.array, is_computed=True)
    if 0 in data.shape and not reduction.is_empty_defined:
        raise NoGolden("the page leaves the result for data without elements undefined")
    rows, of = _rows(arguments, elements_of(data)), reduction.integers if data.type.is_integer else reduction.numbers
    if of is not None:
        return tensor_of(
            data.type, np.asarray(of(rows), object if data.type.is_integer else None).reshape(shape), keep=keep
        )
    if reduction.results is None:
        raise Unknown
    lists = rows.reshape(math.prod(shape), rows.shape[-1]).tolist()
    return bounded_tensor(data.element_type, shape, [reduction.results(data.type, row) for row in lists])


def _operation(name: str, reduction: Reduction) -> Computation:
    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        return (computed_by(reduction, arguments),)

    return Computation(
        name=name,
        inputs=(Port("data", types=reduction.types), Port("axes", setting=True, types=INTEGERS, ranks=(0, 1))),
        attributes=(AttributeSpec("keep_dims", type="boolean", default=False),),
        checks={
            "axes.range": lambda a: any(is_outside(axis, _rank(a)) for axis in a.integers("axes")),
            "axes.unique": lambda a: len({*a.integers("axes")}) < len(a.integers("axes")),
        },
        types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=_shape(a)),),
        calculate=calculate,
        rounded=of_rows(_rows, reduction.parts) if reduction.parts else None,
        is_numeric=True,
        products=lambda a: (
            math.prod(a.shape("data")) * reduction.work(math.prod(a.shape("data")[x] for x in reduced_axes(a)))
        ),
        contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
        mistakes=reduction.mistakes,
        facts=_FACTS,
        readings={
            "axes.aliases": Reading(rejects=lambda a: len(reduced_axes(a)) < len(a.integers("axes"))),
            **({"values.special": without_special(calculate)} if reduction.results else {}),
            **reduction.readings,
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
    "there are no elements to reduce": _is_empty,
}


def _sum(kind: ElementType, row: list[float], divisor: int = 1) -> Result:
    """The sum of a list, divided by an integer."""
    if is_open(kind, row, divisor):
        raise NoGolden(OPEN)
    elements = [Exact(x) if math.isfinite(x) else x for x in row]
    return sum_of_products(kind, elements, [Exact(1)] * len(row), divisor, is_sum=True)


def _mean(kind: ElementType, row: list[float]) -> Result:
    return _sum(kind, row, len(row)) if row else math.nan


def _integer_mean(rounded: Callable[[Fraction], int]) -> Callable[[Array], Array]:
    """The quotients of the sums and the count, rounded to integers."""

    def mean(rows: Array) -> Array:
        if not rows.shape[-1] and math.prod(rows.shape[:-1]):
            raise NoGolden("the page has no mean of no integers")
        sums = np.asarray(rows.sum(-1), object).reshape(-1).tolist()
        return np.array([*(rounded(Fraction(x, rows.shape[-1])) for x in sums), None], object)[:-1]

    return mean


def _zero_if_empty(rows: Array) -> Array:
    if rows.shape[-1]:
        raise Unknown
    return np.zeros(rows.shape[:-1])


def _half_away(mean: Fraction) -> int:
    """The nearest integer, and the one away from zero of two."""
    return math.floor(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)


#: How integer means may be rounded; by our reading, towards zero.
_ROUNDINGS: tuple[Callable[[Fraction], int], ...] = (math.trunc, math.floor, round, _half_away)


def _maximum(rows: Array) -> Array:
    """The largest number; a NaN if there is one, and the positive one of two zeros."""
    largest = rows.max(-1)
    has_positive = ((rows == 0) & ~np.signbit(rows)).any(-1)
    return np.where(largest == 0, np.where(has_positive, 0.0, -0.0), largest)


def _with_nan(of: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of rows, one of which has a NaN."""

    def maximum(rows: Array) -> Array:
        if not np.isnan(rows).any():
            raise Unknown
        return np.asarray(of(rows))

    return maximum


#: Other maxima: of the elements that are not NaN, and of comparisons in order, which are false beside a NaN.
_OTHER_MAXIMA = (
    _with_nan(lambda rows: _maximum(np.where(np.isnan(rows), -np.inf, rows))),
    _with_nan(lambda rows: reduce(lambda x, y: np.where(x > y, x, y), np.moveaxis(rows, -1, 0))),
    _with_nan(lambda rows: reduce(lambda x, y: np.where(y > x, y, x), np.moveaxis(rows, -1, 0))),
)


def _equal_maximum(step: int) -> Callable[[Array], Array]:
    """The first or the last of the largest elements."""

    def maximum(rows: Array) -> Array:
        ordered = rows[..., ::step]
        return np.take_along_axis(ordered, np.asarray(ordered.argmax(-1))[..., np.newaxis], -1)[..., 0]

    return maximum


def _otherwise(*others: Callable[[Array], Array], integers: bool, keep: Keep = low_bits) -> Reading:
    """The reading by which one of other functions computes integers, or floating-point numbers."""

    def computing(of: Callable[[Array], Array]) -> Callable[[Arguments], tuple[Tensor, ...]]:
        def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
            if arguments.operand("data").is_integer is not integers:
                raise Unknown
            return (computed_by(Reduction(integers=of, numbers=of), arguments, keep),)

        return calculate

    return Reading(computes=tuple(map(computing, others)), by_element=True)


def _integer_sum(rows: Array) -> Array:
    return np.asarray(rows.sum(-1))


def _integer_product(rows: Array) -> Array:
    return np.asarray(np.multiply.reduce(rows, -1))


def _sum_mistakes(*, is_mean: bool = False) -> dict[str, Calculate]:
    """What wrong kernels compute in place of sums, or of means."""

    def without(count: int, arguments: Arguments) -> tuple[Tensor, ...]:
        def results(kind: ElementType, row: list[float]) -> Result:
            return _sum(kind, row[:-count], len(row) if is_mean else 1)

        other = Reduction(integers=lambda rows: _integer_sum(rows[..., :-count]), results=results)
        return (computed_by(other, arguments),)

    def narrow(accumulate: Accumulate, arguments: Arguments) -> tuple[Tensor, ...]:
        def sums(rows: Array) -> Array:
            return accumulate(rows) / (rows.shape[-1] if is_mean else 1)

        if arguments.operand("data").is_integer:
            raise Unknown
        return (computed_by(Reduction(integers=_integer_sum, numbers=sums), arguments),)

    return tails(without) | accumulators(narrow)


def _positive_zeros(arguments: Arguments) -> tuple[Tensor, ...]:
    """Data as it is, but for the sign of zeros, as sums that begin with 0 have it."""
    data = arguments.tensor("data")
    if arguments.integers("axes") or data.element_type not in REALS:
        raise Unknown
    array = np.where(numbers(data) == 0, rounded(data.type, np.zeros(())), data.array)
    return (Tensor(element_type=data.element_type, array=array, is_computed=True),)


def _narrow_mean(keep: Keep, mean: Callable[[Array], Array]) -> Calculate:
    """The means of the integers of the type that stand for sums beyond its range."""

    def calculate(arguments: Arguments) -> tuple[Tensor, ...]:
        kind = arguments.tensor("data").type
        if not kind.is_integer or not arguments.integers("axes"):
            raise Unknown

        def of(rows: Array) -> Array:
            count = rows.shape[-1]
            kept = [keep(kind, int(x)) for x in np.asarray(rows.sum(-1), object).reshape(-1)]
            return mean(np.array([[x] + [0] * (count - 1) for x in kept], object).reshape(len(kept), count))

        return (computed_by(Reduction(integers=of), arguments),)

    return calculate


_SIGNED_ZEROS = {"axes.empty-zeros": Reading(computes=(_positive_zeros,))}
_EMPTY = {"values.empty": Reading(rejects=_is_empty)}
REDUCE_SUM = _operation(
    "ReduceSum-1",
    Reduction(
        integers=_integer_sum,
        results=_sum,
        parts=propagation.total,
        mistakes=_sum_mistakes(),
        readings={**_EMPTY, **_SIGNED_ZEROS, "values.wrap": _otherwise(_integer_sum, integers=True, keep=clamped)},
    ),
)
REDUCE_PROD = _operation(
    "ReduceProd-1",
    Reduction(
        integers=_integer_product,
        results=product_of,
        parts=propagation.product,
        work=lambda count: _SUM_WORK + count // _GROWTH,
        readings={**_EMPTY, "values.wrap": _otherwise(_integer_product, integers=True, keep=clamped)},
    ),
)
REDUCE_MEAN = _operation(
    "ReduceMean-1",
    Reduction(
        integers=_integer_mean(math.trunc),
        results=_mean,
        parts=propagation.mean,
        mistakes=_sum_mistakes(is_mean=True),
        readings={
            **_SIGNED_ZEROS,
            "values.empty": replace(_otherwise(_zero_if_empty, integers=False), rejects=_is_empty),
            "values.wide-sums": Reading(
                computes=tuple(
                    _narrow_mean(keep, _integer_mean(rounded_))
                    for keep, rounded_ in product((low_bits, clamped), _ROUNDINGS)
                )
            ),
            "values.truncated": _otherwise(*(_integer_mean(rounded_) for rounded_ in _ROUNDINGS[1:]), integers=True),
        },
    ),
)
REDUCE_MAX = _operation(
    "ReduceMax-1",
    Reduction(
        integers=lambda rows: rows.max(-1),
        numbers=_maximum,
        parts=propagation.maximum,
        is_empty_defined=False,
        types=NUMBERS,
        readings={
            "values.nan": _otherwise(*_OTHER_MAXIMA, integers=False),
            "values.zeros": _otherwise(_equal_maximum(1), _equal_maximum(-1), integers=False),
        },
    ),
)
