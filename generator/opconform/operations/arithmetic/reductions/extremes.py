"""ReduceMax-1 and ReduceMin-1, from their pages."""

from collections.abc import Callable
from functools import reduce

import numpy as np

from opconform.operations.arguments import Unknown
from opconform.operations.arithmetic.propagation import sums as propagation
from opconform.operations.arithmetic.propagation.sums import Reduce
from opconform.operations.arithmetic.reductions.reduction import Reduction, otherwise, reduction
from opconform.operations.checks import NUMBERS
from opconform.operations.operation import Computation
from opconform.tensors.tensor import Array

#: A function of numbers or integers along the last axis.
_Of = Callable[[Array], Array]


def _maximum(rows: Array) -> Array:
    """The largest number; a NaN if there is one, and the positive one of two zeros."""
    largest = rows.max(-1)
    has_positive = ((rows == 0) & ~np.signbit(rows)).any(-1)
    return np.where(largest == 0, np.where(has_positive, 0.0, -0.0), largest)


def _with_nan(of: _Of) -> _Of:
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


def _equal_maximum(step: int) -> _Of:
    """The first or the last of the largest elements."""

    def maximum(rows: Array) -> Array:
        ordered = rows[..., ::step]
        return np.take_along_axis(ordered, np.asarray(ordered.argmax(-1))[..., np.newaxis], -1)[..., 0]

    return maximum


def _of_opposites(of: _Of) -> _Of:
    """The smallest number by the largest one of the numbers with the other sign."""
    return lambda rows: np.asarray(-of(-rows))


def _extreme(name: str, of: _Of, parts: Reduce, sides: Callable[[_Of], _Of]) -> Computation:
    """The largest or the smallest element; `sides` turns functions for the largest number into those that it needs."""
    return reduction(
        name,
        Reduction(
            integers=of,
            numbers=sides(_maximum),
            parts=parts,
            is_empty_defined=False,
            types=NUMBERS,
            readings={
                "values.nan": otherwise(*map(sides, _OTHER_MAXIMA), integers=False),
                "values.zeros": otherwise(*(sides(_equal_maximum(step)) for step in (1, -1)), integers=False),
            },
        ),
    )


REDUCE_MAX = _extreme("ReduceMax-1", lambda rows: rows.max(-1), propagation.maximum, lambda of: of)
REDUCE_MIN = _extreme("ReduceMin-1", lambda rows: rows.min(-1), propagation.minimum, _of_opposites)
