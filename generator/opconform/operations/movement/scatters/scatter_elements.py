"""ScatterElementsUpdate-12 and -3, from their specification pages: data with elements replaced by updates."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import AXIS, AXIS_CHECKS, axis_of, dimension
from opconform.operations.movement.scatters.reductions import (
    COMBINED,
    REDUCTION_CHECKS,
    TYPES_READING,
    Combine,
    Number,
    Numbers,
    combines,
    computed,
    mean,
    means_in_turn,
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
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def _has_other_rank(arguments: Arguments) -> bool:
    return len(arguments.shape("indices")) != len(arguments.shape("data"))


def _excess(arguments: Arguments) -> list[int]:
    """The dimensions of the indices that are larger than the dimensions of data."""
    if _has_other_rank(arguments):
        raise Unknown
    pairs = zip(arguments.shape("indices"), arguments.shape("data"), strict=True)
    return [place for place, (one, other) in enumerate(pairs) if one > other]


def _positions(arguments: Arguments) -> Array:
    """The places of the updates, with the index in place of the one along the axis (Detailed description)."""
    shape, axis, indices = arguments.shape("data"), axis_of(arguments), indices_of(arguments)
    targets = [*np.indices(indices.shape)]
    targets[axis] = np.where(indices < 0, indices + shape[axis], indices)
    positions: Array = np.ravel_multi_index(tuple(targets), shape).ravel()
    return positions


def _is_outside(arguments: Arguments) -> bool:
    """Whether an index is out of range (Inputs, 2)."""
    size = dimension(arguments)
    return any(not -size <= index < size for index in arguments.integers("indices"))


def _mean(first: Number, updates: Numbers) -> Number:
    return mean([first, *updates])


def _combine(arguments: Arguments) -> Combine:
    """The reduction, which the element of data belongs to if `use_init_val` is true (Attributes)."""
    combine = {**COMBINED, "mean": _mean}[reduction_of(arguments)]
    if arguments.attribute("use_init_val"):
        return combine
    return lambda _, updates: combine(updates[0], updates[1:])


def _are_repeated(arguments: Arguments) -> bool:
    """Whether several updates go to one element."""
    shape = arguments.shape("data")
    if _is_outside(arguments) or _excess(arguments) not in ([], [axis_of(arguments)]):
        raise Unknown
    count: int = np.unique(_positions(arguments)).size
    return bool(prod(shape)) and count < len(arguments.integers("indices"))


def _means_in_turn(arguments: Arguments) -> Arguments:
    """The arguments without updates, and with data as the mean with one update after the other leaves it."""
    if reduction_of(arguments) != "mean" or not _are_repeated(arguments):
        return arguments
    data, updates, indices = (arguments.operand(name) for name in ("data", "updates", "indices"))
    shape, tensor = (0,) * len(data.shape), means_in_turn(arguments, _positions(arguments))
    none = (
        None
        if updates.tensor is None
        else replace(updates.tensor, array=updates.tensor.array[:0].reshape(shape), bounds=None, reduced=None)
    )
    emptied = {
        "data": replace(data, tensor=tensor),
        "updates": replace(updates, shape=shape, tensor=none),
        "indices": replace(indices, shape=shape, integers=(), tensor=None),
    }
    return replace(arguments, inputs={**arguments.inputs, **emptied})


_CHECKS: Mapping[str, Predicate] = {
    **AXIS_CHECKS,
    **UPDATES_CHECKS,
    "indices.rank": _has_other_rank,
    "updates.shape": lambda a: a.shape("updates") != a.shape("indices"),
}
SCATTER_ELEMENTS_UPDATE_12 = Movement(
    name="ScatterElementsUpdate-12",
    inputs=(Port("data"), Port("indices", setting=True, types=INTEGERS), UPDATES, AXIS),
    attributes=(
        reduction("sum", "prod", "min", "max", "mean"),
        AttributeSpec("use_init_val", type="boolean", default=True),
    ),
    checks={
        **_CHECKS,
        **REDUCTION_CHECKS,
        "reduction.boolean-mean": lambda a: reduction_of(a) == "mean" and has_kind(a.operand("data"), "boolean"),
        "updates.size": lambda a: bool({*_excess(a)} - {axis_of(a)}),
        "indices.range": _is_outside,
    },
    moved=lambda a, places: placed(places, _positions(a)),
    also=lambda a, places: earlier(places, _positions(a)),
    calculation=Calculation(applies=combines, calculate=lambda a: computed(a, _positions(a), _combine(a))),
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(axis_of),
        "convert": contexts.convert,
    },
    facts={
        "an index is negative": lambda a: any(index < 0 for index in a.integers("indices")),
        "several updates go to one element": _are_repeated,
        "the indices are longer than data along the axis": lambda a: _excess(a) == [axis_of(a)],
    },
    readings={
        **DATA_READINGS,
        **TYPES_READING,
        **reduction_readings(_positions, _combine),
        "reduction.mean-together": Reading(rewrites=(_means_in_turn,)),
    },
)
#: Without reductions and negative indices, and without more updates than elements along the axis.
SCATTER_ELEMENTS_UPDATE_3 = replace(
    SCATTER_ELEMENTS_UPDATE_12,
    name="ScatterElementsUpdate-3",
    attributes=(),
    checks={
        **_CHECKS,
        "updates.size": lambda a: bool(_excess(a)),
        "indices.range": lambda a: any(index >= dimension(a) for index in a.integers("indices")),
        "indices.negative": lambda a: any(index < 0 for index in a.integers("indices")),
    },
    calculation=None,
    readings=DATA_READINGS,
)
