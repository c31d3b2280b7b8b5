"""GatherElements-6, from its specification page: single elements of data, selected along an axis by indices."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.movement.axis import DATA, from_front, is_outside
from opconform.operations.operation import Movement
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def _axis(arguments: Arguments) -> int:
    return from_front(arguments.number("axis"), len(arguments.shape("data")))


def size_of(arguments: Arguments) -> int:
    """The dimension of data at the axis."""
    return arguments.shape("data")[_axis(arguments)]


def _has_other_rank(arguments: Arguments) -> bool:
    return len(arguments.shape("indices")) != len(arguments.shape("data"))


def _has_other_shape(arguments: Arguments) -> bool:
    """Whether a dimension beside the axis differs (Detailed description)."""
    axis = _axis(arguments)
    if _has_other_rank(arguments):
        raise Unknown
    data, indices = ([*arguments.shape(name)] for name in ("data", "indices"))
    data[axis] = indices[axis]
    return data != indices


def indices_of(arguments: Arguments) -> Array:
    """The indices in their shape."""
    return np.array(arguments.integers("indices"), object).reshape(arguments.shape("indices"))


def _is_repeated(arguments: Arguments) -> bool:
    if _has_other_rank(arguments):
        raise Unknown
    axis = _axis(arguments)
    return bool(np.any(np.diff(np.sort(indices_of(arguments), axis), axis=axis) == 0))


def positions_of(arguments: Arguments) -> list[Array]:
    """The index into each dimension of data of every element of the output (Detailed description, equations)."""
    indices = indices_of(arguments)
    positions = [*np.indices(indices.shape)]
    positions[_axis(arguments)] = indices.astype(np.int64)
    return positions


GATHER_ELEMENTS = Movement(
    name="GatherElements-6",
    inputs=(DATA, Port("indices", setting=True, types=("i32", "i64"))),
    attributes=(AttributeSpec("axis", type="int"),),
    checks={
        "axis.range": lambda a: is_outside(a.number("axis"), len(a.shape("data"))),
        "indices.rank": _has_other_rank,
        "indices.shape": _has_other_shape,
        "indices.range": lambda a: any(index >= size_of(a) for index in a.integers("indices")),
        "indices.negative": lambda a: any(index < 0 for index in a.integers("indices")),
    },
    moved=lambda a, places: [places["data"][tuple(positions_of(a))]],
    shapes=lambda a: [a.shape("indices")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(_axis),
        "convert": contexts.convert,
    },
    facts={
        "an index occurs twice in a line along the axis": _is_repeated,
        "the indices are longer than data along the axis": lambda a: (
            not _has_other_rank(a) and a.shape("indices")[_axis(a)] > size_of(a)
        ),
        "the axis is the last one": lambda a: _axis(a) == len(a.shape("data")) - 1,
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data")) or is_empty(a.operand("indices"))),
    },
)
