"""How Gather, GatherElements and GatherND become calls of a framework, or indexing with tensors."""

from collections.abc import Callable, Sequence
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import batches_of, check_tuples, rank_of

#: Frameworks have defaults, and count dimensions differently.
_AXIS = ("axis.range", "axis.negative")
_MAPPED = (
    *_AXIS,
    *(f"batch_dims.{name}" for name in ("default", "range", "negative", "axis", "equal")),
)
#: Frameworks have no such attribute, or check it in another order.
_ND_MAPPED = (
    *("indices.tuple-length", "indices.tuple-after-batches"),
    *(f"batch_dims.{name}" for name in ("default", "range", "broadcastable", "broadcast", "broadcast-indices")),
)
#: What `indexed_nd` also fulfils.
INDEXED = ("indices.empty-tuple", "batch_dims.batches")

#: Indices in a type that a framework indexes with.
Index = Callable[[Any], Any]


def _unchanged(indices: Any) -> Any:
    return indices


def _along(data: Any, indices: Any, axis: Any, *, batch_dims: int = 0) -> Sequence[Any]:
    number, rank = axis[0] if isinstance(axis, list) else axis, rank_of(data)
    refuse_if(not -rank <= number < rank, "axis.range")
    return data, indices, number % rank, batches_of(batch_dims, (data, indices), number % rank)


def indexed(
    arange: Callable[[int], Any], data: Any, indices: Any, axis: int, batches: int, *, index: Index = _unchanged
) -> Any:
    """Slices along an axis by indexing with tensors, for frameworks with `permute` and without batch dimensions."""
    rank, positions = len(data.shape), len(indices.shape)
    dimensions, between = range(rank), range(positions, positions + axis - batches)
    first = (*dimensions[:batches], axis, *dimensions[batches:axis], *dimensions[axis + 1 :])
    last = (*range(batches), *between, *range(batches, positions), *range(between.stop, positions + rank - 1 - batches))
    return data.permute(first)[(*_grids(arange, indices.shape, batches), index(indices))].permute(last)


def _grids(arange: Callable[[int], Any], shape: Sequence[int], batches: int) -> list[Any]:
    """The range of each batch dimension of indices, in the shape in which it is broadcast over the indices."""
    return [
        arange(size).reshape((*(1,) * number, size, *(1,) * (len(shape) - number - 1)))
        for number, size in enumerate(shape[:batches])
    ]


def _elements(data: Any, indices: Any, *, axis: int) -> Sequence[Any]:
    rank, is_scalar = rank_of(data), isinstance(indices, int)
    if not is_scalar and rank_of(indices) == rank and -rank <= axis < rank:
        pairs = list(zip(data.shape, indices.shape, strict=True))
        del pairs[axis]
        refuse_if(any(None not in pair and pair[0] != pair[1] for pair in pairs), "indices.shape")
    return data, indices, axis


def _tuples(data: Any, indices: Any, *, batch_dims: int) -> Sequence[Any]:
    if rank_of(data) and rank_of(indices):
        check_tuples(data.shape, indices.shape, batch_dims)
    return data, indices, batch_dims


def indexed_nd(
    arange: Callable[[int], Any],
    expand: Callable[..., Any],
    data: Any,
    indices: Any,
    batches: int,
    *,
    index: Index = _unchanged,
) -> Any:
    """Slices at tuples by one index with a tensor per batch dimension and per place in a tuple.

    `expand` repeats a tensor along its dimensions of 1, up to a shape.
    """
    shapes = tuple(data.shape), tuple(indices.shape)
    leading = [b if a == 1 else a for a, b in zip(*shapes, strict=False)][:batches]
    whole, tuples = (
        tensor if [*shape[:batches]] == leading else expand(tensor, (*leading, *shape[batches:]))
        for tensor, shape in zip((data, index(indices)), shapes, strict=True)
    )
    positions, length = (*leading, *shapes[1][batches:-1]), shapes[1][-1]
    places = (*_grids(arange, positions, batches), *(tuples[..., place] for place in range(length)))
    taken = whole[places] if places else whole
    return taken if length else expand(taken, (*positions, *shapes[0][batches:]))


def joined(
    gathered: Callable[..., Any], collapse: Callable[[Any, int], Any], data: Any, indices: Any, batches: int
) -> Any:
    """What a function of tuples gives, with all batch dimensions as one, by a function of them and their number."""
    output = gathered(data, indices, batches)
    return collapse(output, batches) if batches > 1 else output


#: Data, indices, the axis counted from the front, and the number of batch dimensions.
ALONG = Adapter(_along, _MAPPED)
#: The same for an operation without batch dimensions.
ALONG_WHOLE = Adapter(_along, _AXIS)
#: Data, a tensor of indices, and the axis; frameworks broadcast the indices or allow fewer.
ELEMENTS = Adapter(_elements, ("indices.shape",))
#: Data, a tensor of tuples, and the number of batch dimensions.
TUPLES = Adapter(_tuples, _ND_MAPPED)
#: The same, with one dimension of the output for all batches.
TUPLES_JOINED = Adapter(_tuples, (*_ND_MAPPED, "outputs.batches"))
