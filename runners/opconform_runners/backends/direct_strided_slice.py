"""StridedSlice-1 by a framework's own indexing, and what the harness does on its behalf."""

import operator
from collections.abc import Mapping, Sequence
from functools import partial
from types import EllipsisType
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Support, padded
from opconform_runners.backends.direct_slice import index_elements
from opconform_runners.backends.exceptions import Call

INDICES = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: The requirements that the harness fulfils, since indexing takes no masks and no tensors.
_MAPPED = (
    "data.required",
    "indices.count",
    "indices.empty",
    "masks.cut",
    "masks.omitted",
    "masks.padded",
    "masks.precedence",
    "masks.type",
    "masks.values",
    "shrink.begin-mask",
    "shrink.ignores-end",
    "shrink.ignores-stride",
    "stride.optional",
    "stride.zero-ignored",
    "types.independent",
    "new_axis.ignores",
    "ellipsis.ignores",
    *(f"{name}.{each}" for name in INDICES for each in ("element-type", "rank")),
    *(f"{name}.required" for name in INDICES[:2]),
)

#: One entry of an index as Python writes it.
Entry = slice | int | EllipsisType | None


def strided_slice_operation(*, stage: Stage = "build", has_negative_steps: bool = True) -> Support:
    """How a framework executes StridedSlice-1; `stage` is where it refuses a case."""
    return Support(execute=partial(_strided_slice, stage, has_negative_steps), mapped=_MAPPED)


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


def _strided_slice(
    stage: Stage, has_negative_steps: bool, call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]
) -> list[Any]:
    data, *given = padded(inputs, 4)
    if data is None:
        raise Rejected(stage, "data is missing", "data.required")
    indices = [index_elements(name, each, stage, optional="stride") for name, each in zip(INDICES, given, strict=True)]
    begin, end, stride = (each if each is not None else [1] * len(indices[0]) for each in indices)
    if len({len(each) for each in (begin, end, stride)}) > 1:
        raise Rejected(stage, "the inputs differ in their number of elements", "indices.count")
    index = index_of(tuple(data.shape), (begin, end, stride), bits_of(attributes, len(begin), stage))
    if not has_negative_steps and any(isinstance(each, slice) and each.step < 0 for each in index):
        raise Unsupported("the framework has no slices with a negative step")
    return [call(operator.getitem, data, index)]
