"""What settings become where tensors are indexed as in Python: axes, slices, batches and sizes, with their constraints.

Sizes of None are not known yet.
"""

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if

#: The index inputs and the masks of StridedSlice-1.
INDICES = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: One entry of an index.
Entry = slice | int | EllipsisType | None


def rank_of(tensor: Any) -> int:
    """The rank of a framework's tensor; raises `Unsupported` if it is not known when the graph is built."""
    try:
        return len(tensor.shape)
    except ValueError as error:
        raise Unsupported("the dimensions of a tensor of unknown rank cannot be counted") from error


def copied(dimensions: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The sizes, with dimensions of data in place of zeros."""
    beyond = sizes[len(dimensions) :]
    refuse_if(0 in beyond[1:], "shape.zero-index")
    refuse_if(0 in beyond, "shape.zero-after-last")
    return [dimensions[index] if size == 0 else size for index, size in enumerate(sizes)]


def sliced(
    data: Any, start: list[int], stop: list[int], step: list[int], axes: list[int] | None
) -> tuple[Any, tuple[slice, ...]]:
    """Data, and the slice of each dimension."""
    along = _dimensions(range(len(start)) if axes is None else axes, rank_of(data))
    _check_counts(start, stop, step, along)
    slices = [slice(None)] * len(data.shape)
    for axis, *bounds in zip(along, start, stop, step, strict=True):
        slices[axis] = slice(*bounds)
    return data, tuple(slices)


def strided(
    data: Any, begin: list[int], end: list[int], stride: list[int] | None, **masks: Sequence[int]
) -> tuple[Any, tuple[Entry, ...]]:
    """Data, and the index for the slicing steps."""
    strides = [1] * len(begin) if stride is None else stride
    _check_counts(begin, end, strides)
    return data, _index(tuple(data.shape), (begin, end, strides), bits_of(masks, len(begin)))


def _check_counts(*lists: Sequence[int]) -> None:
    refuse_if(len({*map(len, lists)}) > 1, "indices.count")


def _dimensions(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front."""
    refuse_if(any(not -rank <= axis < rank for axis in axes), "axes.range")
    along = [axis % rank for axis in axes]
    refuse_if(len({*along}) < len(along), "axes.unique")
    return along


def bits_of(masks: Mapping[str, Any], count: int) -> dict[str, list[int]]:
    """The bits of every mask, padded with zeros or cut to the number of slicing steps."""
    return {name: [*masks.get(name, ()), *[0] * count][:count] for name in MASKS}


def _index(
    shape: Sequence[int | None], indices: Sequence[Sequence[int]], masks: Mapping[str, Sequence[int]]
) -> tuple[Entry, ...]:
    """The index that Python writes for the same slice of data of a shape.

    Python selects nothing if a backward slice begins before the first element, and the operation that element.
    """
    entries: list[Entry] = []
    steps = zip(*indices, *(masks[name] for name in MASKS), strict=True)
    for begin, end, stride, from_start, to_end, is_new, is_shrunk, is_ellipsis in steps:
        if is_ellipsis or is_new:
            entries.append(... if is_ellipsis else None)
        elif is_shrunk:
            entries.append(0 if from_start else begin)
        else:
            entries.append(slice(None if from_start else begin, None if to_end else end, stride))
    return tuple(_clamped(entry, size) for entry, size in zip(entries, _sizes(entries, shape), strict=True))


def _sizes(entries: Sequence[Entry], shape: Sequence[int | None]) -> list[int | None]:
    """The dimension of each entry, None if it has none or is not known."""
    places = [number for number, entry in enumerate(entries) if isinstance(entry, slice | int)]
    before = [place for place in places if ... not in entries[:place]]
    after = places[len(before) :]
    dimensions = dict(zip(before, shape, strict=False)) | dict(zip(after[::-1], shape[::-1], strict=False))
    return [dimensions.get(number) for number in range(len(entries))]


def _clamped(entry: Entry, size: int | None) -> Entry:
    if not isinstance(entry, slice) or entry.start is None or size is None or entry.step >= 0 or entry.start >= -size:
        return entry
    return slice(0, entry.stop, entry.step)


def batches_of(batch_dims: int, tensors: tuple[Any, Any], axis: int) -> int:
    """The number of batch dimensions of data and indices; sizes of None are not known yet."""
    ranks, shapes = [rank_of(tensor) for tensor in tensors], [tensor.shape for tensor in tensors]
    least, indices_rank = min(ranks), ranks[1]
    refuse_if(not -least <= batch_dims <= least, "batch_dims.range")
    batches = batch_dims + indices_rank if batch_dims < 0 else batch_dims
    refuse_if(batches > axis, "batch_dims.axis")
    refuse_if(
        any(None not in pair and pair[0] != pair[1] for pair in list(zip(*shapes, strict=False))[:batches]),
        "batch_dims.equal",
    )
    return batches


def check_tuples(data: Sequence[Any], indices: Sequence[Any], batches: int) -> None:
    """Raise `Rejected` if batch dimensions or tuples do not fit; sizes of None are not known yet."""
    rank, length = len(data), indices[-1]
    refuse_if(not 0 <= batches < min(rank, len(indices)), "batch_dims.range")
    pairs = list(zip(data, indices, strict=False))[:batches]
    refuse_if(any(a != b and not {None, 1} & {a, b} for a, b in pairs), "batch_dims.broadcastable")
    if length is not None:
        refuse_if(length > rank, "indices.tuple-length")
        refuse_if(length > rank - batches, "indices.tuple-after-batches")
