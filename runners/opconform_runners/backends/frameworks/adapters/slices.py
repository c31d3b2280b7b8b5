"""How Slice-8 and StridedSlice-1 become an index, as Python writes it."""

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.framework import Adapter, rank_of

#: The index inputs and the masks of StridedSlice-1.
INDICES = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: Indexing takes no tensors and no masks.
_MAPPED = ("indices.count", "indices.empty", "types.independent")
_AXES = tuple(f"axes.{name}" for name in ("default", "negative", "range", "unique"))
_MASKS = (
    *(f"masks.{name}" for name in ("cut", "omitted", "padded", "precedence")),
    *(f"shrink.{name}" for name in ("begin-mask", "ignores-end", "ignores-stride")),
    *("stride.optional", "stride.zero-ignored", "new_axis.ignores", "ellipsis.ignores"),
)

#: One entry of an index.
Entry = slice | int | EllipsisType | None


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


#: Data and an index, for Slice-8. The rank of data is left to the framework.
SLICES = Adapter(sliced, (*_MAPPED, *_AXES), ("data.required", "start", "stop", "step", "axes"))
#: Data and an index, for StridedSlice-1.
STRIDED = Adapter(strided, (*_MAPPED, *_MASKS))
