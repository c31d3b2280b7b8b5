"""Select-1, from its specification page: elements of one of two tensors, by a mask."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.broadcasting import RULES, attribute, follows
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array

_NAMES = ("cond", "on_true", "on_false")


def _pairs(first: Shape, second: Shape) -> list[tuple[int, int]]:
    """The dimensions of two shapes at the same place from the end; missing ones are 1."""
    rank = max(len(first), len(second))
    return [*zip(*((1,) * (rank - len(x)) + x for x in (first, second)), strict=True)]


def _fits(part: Shape, whole: Shape) -> bool:
    """Whether a tensor is repeated to a shape."""
    return len(part) <= len(whole) and all(a in (1, b) for a, b in _pairs(part, whole))


def _shape(arguments: Arguments) -> Shape:
    """The shape of both tensors broadcast to each other; under `pdpd`, the shape of the first one."""
    first, second = (arguments.shape(name) for name in _NAMES[1:])
    if not follows(arguments, "numpy"):
        if not _fits(second, first):
            raise Unknown
        return first
    pairs = _pairs(first, second)
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise Unknown
    return tuple(b if a == 1 else a for a, b in pairs)


def _differ(arguments: Arguments) -> bool:
    first, second = (arguments.shape(name) for name in _NAMES[1:])
    return follows(arguments, "numpy") and any(a != b and 1 not in (a, b) for a, b in _pairs(first, second))


def _selected(arguments: Arguments, places: Places) -> list[Array]:
    shape = _shape(arguments)
    mask = arguments.tensor("cond").array
    return [np.where(np.broadcast_to(mask, shape), places["on_true"], places["on_false"])]


SELECT = Movement(
    name="Select-1",
    inputs=(Port("cond", setting=True, filled=True, types=("boolean",)), Port("on_true"), Port("on_false")),
    attributes=(attribute(RULES),),
    checks={
        "on_false.same-type": lambda a: a.operand("on_true").element_type != a.operand("on_false").element_type,
        "none.shapes": lambda a: follows(a, "none") and len({a.shape(name) for name in _NAMES}) > 1,
        "numpy.dimensions": _differ,
        "pdpd.dimensions": lambda a: follows(a, "pdpd") and not _fits(a.shape("on_false"), a.shape("on_true")),
        "cond.shape": lambda a: not follows(a, "none") and not _fits(a.shape("cond"), _shape(a)),
    },
    moved=_selected,
    shapes=lambda a: [_shape(a)],
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "all inputs have the same shape": lambda a: len({a.shape(name) for name in _NAMES}) == 1,
        "the mask is broadcast": lambda a: a.shape("cond") != _shape(a),
        "the mask is a scalar": lambda a: a.shape("cond") == (),
        "both tensors are broadcast": lambda a: _shape(a) not in (a.shape("on_true"), a.shape("on_false")),
    },
    readings={"on_true.other-types": Reading(rejects=lambda a: has_kind(a.operand("on_true"), "boolean", "string"))},
)
