"""Slice-8 and StridedSlice-1 by a framework's own indexing, and what the harness does on its behalf."""

import operator
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Functions, Support, check_given, integer_list, padded
from opconform_runners.backends.exceptions import Call

_SLICE_INDICES = ("start", "stop", "step", "axes")
#: The index inputs and the masks of StridedSlice-1.
INDICES = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: The requirements of both operations that the harness fulfils, since indexing takes no tensors and no masks.
_MAPPED = ("data.required", "indices.count", "indices.empty", "types.independent")
_SLICE_MAPPED = (
    *_MAPPED,
    *(f"axes.{each}" for each in ("default", "negative", "range", "unique")),
    *(f"{name}.{each}" for name in _SLICE_INDICES for each in ("element-type", "rank")),
    *(f"{name}.required" for name in _SLICE_INDICES[:3]),
)
_STRIDED_SLICE_MAPPED = (
    *_MAPPED,
    *(f"masks.{each}" for each in ("cut", "omitted", "padded", "precedence", "type", "values")),
    *(f"shrink.{each}" for each in ("begin-mask", "ignores-end", "ignores-stride")),
    *("stride.optional", "stride.zero-ignored", "new_axis.ignores", "ellipsis.ignores"),
    *(f"{name}.{each}" for name in INDICES for each in ("element-type", "rank")),
    *(f"{name}.required" for name in INDICES[:2]),
)

#: One entry of an index as Python writes it.
Entry = slice | int | EllipsisType | None


def slice_operation(functions: Functions) -> Support:
    """How a framework executes Slice-8."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
        data, *indices, axes = padded(inputs, 5)
        check_given(stage, data=data)
        start, stop, step = (integer_list(*each, stage) for each in zip(_SLICE_INDICES, indices, strict=False))
        chosen = range(len(start)) if axes is None else integer_list("axes", axes, stage)
        along = dimensions_of(chosen, len(data.shape), stage)
        if len({len(each) for each in (start, stop, step, along)}) > 1:
            raise Rejected(stage, "the inputs differ in their number of elements", "indices.count")
        slices = [slice(None)] * len(data.shape)
        for axis, *bounds in zip(along, start, stop, step, strict=True):
            slices[axis] = slice(*bounds)
        return _indexed(call, data, tuple(slices), functions)

    return Support(execute=execute, mapped=_SLICE_MAPPED)


def strided_slice_operation(functions: Functions) -> Support:
    """How a framework executes StridedSlice-1."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, *given = padded(inputs, 4)
        check_given(stage, data=data)
        begin, end = (integer_list(*each, stage) for each in zip(INDICES, given[:2], strict=False))
        stride = [1] * len(begin) if given[2] is None else integer_list("stride", given[2], stage)
        if len({len(each) for each in (begin, end, stride)}) > 1:
            raise Rejected(stage, "the inputs differ in their number of elements", "indices.count")
        index = index_of(tuple(data.shape), (begin, end, stride), bits_of(attributes, len(begin), stage))
        return _indexed(call, data, index, functions)

    return Support(execute=execute, mapped=_STRIDED_SLICE_MAPPED)


def _indexed(call: Call, data: Any, index: tuple[Entry, ...], functions: Functions) -> list[Any]:
    if not functions.has_negative_steps and any(isinstance(each, slice) and (each.step or 1) < 0 for each in index):
        raise Unsupported("the framework has no slices with a negative step")
    return [call(operator.getitem, data, index)]


def dimensions_of(axes: Sequence[int], rank: int, stage: Stage) -> list[int]:
    """Axes counted from the front; `Rejected` if one is out of range or named twice."""
    if any(not -rank <= each < rank for each in axes):
        raise Rejected(stage, f"the axes {list(axes)} are out of range for rank {rank}", "axes.range")
    along = [each % rank for each in axes]
    if len(set(along)) < len(along):
        raise Rejected(stage, f"the axes {list(axes)} name a dimension twice", "axes.unique")
    return along


def bits_of(attributes: Mapping[str, Attribute], count: int, stage: Stage) -> dict[str, list[int]]:
    """The bits of every mask, padded with zeros or cut to the number of slicing steps."""
    bits: dict[str, list[int]] = {}
    for name in MASKS:
        given = attributes.get(name, ())
        if not isinstance(given, tuple) or any(type(each) is not int for each in given):
            raise Rejected(stage, f"{name} is not a list of integers", "masks.type")
        if any(each not in (0, 1) for each in given):
            raise Rejected(stage, f"{name} has values other than 0 and 1", "masks.values")
        bits[name] = [int(str(each)) for each in given][:count] + [0] * (count - len(given))
    return bits


def index_of(
    shape: Sequence[int | None], indices: Sequence[Sequence[int]], masks: Mapping[str, Sequence[int]]
) -> tuple[Entry, ...]:
    """The index that Python writes for the same slice of data of a shape.

    Python selects nothing if a backward slice begins before the first element, and the operation that element.
    """
    entries: list[Entry] = []
    steps = zip(*indices, *(masks[each] for each in MASKS), strict=True)
    for begin, end, stride, from_start, to_end, is_new, is_shrunk, is_ellipsis in steps:
        if is_ellipsis or is_new:
            entries.append(... if is_ellipsis else None)
        elif is_shrunk:
            entries.append(0 if from_start else begin)
        else:
            entries.append(slice(None if from_start else begin, None if to_end else end, stride))
    return tuple(_clamped(each, size) for each, size in zip(entries, _sizes(entries, shape), strict=True))


def _sizes(entries: Sequence[Entry], shape: Sequence[int | None]) -> list[int | None]:
    """The dimension of each entry, None if it has none or is not known."""
    places = [number for number, each in enumerate(entries) if isinstance(each, slice | int)]
    before = [each for each in places if ... not in entries[:each]]
    after = places[len(before) :]
    dimensions = dict(zip(before, shape, strict=False)) | dict(zip(after[::-1], shape[::-1], strict=False))
    return [dimensions.get(number) for number in range(len(entries))]


def _clamped(entry: Entry, size: int | None) -> Entry:
    if not isinstance(entry, slice) or entry.start is None or size is None or entry.step >= 0 or entry.start >= -size:
        return entry
    return slice(0, entry.stop, entry.step)
