"""Unsqueeze-1, from its specification page: data with new dimensions of 1."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Movement
from opconform.suite.declarations import Port

#: The second input of operations that add or remove dimensions (Inputs, 2).
AXES = Port("axes", setting=True, types=INTEGERS, ranks=(0, 1))


def _rank(arguments: Arguments) -> int:
    """The rank of the output, in which every index is a dimension (Short description)."""
    return len(arguments.shape("data")) + len(arguments.integers("axes"))


def _axes(arguments: Arguments) -> list[int]:
    """The new dimensions of the output."""
    return [from_front(axis, _rank(arguments)) for axis in arguments.integers("axes")]


UNSQUEEZE = Movement(
    name="Unsqueeze-1",
    inputs=(Port("data"), AXES),
    checks={
        "axes.range": lambda a: any(is_outside(axis, _rank(a)) for axis in a.integers("axes")),
        "axes.unique": lambda a: len({*_axes(a)}) < len(_axes(a)),
    },
    moved=lambda a, places: [np.expand_dims(places["data"], tuple(_axes(a)))],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
    facts={
        "the last dimension of the output is new": lambda a: _rank(a) - 1 in _axes(a),
        "the indices are not in ascending order": lambda a: _axes(a) != sorted(_axes(a)),
        "data has several new dimensions": lambda a: len(_axes(a)) > 1,
    },
    readings={
        "data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string")),
        "axes.empty": Reading(rejects=lambda a: is_empty(a.operand("axes"))),
    },
)
