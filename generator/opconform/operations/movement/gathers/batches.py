"""What the arguments of operations with batch dimensions and indices can have in common, in words."""

from collections.abc import Mapping
from math import prod

from opconform.operations.arguments import Arguments
from opconform.operations.checks import Predicate
from opconform.suite.case import Shape


def _leading(arguments: Arguments) -> tuple[Shape, Shape]:
    count = max(arguments.number("batch_dims"), 0)
    return arguments.operand("data").shape[:count], arguments.operand("indices").shape[:count]


def _tuple_length(arguments: Arguments) -> int:
    return (arguments.operand("indices").shape or (0,))[-1]


def _is_near(arguments: Arguments) -> bool:
    data, indices, batch_dims = arguments.operand("data"), arguments.operand("indices"), arguments.number("batch_dims")
    return -1 - len(indices.shape) <= batch_dims < -min(len(data.shape), len(indices.shape))


def _divides(arguments: Arguments) -> bool:
    data, positions = arguments.operand("data").shape, prod(arguments.operand("indices").shape[:-1])
    first, second = _leading(arguments)
    is_short = arguments.number("batch_dims") + _tuple_length(arguments) <= len(data)
    return first != () and len(first) == len(second) and prod(first) > 0 and positions % prod(first) == 0 and is_short


def _has_empty_slices(arguments: Arguments) -> bool:
    batch_dims, length = arguments.number("batch_dims"), _tuple_length(arguments)
    return batch_dims >= 0 < length and 0 in arguments.operand("data").shape[batch_dims + length :]


BATCH_FACTS: Mapping[str, Predicate] = {
    "batch_dims is out of range, and at most one dimension before those of the indices": _is_near,
    "only batch dimensions of 1 are given": lambda a: (
        0 < a.number("batch_dims") <= len(a.operand("data").shape) and prod(_leading(a)[0]) == 1
    ),
    "the batch dimensions of data and indices differ": lambda a: (
        len(_leading(a)[0]) == len(_leading(a)[1]) and _leading(a)[0] != _leading(a)[1]
    ),
    "the batches of data divide the tuples of the indices": _divides,
    "the dimensions after those of a tuple of indices have a 0": _has_empty_slices,
}
