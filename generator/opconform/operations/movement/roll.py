"""Roll-7, from its specification page: data whose elements are shifted along some axes, and come back at the start."""

from collections.abc import Iterator

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments
from opconform.operations.interpretation import Reading
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.neighbours.exported import windows
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array

_TYPES = ("i32", "i64")


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def _is_one(arguments: Arguments) -> bool:
    """Whether the shift is a list of one element, for a scalar axis or a list of axes (Example 2)."""
    return arguments.shape("shift") == (1,)


def _has_other_length(arguments: Arguments) -> bool:
    """Whether the shift is a list that does not have one element per axis (Inputs, 2)."""
    shift = arguments.shape("shift")
    return len(shift) == 1 and shift != arguments.shape("axes") and not _is_one(arguments)


def _shifts(arguments: Arguments) -> Iterator[tuple[int, int]]:
    """Each axis, counted from the front, and its shift; an axis can occur several times (Inputs, 2 and 3)."""
    shift, axes = arguments.integers("shift"), arguments.integers("axes")
    several = shift * len(axes)  # of a list, only the first ones are read
    return ((from_front(axis, _rank(arguments)), x) for axis, x in zip(axes, several, strict=False))


def _rolled(arguments: Arguments, places: Places) -> list[Array]:
    data = places["data"]
    for axis, shift in _shifts(arguments):
        if size := data.shape[axis]:
            data = np.roll(data, shift % size, axis)
    return [data]


ROLL = Movement(
    name="Roll-7",
    inputs=(Port("data"), *(Port(name, setting=True, types=_TYPES, ranks=(0, 1)) for name in ("shift", "axes"))),
    checks={
        "shift.length": _has_other_length,
        "axes.range": lambda a: any(is_outside(integer, _rank(a)) for integer in a.integers("axes")),
    },
    moved=_rolled,
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
        "windows": windows,
    },
    facts={
        "a shift is as long as its dimension": lambda a: any(
            abs(shift) >= a.shape("data")[axis] for axis, shift in _shifts(a)
        ),
        "a shift is negative": lambda a: any(shift < 0 for _, shift in _shifts(a)),
        "an axis occurs twice": lambda a: len({axis for axis, _ in _shifts(a)}) < len(a.integers("axes")),
        "one shift is for several axes": lambda a: len(a.integers("shift")) < len(a.integers("axes")),
    },
    readings={"shift.one-element": Reading(rejects=lambda a: _is_one(a) and a.shape("axes") != (1,))},
)
