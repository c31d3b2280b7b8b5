"""Gather-8, 7 and 1, from their specification pages: slices of data along an axis, selected by a tensor of indices."""

from dataclasses import replace
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.movement.axis import AXIS, AXIS_CHECKS, DATA, axis_of, dimension
from opconform.operations.movement.gathers.batches import BATCH_FACTS
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array


def _ranks(arguments: Arguments) -> tuple[int, int]:
    return len(arguments.shape("data")), len(arguments.shape("indices"))


def _given_batches(arguments: Arguments) -> int:
    """The attribute `batch_dims`, which Gather-1 does not have."""
    return arguments.number("batch_dims") if "batch_dims" in arguments.attributes else 0


def _is_beyond(arguments: Arguments) -> bool:
    """Whether there are fewer dimensions than `batch_dims` (Attributes)."""
    return not -min(_ranks(arguments)) <= _given_batches(arguments) <= min(_ranks(arguments))


def _batches(arguments: Arguments) -> int:
    """The number of batch dimensions (Attributes, `batch_dims`, Description)."""
    if _is_beyond(arguments):
        raise Unknown
    batch_dims = _given_batches(arguments)
    return batch_dims + _ranks(arguments)[1] if batch_dims < 0 else batch_dims


def _leading(arguments: Arguments) -> tuple[Shape, Shape]:
    """The batch dimensions of data and of the indices; data has fewer if it has not as many dimensions."""
    batches = _batches(arguments)
    return arguments.shape("data")[:batches], arguments.shape("indices")[:batches]


def _shape(arguments: Arguments) -> Shape:
    axis, data, indices = axis_of(arguments), arguments.shape("data"), arguments.shape("indices")
    return (*data[:axis], *indices[_batches(arguments) :], *data[axis + 1 :])


def _selected(arguments: Arguments, places: Places) -> list[Array]:
    """The elements at the indices, and zeros where an index is out of range (Detailed description)."""
    axis, batches, indices = axis_of(arguments), _batches(arguments), arguments.integers("indices")
    shape, size = arguments.shape("data"), arguments.shape("data")[axis]
    count, before, after = (prod(x) for x in (shape[:batches], shape[batches:axis], shape[axis + 1 :]))
    blocks = places["data"].reshape(count, before, size, after)
    inside = [index % size if -size <= index < size else size for index in indices]
    rows = np.array(inside, np.int64).reshape(count, prod(arguments.shape("indices")[batches:]))
    taken = np.full((count, before, rows.shape[1], after), places.none, blocks.dtype)
    for block, row, output in zip(blocks, rows, taken, strict=True):
        known = row < size
        output[:, known] = block[:, row[known]]
    return [taken.reshape(_shape(arguments))]


def _is_empty(arguments: Arguments) -> bool:
    """Whether a batch has no output, although there are batches."""
    axis, batches, shape = axis_of(arguments), _batches(arguments), arguments.shape("data")
    rest = (*shape[batches:axis], *arguments.shape("indices")[batches:], *shape[axis + 1 :])
    return 0 not in shape[:batches] and 0 in rest


GATHER = Movement(
    name="Gather-8",
    inputs=(DATA, Port("indices", setting=True, filled=True, types=INTEGERS), AXIS),
    attributes=(AttributeSpec("batch_dims", type="int", default=0),),
    checks={
        **AXIS_CHECKS,
        "batch_dims.range": _is_beyond,
        "batch_dims.axis": lambda a: _batches(a) > axis_of(a),
        "batch_dims.equal": lambda a: any(first != second for first, second in zip(*_leading(a), strict=False)),
    },
    moved=_selected,
    shapes=lambda a: [_shape(a)],
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(axis_of),
    },
    facts={**BATCH_FACTS, "the output of a batch is empty": _is_empty},
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data")) or is_empty(a.operand("indices"))),
    },
)


def _is_outside(arguments: Arguments) -> bool:
    """Whether an index is negative, or beyond the dimension (Gather-7 and Gather-1, Inputs, 2)."""
    size = dimension(arguments)
    return any(not 0 <= index < size for index in arguments.integers("indices"))


#: Without negative indices, and without zeros where an index is out of range.
GATHER_7 = replace(
    GATHER,
    name="Gather-7",
    inputs=(DATA, Port("indices", setting=True, types=INTEGERS), AXIS),
    checks={**GATHER.checks, "indices.range": _is_outside},
)

#: Gather-7 without batch dimensions.
GATHER_1 = replace(
    GATHER_7,
    name="Gather-1",
    attributes=(),
    checks={**AXIS_CHECKS, "indices.range": _is_outside},
)
