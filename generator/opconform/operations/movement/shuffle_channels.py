"""ShuffleChannels-1, from its specification page: groups of channels that are interleaved."""

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import RANKED
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.movement.depth import Parts, rearranged
from opconform.operations.operation import Movement
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES

_NUMBERS = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind != "string")


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def _axis(arguments: Arguments) -> int:
    return from_front(arguments.number("axis"), _rank(arguments))


def _channels(arguments: Arguments) -> int:
    return arguments.shape("data")[_axis(arguments)]


def _is_outside(arguments: Arguments) -> bool:
    """Whether there are fewer channels than groups, or no groups (Attributes, `group`, Range of values)."""
    return not 1 <= arguments.number("group") <= max(_channels(arguments), 1)


def _groups(arguments: Arguments) -> int:
    if _is_outside(arguments):
        raise Unknown
    return arguments.number("group")


def shuffled_parts(arguments: Arguments) -> Parts:
    """The channels as groups and the places in them, which change places (Detailed description)."""
    shape, axis, groups = arguments.shape("data"), _axis(arguments), _groups(arguments)
    parts = (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])
    rest = range(axis + 2, len(parts))
    return parts, (*range(axis), axis + 1, axis, *rest)


SHUFFLE_CHANNELS = Movement(
    name="ShuffleChannels-1",
    inputs=(Port("data", types=_NUMBERS, ranks=RANKED),),
    attributes=(AttributeSpec("axis", type="int", default=1), AttributeSpec("group", type="int", default=1)),
    checks={
        "axis.range": lambda a: is_outside(a.number("axis"), _rank(a)),
        "group.range": _is_outside,
        "group.divides": lambda a: _channels(a) % _groups(a) != 0,
    },
    moved=lambda a, places: [rearranged(places["data"], shuffled_parts(a), a.shape("data"))],
    shapes=lambda a: [a.shape("data")],
    contexts={"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0)},
    facts={
        "nothing moves": lambda a: _groups(a) in (1, _channels(a)),
        "the channels are the last dimension": lambda a: _axis(a) == _rank(a) - 1,
        "the channels are the first dimension": lambda a: _axis(a) == 0,
    },
    readings={
        "data.boolean": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean")),
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "group.no-channels": Reading(rejects=lambda a: _channels(a) == 0),
    },
)
