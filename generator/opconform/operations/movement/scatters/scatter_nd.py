"""ScatterNDUpdate-15 and -3, from their specification pages: data with elements or slices at tuples replaced."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import RANKED, Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import DATA
from opconform.operations.movement.scatters.reductions import (
    COMBINED,
    REDUCTION_CHECKS,
    TYPES_READING,
    Combine,
    Number,
    Numbers,
    combines,
    computed,
    reduction,
    reduction_of,
    reduction_readings,
)
from opconform.operations.movement.scatters.updates import (
    DATA_READINGS,
    UPDATES,
    UPDATES_CHECKS,
    earlier,
    indices_of,
    placed,
)
from opconform.operations.operation import Calculation, Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array

_INDICES = ("i32", "i64")


def _length(arguments: Arguments) -> int:
    """The number of indices in a tuple."""
    return arguments.shape("indices")[-1]


def _is_too_long(arguments: Arguments) -> bool:
    return _length(arguments) > len(arguments.shape("data"))


def _expected(arguments: Arguments) -> Shape:
    """The shape of the updates (Detailed description)."""
    if _is_too_long(arguments):
        raise Unknown
    return (*arguments.shape("indices")[:-1], *arguments.shape("data")[_length(arguments) :])


def _is_single(arguments: Arguments) -> bool:
    """Whether one element is updated by a tensor of one element (Inputs, 3)."""
    return _expected(arguments) == () and prod(arguments.shape("updates")) == 1


def _has_other_rank(arguments: Arguments) -> bool:
    return len(arguments.shape("updates")) != len(_expected(arguments)) and not _is_single(arguments)


def _has_other_shape(arguments: Arguments) -> bool:
    is_other = arguments.shape("updates") != _expected(arguments)
    return is_other and not _has_other_rank(arguments) and not _is_single(arguments)


def _pairs(arguments: Arguments) -> list[tuple[int, int]]:
    """Each index, and the size of the dimension that it is applied to."""
    if _is_too_long(arguments):
        raise Unknown
    return [*zip(arguments.integers("indices"), cycle(arguments.shape("data")[: _length(arguments)]), strict=False)]


def _is_outside(arguments: Arguments) -> bool:
    """Whether an index is out of range (Inputs, 2)."""
    return any(not -size <= index < size for index, size in _pairs(arguments))


def _slices(arguments: Arguments) -> Array:
    """The number of the slice of data that each tuple selects, in the order of tuples."""
    sizes = arguments.shape("data")[: _length(arguments)]
    tuples = np.moveaxis(indices_of(arguments), -1, 0)
    numbers = np.zeros(tuples.shape[1:], np.int64)
    for size, index in zip(sizes, tuples, strict=True):
        numbers = numbers * size + np.where(index < 0, index + size, index)
    return numbers.ravel()


def _positions(arguments: Arguments) -> Array:
    """The number of the element that each element of the updates goes to."""
    size = prod(arguments.shape("data")[_length(arguments) :])
    return (_slices(arguments)[:, np.newaxis] * size + np.arange(size)).ravel()


def _difference(first: Number, updates: Numbers) -> Number:
    return first - sum(updates)


def _combine(arguments: Arguments) -> Combine:
    """The reduction; the difference of booleans is whether an odd number of them is true (Types)."""
    difference = _is_odd if has_kind(arguments.operand("data"), "boolean") else _difference
    return {**COMBINED, "sub": difference}[reduction_of(arguments)]


def _is_odd(first: Number, updates: Numbers) -> Number:
    return sum(updates, first) % 2


def _are_repeated(arguments: Arguments) -> bool:
    """Whether several tuples select one slice."""
    if _is_outside(arguments):
        raise Unknown
    slices = _slices(arguments).tolist()
    return len({*slices}) < len(slices)


def _has_equal_tuples(arguments: Arguments) -> bool:
    """Whether two tuples are equal (ScatterNDUpdate-3, Detailed description, first paragraph)."""
    count = prod(arguments.shape("indices")[:-1])
    return len({*map(tuple, indices_of(arguments).reshape(count, _length(arguments)).tolist())}) < count


_CHECKS: Mapping[str, Predicate] = {
    **UPDATES_CHECKS,
    "indices.tuple-length": _is_too_long,
    "updates.rank": _has_other_rank,
    "updates.shape": _has_other_shape,
}
_READINGS: Mapping[str, Reading] = {
    **DATA_READINGS,
    "indices.empty-tuple": Reading(rejects=lambda a: _length(a) == 0),
}
SCATTER_ND_UPDATE_15 = Movement(
    name="ScatterNDUpdate-15",
    inputs=(DATA, Port("indices", setting=True, types=_INDICES, ranks=RANKED), UPDATES),
    attributes=(reduction("sum", "sub", "prod", "min", "max"),),
    checks={**_CHECKS, **REDUCTION_CHECKS, "indices.range": _is_outside},
    moved=lambda a, places: placed(places, _positions(a)),
    also=lambda a, places: earlier(places, _positions(a)),
    calculation=Calculation(applies=combines, calculate=lambda a: computed(a, _positions(a), _combine(a))),
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
    facts={
        "an index is negative": lambda a: any(index < 0 for index in a.integers("indices")),
        "several tuples select one slice": _are_repeated,
        "a tuple selects a slice": lambda a: _length(a) < len(a.shape("data")),
    },
    readings={**_READINGS, **TYPES_READING, **reduction_readings(_positions, _combine)},
)
#: Without reductions, negative indices and repeated tuples.
SCATTER_ND_UPDATE_3 = replace(
    SCATTER_ND_UPDATE_15,
    name="ScatterNDUpdate-3",
    attributes=(),
    checks={
        **_CHECKS,
        "indices.range": lambda a: any(index >= size for index, size in _pairs(a)),
        "indices.negative": lambda a: any(index < 0 for index, _ in _pairs(a)),
        "indices.unique": _has_equal_tuples,
    },
    calculation=None,
    readings=_READINGS,
)
