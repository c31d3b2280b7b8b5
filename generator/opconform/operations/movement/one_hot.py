"""OneHot-1, from its specification page: two values, of which one is where indices are."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array

_INDICES = ("i32", "i64")


def _rank(arguments: Arguments) -> int:
    """The rank of the output."""
    return len(arguments.shape("indices")) + 1


def _depth(arguments: Arguments) -> int:
    return arguments.integers("depth")[0]


def _shape(arguments: Arguments) -> Shape:
    sizes, axis = arguments.shape("indices"), from_front(arguments.number("axis"), _rank(arguments))
    return (*sizes[:axis], _depth(arguments), *sizes[axis:])


def _moved(arguments: Arguments, places: Places) -> Sequence[Array]:
    integers, sizes = arguments.integers("indices"), arguments.shape("indices")
    if len(integers) != math.prod(sizes):  # the model computes them
        raise Unknown
    indices = np.array(integers, np.int64).reshape(sizes)
    is_on = np.arange(_depth(arguments)) == indices[..., np.newaxis]
    rows = np.where(is_on, places["on_value"], places["off_value"])
    return [np.moveaxis(rows, -1, arguments.number("axis"))]


def _has_negative(arguments: Arguments) -> bool:
    """Whether a known index is negative."""
    return any(index < 0 for index in arguments.operand("indices").known_integers or ())


def _from_end(arguments: Arguments) -> Arguments:
    """The arguments with negative indices counted from the end of the new dimension."""
    if not _has_negative(arguments):
        return arguments
    indices, depth = arguments.operand("indices"), _depth(arguments)
    integers = tuple(index + depth if index < 0 else index for index in arguments.integers("indices"))
    counted = replace(indices, integers=integers, tensor=None)
    return replace(arguments, inputs={**arguments.inputs, "indices": counted})


ONE_HOT = Movement(
    name="OneHot-1",
    inputs=(
        Port("indices", setting=True, types=_INDICES),
        Port("depth", setting=True, types=_INDICES, ranks=(0,)),
        Port("on_value", ranks=(0,)),
        Port("off_value", ranks=(0,)),
    ),
    attributes=(AttributeSpec("axis", type="int"),),
    checks={
        "depth.positive": lambda a: _depth(a) <= 0,
        "off_value.same-type": lambda a: a.operand("on_value").element_type != a.operand("off_value").element_type,
        "axis.range": lambda a: is_outside(a.number("axis"), _rank(a)),
    },
    moved=_moved,
    shapes=lambda a: [_shape(a)],
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "the new dimension is the last one": lambda a: from_front(a.number("axis"), _rank(a)) == _rank(a) - 1,
        "the axis is negative": lambda a: a.number("axis") < 0,
        "an index is not below depth": lambda a: any(index >= _depth(a) for index in a.integers("indices")),
        "indices is a scalar": lambda a: not a.shape("indices"),
    },
    readings={"indices.negative": Reading(rejects=_has_negative, rewrites=(_from_end,))},
)
