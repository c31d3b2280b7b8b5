"""SliceScatter-15, from its specification page: data with a region of steps along some axes replaced."""

from dataclasses import replace

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.movement.scatters.updates import DATA_READINGS, UPDATES, UPDATES_CHECKS, copied
from opconform.operations.movement.slices.slice import SLICE, slices_of
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.tensors.tensor import Array


def _expected(arguments: Arguments) -> Shape:
    """The shape of the region (Inputs, 2)."""
    if any(SLICE.checks[name](arguments) for name in SLICE.checks):
        raise Unknown
    pairs = zip(slices_of(arguments), arguments.shape("data"), strict=True)
    return tuple(len(range(*part.indices(size))) for part, size in pairs)


def _has_other_rank(arguments: Arguments) -> bool:
    return len(arguments.shape("updates")) != len(arguments.shape("data"))


def _has_other_shape(arguments: Arguments) -> bool:
    return not _has_other_rank(arguments) and arguments.shape("updates") != _expected(arguments)


def _updated(arguments: Arguments, places: Places) -> list[Array]:
    """The snippet of the page."""
    output = copied(places)
    output[tuple(slices_of(arguments))] = places["updates"]
    return [output]


_DATA, *_INDICES = SLICE.inputs
#: Slice-8 with updates, which the region has instead of being the output.
SLICE_SCATTER: Movement = replace(
    SLICE,
    name="SliceScatter-15",
    inputs=(_DATA, UPDATES, *_INDICES),
    checks={
        **SLICE.checks,
        **UPDATES_CHECKS,
        "updates.rank": _has_other_rank,
        "updates.shape": _has_other_shape,
    },
    moved=_updated,
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
    readings={**SLICE.readings, **DATA_READINGS},
)
