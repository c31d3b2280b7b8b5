"""Concat-1, from its specification page: tensors joined along an axis."""

from collections.abc import Sequence

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port


def _shapes(arguments: Arguments) -> list[Shape]:
    """The shapes of the inputs; there is at least one."""
    shapes = [x.shape for x in arguments.every("inputs")]
    if not shapes:
        raise Unknown
    return shapes


def _axis(arguments: Arguments) -> int:
    """The axis counted from the front (Attributes, axis)."""
    return from_front(arguments.number("axis"), len(_shapes(arguments)[0]))


def _others(arguments: Arguments) -> set[Shape]:
    """The sizes of the inputs without those along the axis, for inputs of one rank."""
    shapes, axis = _shapes(arguments), _axis(arguments)
    if len({*map(len, shapes)}) > 1:
        raise Unknown
    return {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}


def _joined(arguments: Arguments) -> Sequence[Shape]:
    axis, shapes = _axis(arguments), _shapes(arguments)
    return [(*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])]


CONCAT = Movement(
    name="Concat-1",
    inputs=(Port("inputs", variadic=True),),
    attributes=(AttributeSpec("axis", type="int"),),
    checks={
        "axis.range": lambda a: _shapes(a)[0] != () and is_outside(a.number("axis"), len(_shapes(a)[0])),
        "inputs.element-type": lambda a: len({x.element_type for x in a.every("inputs")}) > 1,
        "inputs.positive-rank": lambda a: () in _shapes(a),
        "inputs.rank": lambda a: len({*map(len, _shapes(a))}) > 1,
        "inputs.shape": lambda a: len(_others(a)) > 1,
    },
    moved=lambda a, places: [np.concatenate([*places.values()], _axis(a))],
    shapes=_joined,
    contexts={
        "chain": contexts.chain("inputs_0"),
        "repeated": contexts.repeated,
        "doubled": contexts.doubled(_axis),
        "split": contexts.split(_axis),
    },
    readings={
        "inputs.zero-size": Reading(rejects=lambda a: any(map(is_empty, a.every("inputs")))),
        "inputs.other-types": Reading(rejects=lambda a: has_kind(a.every("inputs")[0], "boolean", "string")),
    },
)
