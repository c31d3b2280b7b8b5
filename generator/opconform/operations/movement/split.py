"""Split-1 and VariadicSplit-1, from their specification pages: consecutive outputs along an axis."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.interpretation import Reading, types_differ
from opconform.operations.movement.axis import AXIS, AXIS_CHECKS, DATA, axis_of, dimension
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array

#: The length that means "the remaining elements" (VariadicSplit-1, Inputs, 3).
REMAINDER = -1

SizesOf = Callable[[Arguments], Sequence[int]]
_CONTEXTS = {
    "concat": contexts.concat(axis_of),
    "chain": contexts.chain("data"),
    "partial": contexts.partial,
    "shared": contexts.shared(axis_of),
    "convert": contexts.convert,
}
_FACTS: Mapping[str, Predicate] = {
    "an inner dimension is divided": lambda a: prod(a.shape("data")[: axis_of(a)]) > 1,
}


def _divided(sizes_of: SizesOf) -> Callable[[Arguments, Places], list[Array]]:
    """The consecutive parts of data that have some sizes along the axis."""

    def moved(arguments: Arguments, places: Places) -> list[Array]:
        sizes, before = sizes_of(arguments), (slice(None),) * axis_of(arguments)
        starts = accumulate(sizes, initial=0)
        return [
            places["data"][(*before, slice(start, start + size))] for start, size in zip(starts, sizes, strict=False)
        ]

    return moved


def _count(arguments: Arguments) -> int:
    """A positive number of outputs."""
    count = arguments.number("num_splits")
    if count < 1:
        raise Unknown
    return count


def _size(arguments: Arguments) -> int:
    """The size of the dimension that a positive number of outputs divides."""
    _count(arguments)
    return dimension(arguments)


def _equal_sizes(arguments: Arguments) -> Sequence[int]:
    count = _count(arguments)
    return (dimension(arguments) // count,) * count


SPLIT = Movement(
    name="Split-1",
    inputs=(DATA, replace(AXIS, shapes=((),))),
    attributes=(AttributeSpec("num_splits", type="int"),),
    checks={
        **AXIS_CHECKS,
        "num_splits.positive": lambda a: a.number("num_splits") < 1,
        "num_splits.zero-dimension": lambda a: _size(a) == 0,
        "num_splits.at-most-dimension": lambda a: 0 < _size(a) < _count(a),
        "num_splits.divides": lambda a: 0 < _size(a) % _count(a) < _size(a),
    },
    moved=_divided(_equal_sizes),
    requested=lambda a: a.number("num_splits"),
    contexts={**_CONTEXTS, "shape-of": contexts.shape_of("data", "axis")},
    facts={
        **_FACTS,
        "a single output is requested": lambda a: a.number("num_splits") == 1,
    },
)


def _fixed(arguments: Arguments) -> int:
    """The sum of the lengths that are given."""
    return sum(integer for integer in arguments.integers("split_lengths") if integer != REMAINDER)


def _excess(arguments: Arguments) -> int:
    """How many more elements the given lengths have than the dimension."""
    return _fixed(arguments) - dimension(arguments)


def _has_remainder(arguments: Arguments) -> bool:
    return REMAINDER in arguments.integers("split_lengths")


def _lengths(arguments: Arguments) -> list[int]:
    lengths = arguments.integers("split_lengths")
    return [-_excess(arguments) if x == REMAINDER else x for x in lengths]


VARIADIC_SPLIT = Movement(
    name="VariadicSplit-1",
    inputs=(DATA, AXIS, Port("split_lengths", setting=True, types=INTEGERS, ranks=(1,), prefix="lengths")),
    checks={
        **AXIS_CHECKS,
        "lengths.empty": lambda a: a.shape("split_lengths") == (0,),
        "lengths.negative": lambda a: any(integer < REMAINDER for integer in a.integers("split_lengths")),
        "lengths.single-remainder": lambda a: a.integers("split_lengths").count(REMAINDER) > 1,
        "lengths.remainder-sum": lambda a: _has_remainder(a) and _excess(a) > 0,
        "lengths.sum": lambda a: not _has_remainder(a) and _excess(a) != 0,
    },
    moved=_divided(_lengths),
    requested=lambda a: a.shape("split_lengths")[0],
    contexts={**_CONTEXTS, "shape-of": contexts.shape_of("data", "split_lengths")},
    facts={
        **_FACTS,
        "a single output is requested": lambda a: prod(a.operand("split_lengths").shape) == 1,
        "the lengths exceed the dimension": lambda a: not _has_remainder(a) and _excess(a) > 0,
        "the lengths exceed the dimension by 1": lambda a: not _has_remainder(a) and _excess(a) == 1,
        "the other lengths exceed the dimension": lambda a: _has_remainder(a) and _excess(a) > 0,
        "the other lengths exceed the dimension by 1": lambda a: _has_remainder(a) and _excess(a) == 1,
        "the sum of the lengths exceeds their element type": lambda a: (
            sum(a.integers("split_lengths")) > ELEMENT_TYPES[a.operand("split_lengths").element_type].maximum
        ),
    },
    readings={
        "types.independent": Reading(rejects=lambda a: types_differ(a, "axis", "split_lengths")),
        "lengths.zero": Reading(rejects=lambda a: dimension(a) != 0 and 0 in a.integers("split_lengths")),
        "lengths.remainder-zero": Reading(rejects=lambda a: dimension(a) > 0 == _excess(a) and _has_remainder(a)),
        "lengths.zero-dimension": Reading(rejects=lambda a: dimension(a) == 0),
    },
)
