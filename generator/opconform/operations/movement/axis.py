"""What several operations have in common: data with a dimension, and an axis into it."""

from collections.abc import Mapping

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, RANKED, Predicate
from opconform.suite.declarations import Port

#: Data with at least one dimension (Inputs, 1).
DATA = Port("data", ranks=RANKED)
#: An axis, which may be a list of one element (Inputs).
AXIS = Port("axis", setting=True, types=INTEGERS, shapes=((), (1,)))


def from_front(axis: int, rank: int) -> int:
    """An axis counted from the front; `Unknown` if there is no such dimension."""
    if not -rank <= axis < rank:
        raise Unknown
    return axis % rank


def given_axis(arguments: Arguments) -> int:
    """The axis as the input gives it."""
    return arguments.integers("axis")[0]


def axis_of(arguments: Arguments) -> int:
    """The dimension of data that the input axis names."""
    return from_front(given_axis(arguments), len(arguments.shape("data")))


def dimension(arguments: Arguments) -> int:
    """The size of that dimension."""
    return arguments.shape("data")[axis_of(arguments)]


def is_outside(axis: int, rank: int) -> bool:
    """Whether data of a rank has no such dimension."""
    return not -rank <= axis < rank


#: The check of the axis (Inputs, axis, range).
AXIS_CHECKS: Mapping[str, Predicate] = {
    "axis.range": lambda a: is_outside(given_axis(a), len(a.shape("data"))),
}
