"""ReduceL1-4 and ReduceL2-4, from their pages."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations.arguments import Arguments, NoGolden, Unknown
from opconform.operations.arithmetic import composites
from opconform.operations.arithmetic.composition import composed, square_root
from opconform.operations.arithmetic.elementwise import Keep, Kernel, clamped, computed, each
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation import composites as propagation
from opconform.operations.arithmetic.reductions.reduction import (
    EMPTY,
    Reduction,
    computed_by,
    mistakes_of_sums,
    otherwise,
    reduction,
    without_last,
)
from opconform.operations.arithmetic.reductions.totals import integer_sum, sum_of
from opconform.operations.arithmetic.unary import rounded_root
from opconform.operations.interpretation import Reading
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Exact, Result, has_few_bits, largest, wide_type
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

_ABSOLUTE = Kernel(floats=np.abs, integers=np.abs)


def _absolute_data(arguments: Arguments) -> tuple[Tensor, ...]:
    """Data without signs, as the norm of each element alone."""
    if arguments.integers("axes"):
        raise Unknown
    return (computed(_ABSOLUTE, arguments.tensor("data")),)


def _absolute_sum(kind: ElementType, row: list[float]) -> Result:
    return sum_of(kind, [abs(x) for x in row])


def _integer_absolute_sum(rows: Array) -> Array:
    return integer_sum(np.abs(rows))


def _norm(kind: ElementType, row: list[float]) -> Result:
    """The square root of the sum of the squares of a list."""
    if not all(map(math.isfinite, row)):
        return math.nan if any(map(math.isnan, row)) else math.inf
    elements = [Exact(x) for x in row]
    squares = sum((x * x for x in elements), Exact(0))
    exact = square_root(squares)
    if 2 * squares > largest(wide_type(kind).name):
        if exact < 2 * largest(kind.name):
            raise NoGolden("the squares may be beyond the range of the type, although the norm is not")
        return math.inf
    [result] = composed(
        kind,
        [exact],
        lambda way: [composites.norm(way, elements)],
        keeps_exact=True,
        is_short=all(map(has_few_bits, elements)),
        limits=(0, None),
    )
    return result


def _integer_norm(root: Callable[[int], int], rows: Array) -> Array:
    """The square roots of the sums of the squares, rounded to integers."""
    return each(1, root)(integer_sum(rows * rows))


def _narrow_norm(keep: Keep, root: Callable[[int], int], arguments: Arguments) -> tuple[Tensor, ...]:
    """The roots of the integers of the type that stand for sums beyond its range."""
    kind = arguments.tensor("data").type
    if not kind.is_integer or not arguments.integers("axes"):
        raise Unknown

    def root_of_kept(total: int) -> int:
        kept = keep(kind, total)
        if kept < 0:
            raise Unknown
        return root(kept)

    return (computed_by(Reduction(integers=partial(_integer_norm, root_of_kept)), arguments),)


_ROOTS: tuple[Callable[[int], int], ...] = (math.isqrt, rounded_root)
_IDENTITY = {"axes.empty-signs": Reading(computes=(_absolute_data,))}
_L1 = Reduction(integers=_integer_absolute_sum, results=_absolute_sum)
_L2 = Reduction(integers=partial(_integer_norm, math.isqrt), results=_norm)
REDUCE_L1 = reduction(
    "ReduceL1-4",
    replace(
        _L1,
        parts=propagation.absolute_total,
        mistakes=mistakes_of_sums(partial(without_last, _L1), lambda accumulate, rows: accumulate(np.abs(rows))),
        readings={**EMPTY, **_IDENTITY, "values.wrap": otherwise(_L1.integers, integers=True, keep=clamped)},
    ),
)
REDUCE_L2 = reduction(
    "ReduceL2-4",
    replace(
        _L2,
        parts=propagation.norm,
        keeps_integers=False,
        work=lambda _: FUNCTION_WORK,
        mistakes=mistakes_of_sums(
            partial(without_last, _L2), lambda accumulate, rows: np.sqrt(accumulate(rows * rows))
        ),
        readings={
            **EMPTY,
            **_IDENTITY,
            "values.wrap": otherwise(_L2.integers, integers=True, keep=clamped),
            "values.truncated": otherwise(partial(_integer_norm, rounded_root), integers=True),
            "values.wide-sums": Reading(
                computes=tuple(partial(_narrow_norm, keep, root) for keep in (low_bits, clamped) for root in _ROOTS)
            ),
        },
    ),
)
