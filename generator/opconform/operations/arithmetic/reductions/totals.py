"""ReduceSum-1, ReduceMean-1 and ReduceProd-1, from their pages."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden, Unknown
from opconform.operations.arithmetic.elementwise import Keep, clamped
from opconform.operations.arithmetic.products import product_of
from opconform.operations.arithmetic.propagation import sums as propagation
from opconform.operations.arithmetic.reductions.reduction import (
    EMPTY,
    SUM_WORK,
    Reduction,
    computed_by,
    is_reduced_from_none,
    mistakes_of_sums,
    otherwise,
    reduction,
    without_last,
)
from opconform.operations.arithmetic.sums import OPEN, is_open, sum_of_products
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import REALS, Exact, Result, numbers, rounded
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: After how many factors a product takes as much more work as adding an element.
_GROWTH = 16


def sum_of(kind: ElementType, row: list[float], divisor: int = 1) -> Result:
    """The sum of a list, divided by an integer."""
    if is_open(kind, row, divisor):
        raise NoGolden(OPEN)
    elements = [Exact(x) if math.isfinite(x) else x for x in row]
    return sum_of_products(kind, elements, [Exact(1)] * len(row), divisor, is_sum=True)


def _mean(kind: ElementType, row: list[float]) -> Result:
    return sum_of(kind, row, len(row)) if row else math.nan


def integer_quotients(rounded: Callable[[Fraction], int], sums: Array, counts: Sequence[int]) -> Array:
    """The quotients of some sums of integers and their counts, rounded to integers, in a list."""
    pairs = zip(np.asarray(sums, object).reshape(-1).tolist(), counts, strict=True)
    return np.array([*(rounded(Fraction(x, count)) for x, count in pairs), None], object)[:-1]


def _integer_mean(rounded: Callable[[Fraction], int]) -> Callable[[Array], Array]:
    """The quotients of the sums and the count, rounded to integers."""

    def mean(rows: Array) -> Array:
        number = math.prod(rows.shape[:-1])
        if not rows.shape[-1] and number:
            raise NoGolden("the page has no mean of no integers")
        return integer_quotients(rounded, rows.sum(-1), [rows.shape[-1]] * number)

    return mean


def _zero_if_empty(rows: Array) -> Array:
    if rows.shape[-1]:
        raise Unknown
    return np.zeros(rows.shape[:-1])


def _half_away(mean: Fraction) -> int:
    """The nearest integer, and the one away from zero of two."""
    return math.floor(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)


#: How integer means may be rounded; by our reading, towards zero.
ROUNDINGS: tuple[Callable[[Fraction], int], ...] = (math.trunc, math.floor, round, _half_away)


def integer_sum(rows: Array) -> Array:
    """The sums of Python's integers."""
    return np.asarray(rows.sum(-1))


def _integer_product(rows: Array) -> Array:
    return np.asarray(np.multiply.reduce(rows, -1))


def _mean_without_last(count: int) -> Reduction:
    """The sums without so many elements at the end, divided by the count of all elements."""
    return replace(without_last(_SUM, count), results=lambda kind, row: sum_of(kind, row[:-count], len(row)))


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


_SUM = Reduction(integers=integer_sum, results=sum_of)
_SIGNED_ZEROS = {"axes.empty-zeros": Reading(computes=(_positive_zeros,))}
REDUCE_SUM = reduction(
    "ReduceSum-1",
    replace(
        _SUM,
        parts=propagation.total,
        mistakes=mistakes_of_sums(partial(without_last, _SUM), lambda accumulate, rows: accumulate(rows)),
        readings={**EMPTY, **_SIGNED_ZEROS, "values.wrap": otherwise(integer_sum, integers=True, keep=clamped)},
    ),
)
REDUCE_PROD = reduction(
    "ReduceProd-1",
    Reduction(
        integers=_integer_product,
        results=product_of,
        parts=propagation.product,
        work=lambda count: SUM_WORK + count // _GROWTH,
        readings={**EMPTY, "values.wrap": otherwise(_integer_product, integers=True, keep=clamped)},
    ),
)
REDUCE_MEAN = reduction(
    "ReduceMean-1",
    Reduction(
        integers=_integer_mean(math.trunc),
        results=_mean,
        parts=propagation.mean,
        mistakes=mistakes_of_sums(_mean_without_last, lambda accumulate, rows: accumulate(rows) / rows.shape[-1]),
        keeps_integers=False,
        readings={
            **_SIGNED_ZEROS,
            "values.empty": replace(otherwise(_zero_if_empty, integers=False), rejects=is_reduced_from_none),
            "values.wide-sums": Reading(
                computes=tuple(
                    _narrow_mean(keep, _integer_mean(rounded_))
                    for keep, rounded_ in product((low_bits, clamped), ROUNDINGS)
                )
            ),
            "values.truncated": otherwise(*(_integer_mean(rounded_) for rounded_ in ROUNDINGS[1:]), integers=True),
        },
    ),
)
