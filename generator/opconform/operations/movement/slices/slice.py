"""Slice-8, from its specification page: a region of data, with steps, along some of its axes."""

from collections.abc import Sequence

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading, is_empty, types_differ
from opconform.operations.movement.axis import DATA, from_front, is_outside
from opconform.operations.movement.slices.strides import LONGEST, is_long_backwards, selects_only_the_first
from opconform.operations.operation import Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import Port

#: The indices of a slice. Each has one element per axis (Inputs, 2 to 4).
_INDICES = ("start", "stop", "step")


def _given_axes(arguments: Arguments) -> Sequence[int]:
    """The axes as given, or the first ones, as many as there are starts (Inputs, 5)."""
    if "axes" in arguments.inputs:
        return arguments.integers("axes")
    return range(len(arguments.integers("start")))


def _axes(arguments: Arguments) -> list[int]:
    rank = len(arguments.shape("data"))
    return [from_front(given_axis, rank) for given_axis in _given_axes(arguments)]


def _lengths(arguments: Arguments) -> set[Shape]:
    """The lengths of the lists (Inputs, 4 and last sentence)."""
    shapes = [arguments.inputs[index].shape for index in (*_INDICES, "axes") if index in arguments.inputs]
    return {shape for shape in shapes if len(shape) == 1}


def slices_of(arguments: Arguments) -> list[slice]:
    """The slice of each dimension of data."""
    bounds = [arguments.integers(index) for index in _INDICES]
    slices = [slice(None)] * len(arguments.shape("data"))
    for axis, *limits in zip(_axes(arguments), *bounds, strict=True):
        slices[axis] = slice(*limits)
    return slices


def _sliced(arguments: Arguments) -> list[tuple[slice, int]]:
    """The slices of valid steps, with the sizes of their dimensions."""
    if 0 in arguments.integers("step") or len(_lengths(arguments)) > 1:
        raise Unknown
    pairs = zip(slices_of(arguments), arguments.shape("data"), strict=True)
    return [(x, size) for x, size in pairs if x.step]


def _is_empty_sliced(arguments: Arguments) -> bool:
    shape = arguments.operand("data").shape
    empty = [axis for place, size in enumerate(shape) if not size for axis in (place, place - len(shape))]
    return any(given_axis in empty for given_axis in _given_axes(arguments))


SLICE = Movement(
    name="Slice-8",
    inputs=(
        DATA,
        *(Port(index, setting=True, types=INTEGERS, ranks=(1,)) for index in _INDICES),
        Port("axes", setting=True, types=INTEGERS, ranks=(1,), optional=True),
    ),
    checks={
        "indices.count": lambda a: len(_lengths(a)) > 1,
        "step.zero": lambda a: 0 in a.integers("step"),
        "axes.range": lambda a: any(is_outside(given_axis, len(a.shape("data"))) for given_axis in _given_axes(a)),
        "axes.unique": lambda a: len({*_axes(a)}) < len(_axes(a)),
    },
    moved=lambda a, places: [places["data"][tuple(slices_of(a))]],
    contexts={"chain": contexts.chain("data")},
    facts={
        "a negative step is beyond 31 bits": lambda a: is_long_backwards(a, "step"),
        "a dimension of 0 is sliced": _is_empty_sliced,
        "a backward slice starts and stops before the first element": lambda a: any(
            x.step < 0 and max(x.start, x.stop) < -size < 0 for x, size in _sliced(a)
        ),
        "a slice starts or stops beyond 31 bits inside data": lambda a: any(
            LONGEST < abs(end) <= size for x, size in _sliced(a) for end in (x.start, x.stop)
        ),
        "no dimension is sliced": lambda a: not a.integers("start"),
        "a backward slice selects only the first element": lambda a: selects_only_the_first(
            range(*x.indices(size)) for x, size in _sliced(a)
        ),
    },
    readings={
        "indices.empty": Reading(rejects=lambda a: is_empty(a.operand("start"))),
        "types.independent": Reading(rejects=lambda a: types_differ(a, *_INDICES)),
    },
)
