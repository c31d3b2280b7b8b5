"""StridedSlice-1, from its specification page: a region of data, with strides, new and removed dimensions."""

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.movement.axis import is_outside
from opconform.operations.movement.slices.readings import STRIDED_SLICE_READINGS
from opconform.operations.movement.slices.steps import (
    INDICES,
    MASKS,
    counts_of,
    index_of,
    kinds_of,
    parts_of,
    steps_of,
    taken_by,
    values_of,
)
from opconform.operations.movement.slices.strides import is_long_backwards, selects_only_the_first
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def _shape(arguments: Arguments) -> Shape:
    parts = parts_of(arguments)
    sizes = (1 if part is None else len(part) for part in parts if not isinstance(part, int))
    return (*sizes, *arguments.shape("data")[sum(part is not None for part in parts) :])


def _moved(arguments: Arguments, places: Places) -> list[Array]:
    index = tuple(
        slice(part.start, part.stop if part.stop >= 0 else None, part.step) if isinstance(part, range) else part
        for part in parts_of(arguments)
    )
    return [places["data"][index]]


def _has_zero_stride(arguments: Arguments) -> bool:
    return ("slice", 0) in zip(kinds_of(arguments), values_of(arguments, "stride"), strict=True)


def _ranges(arguments: Arguments) -> list[range]:
    """The selected elements of the sliced dimensions."""
    if _has_zero_stride(arguments):
        raise Unknown
    return [part for part in parts_of(arguments) if isinstance(part, range)]


def _ends_where_it_begins(arguments: Arguments) -> bool:
    indices = (arguments.integers(index) for index in INDICES)
    return any(stride < 0 and begin == end for begin, end, stride in zip(*indices, strict=False))


STRIDED_SLICE = Movement(
    name="StridedSlice-1",
    inputs=(
        Port("data"),
        *(Port(index, setting=True, types=INTEGERS, ranks=(1,), optional=index == "stride") for index in INDICES),
    ),
    attributes=tuple(AttributeSpec(mask, type="ints", values=(0, 1), default=(0,), prefix="masks") for mask in MASKS),
    checks={
        "indices.count": lambda a: len(counts_of(a)) > 1,
        "stride.zero": _has_zero_stride,
        "ellipsis.single": lambda a: kinds_of(a).count("ellipsis") > 1,
        "indices.rank": lambda a: taken_by(a) > len(a.shape("data")),
        "shrink.range": lambda a: any(
            step.kind == "shrink" and is_outside(index_of(a, step.number), step.size) for step in steps_of(a)
        ),
    },
    moved=_moved,
    shapes=lambda a: [_shape(a)],
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(lambda _: -1),
        "shape-of": contexts.shape_of("data", "end"),
    },
    facts={
        "a negative step is beyond 31 bits": lambda a: is_long_backwards(a, "stride"),
        "a backward slice ends where it begins": _ends_where_it_begins,
        "a backward slice selects only the first element": lambda a: selects_only_the_first(_ranges(a)),
        "no dimension is sliced": lambda a: "slice" not in kinds_of(a),
    },
    readings=STRIDED_SLICE_READINGS,
)
