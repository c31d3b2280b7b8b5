"""GatherND-8 and 5, from their specification pages: elements or slices of data, each selected by a tuple of indices."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, RANKED
from opconform.operations.interpretation import Reading
from opconform.operations.movement.axis import DATA
from opconform.operations.movement.gathers.batches import BATCH_FACTS
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def _is_beyond(arguments: Arguments) -> bool:
    """Whether data or the indices have no dimension after `batch_dims` (Attributes)."""
    least = min(len(arguments.shape("data")), len(arguments.shape("indices")))
    return not 0 <= arguments.number("batch_dims") < least


def _batches(arguments: Arguments) -> int:
    if _is_beyond(arguments):
        raise Unknown
    return arguments.number("batch_dims")


def _length(arguments: Arguments) -> int:
    """The number of indices in a tuple."""
    return arguments.shape("indices")[-1]


def _is_too_long(arguments: Arguments) -> bool:
    """Whether tuples have more indices than data has dimensions (Detailed description)."""
    return _length(arguments) > len(arguments.shape("data"))


def _sizes(arguments: Arguments) -> Shape:
    """The dimensions of data that a tuple selects from."""
    batches, length = _batches(arguments), _length(arguments)
    if length > len(arguments.shape("data")) - batches:
        raise Unknown
    return arguments.shape("data")[batches : batches + length]


def _pairs(arguments: Arguments) -> Iterator[tuple[int, int]]:
    """Each index, and the size of the dimension that it is applied to."""
    sizes, indices = _sizes(arguments), arguments.integers("indices")
    return ((index, size) for place, size in enumerate(sizes) for index in indices[place :: len(sizes)])


def _leading(arguments: Arguments) -> Shape:
    """The batch dimensions. Dimensions of 1 are broadcast (Attributes, `batch_dims`, Description)."""
    batches = _batches(arguments)
    pairs = zip(arguments.shape("data")[:batches], arguments.shape("indices")[:batches], strict=True)
    return tuple(of_indices if of_data == 1 else of_data for of_data, of_indices in pairs)


def _are_unequal(arguments: Arguments) -> bool:
    """Whether batch dimensions differ, and neither is 1."""
    batches = _batches(arguments)
    pairs = zip(arguments.shape("data")[:batches], arguments.shape("indices")[:batches], strict=True)
    return any(of_data != of_indices and 1 not in (of_data, of_indices) for of_data, of_indices in pairs)


def _shape(arguments: Arguments) -> Shape:
    batches = _batches(arguments)
    slices = arguments.shape("data")[batches + _length(arguments) :]
    return (*_leading(arguments), *arguments.shape("indices")[batches:-1], *slices)


def _selected(arguments: Arguments, places: Places) -> list[Array]:
    """The slice at each tuple, in the data of the tuple's batch (Detailed description, formula)."""
    batches, length, leading = _batches(arguments), _length(arguments), _leading(arguments)
    data, shape = places["data"], arguments.shape("indices")
    rest, positions = data.shape[batches:], prod(shape[batches:-1])
    tuples = np.array(arguments.integers("indices"), np.int64).reshape(shape)
    blocks = np.broadcast_to(data, (*leading, *rest)).reshape(prod(leading), *rest)
    rows = np.broadcast_to(tuples, (*leading, *shape[batches:])).reshape(prod(leading), positions, length)
    array = np.empty((prod(leading), positions, *rest[length:]), blocks.dtype)
    for block, row, selected in zip(blocks, rows, array, strict=True):
        selected[:] = block[tuple(row.T)]
    return [array.reshape(_shape(arguments))]


def _alone(arguments: Arguments) -> list[bool]:
    """For each batch dimension, whether only the dimension of the indices is 1."""
    batches = _batches(arguments)
    pairs = zip(arguments.shape("data")[:batches], arguments.shape("indices")[:batches], strict=True)
    return [of_indices == 1 != of_data for of_data, of_indices in pairs]


def _first_batches(arguments: Arguments) -> Arguments:
    """Only the first batches of data, so that the output has the batch dimensions of the indices."""
    data, alone = arguments.operand("data"), _alone(arguments)
    shape = tuple(min(size, 1) if is_alone else size for size, is_alone in zip(data.shape, alone, strict=False))
    index = tuple(slice(0, size) for size in shape)
    tensor = (
        None if data.tensor is None else replace(data.tensor, array=data.tensor.array[index], bounds=None, reduced=None)
    )
    first = replace(data, shape=(*shape, *data.shape[len(alone) :]), tensor=tensor)
    return replace(arguments, inputs={**arguments.inputs, "data": first}) if any(alone) else arguments


GATHER_ND = Movement(
    name="GatherND-8",
    inputs=(DATA, Port("indices", setting=True, types=INTEGERS, ranks=RANKED)),
    attributes=(AttributeSpec("batch_dims", type="int", default=0),),
    checks={
        "batch_dims.range": _is_beyond,
        "batch_dims.broadcastable": _are_unequal,
        "indices.tuple-length": _is_too_long,
        "indices.tuple-after-batches": lambda a: (
            not _is_too_long(a) and _length(a) > len(a.shape("data")) - _batches(a)
        ),
        "indices.range": lambda a: any(not -size <= index < size for index, size in _pairs(a)),
    },
    moved=_selected,
    shapes=lambda a: [_shape(a)],
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(lambda _: -1),
    },
    facts=BATCH_FACTS,
    readings={
        "data.zero-size": Reading(rejects=lambda a: 0 in (*a.shape("data"), *a.shape("indices")[:-1])),
        "indices.empty-tuple": Reading(rejects=lambda a: _length(a) == 0),
        "batch_dims.broadcast-indices": Reading(rejects=lambda a: any(_alone(a)), rewrites=(_first_batches,)),
    },
)


def _joined_shape(arguments: Arguments) -> Shape:
    """The shape with all batch dimensions as one (GatherND-5, Attributes, `batch_dims`, Description)."""
    shape, batches = _shape(arguments), _batches(arguments)
    return (prod(shape[:batches]), *shape[batches:]) if batches else shape


def _joined(arguments: Arguments, places: Places) -> list[Array]:
    [array] = _selected(arguments, places)
    return [array.reshape(_joined_shape(arguments))]


#: Without negative indices, and with one dimension for all batches.
GATHER_ND_5 = replace(
    GATHER_ND,
    name="GatherND-5",
    checks={
        **GATHER_ND.checks,
        "indices.range": lambda a: any(not 0 <= index < size for index, size in _pairs(a)),
    },
    moved=_joined,
    shapes=lambda a: [_joined_shape(a)],
)
