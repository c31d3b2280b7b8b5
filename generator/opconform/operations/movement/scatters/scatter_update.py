"""ScatterUpdate-3, from its specification page: data with slices along an axis replaced by updates."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.movement.axis import AXIS, AXIS_CHECKS, axis_of, dimension
from opconform.operations.movement.scatters.updates import (
    DATA_READINGS,
    UPDATES,
    UPDATES_CHECKS,
    copied,
    earlier,
    indices_of,
)
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array


def _has_other_rank(arguments: Arguments) -> bool:
    """Whether the rank of the updates is not the one of Inputs, 3."""
    rank = len(arguments.shape("data")) + len(arguments.shape("indices")) - 1
    return len(arguments.shape("updates")) != rank


def _expected(arguments: Arguments) -> Shape:
    """The shape of the updates (Detailed description)."""
    data, axis = arguments.shape("data"), axis_of(arguments)
    if _has_other_rank(arguments):
        raise Unknown
    return (*data[:axis], *arguments.shape("indices"), *data[axis + 1 :])


def _positions(arguments: Arguments) -> range:
    """The dimensions of the updates that belong to the indices."""
    axis = axis_of(arguments)
    return range(axis, axis + len(arguments.shape("indices")))


def _updated(arguments: Arguments, places: Places) -> list[Array]:
    """The slice at each index replaced (Detailed description, formula); of several, the last one remains."""
    positions, output = _positions(arguments), copied(places)
    slices = np.moveaxis(output, positions.start, 0)
    slices[indices_of(arguments)] = np.moveaxis(places["updates"], positions, range(len(positions)))
    return [output]


def _is_repeated(arguments: Arguments) -> bool:
    indices = arguments.integers("indices")
    return len({*indices}) < len(indices)


def _earlier(arguments: Arguments, places: Places) -> list[Array]:
    """Data with other updates of the slices that several indices point to."""
    if not _is_repeated(arguments):
        return []
    numbers = np.arange(places["data"].size).reshape(places["data"].shape)
    return earlier(places, np.take(numbers, indices_of(arguments), axis_of(arguments)).ravel())


SCATTER_UPDATE = Movement(
    name="ScatterUpdate-3",
    inputs=(Port("data"), Port("indices", setting=True, types=INTEGERS), UPDATES, AXIS),
    checks={
        **AXIS_CHECKS,
        **UPDATES_CHECKS,
        "updates.rank": _has_other_rank,
        "updates.shape": lambda a: a.shape("updates") != _expected(a),
        "indices.range": lambda a: any(index >= dimension(a) for index in a.integers("indices")),
        "indices.negative": lambda a: any(index < 0 for index in a.integers("indices")),
    },
    moved=_updated,
    also=_earlier,
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(axis_of),
        "convert": contexts.convert,
    },
    facts={
        "an index occurs twice": _is_repeated,
        "every slice is replaced": lambda a: len({*a.integers("indices")}) == dimension(a),
        "no slice is replaced": lambda a: not a.integers("indices"),
    },
    readings=DATA_READINGS,
)
