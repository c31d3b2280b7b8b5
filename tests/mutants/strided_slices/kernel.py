"""StridedSlice-1 in small steps: a right implementation whose hooks the rows replace."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hooks, refuse

INDICES = ("begin", "end", "stride")
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def _outputs(call: Call) -> list[Tensor]:
    data = call.inputs.get("data")
    if data is None:
        return refuse("data is missing")
    for name in INDICES:
        if name not in call.inputs:
            call.do("check_missing", name)
            continue
        call.do("check_index_type", name, call.inputs[name])
        call.do("check_index_rank", name, call.inputs[name])
    call.do("check_counts", [call.inputs[each].shape for each in INDICES if each in call.inputs])
    for name in MASKS:
        call.do("check_mask", name, call.attributes.get(name, ()))
    kinds: list[str] = call.do("kinds", len(call.do("index_values", "begin")), len(data.shape))
    call.do("check_kinds", kinds, data.shape)
    array, axis, shape = data.array, 0, list[int]()
    for number, kind in enumerate(kinds):
        if kind == "new":
            shape.append(1)
            continue
        selected: range = call.do("step", kind, number, array.shape[axis])
        array = call.do("taken", array, axis, selected)
        shape += [array.shape[axis]] if kind != "shrink" else []
        axis += 1
    return [Tensor(element_type=data.element_type, array=array.reshape(call.do("shaped", shape, array)))]


def _check_missing(_call: Call, name: str) -> None:
    if name != "stride":
        refuse(f"{name} is missing")


def _check_type(_call: Call, name: str, given: Tensor) -> None:
    if not given.type.is_integer:
        refuse(f"{name} is not of an integer type")


def _check_rank(_call: Call, name: str, given: Tensor) -> None:
    if len(given.shape) != 1:
        refuse(f"{name} is not a list")


def _check_counts(_call: Call, shapes: list[tuple[int, ...]]) -> None:
    if len(set(shapes)) > 1:
        refuse("the numbers of elements differ")


def _check_mask(call: Call, name: str, mask: object) -> None:
    call.do("check_mask_type", name, mask)
    call.do("check_mask_values", name, mask)


def _check_mask_type(_call: Call, name: str, mask: object) -> None:
    if not isinstance(mask, tuple) or any(type(each) is not int for each in mask):
        refuse(f"{name} is not a list of integers")


def _check_mask_values(_call: Call, name: str, mask: Sequence[int]) -> None:
    if not {*mask} <= {0, 1}:
        refuse(f"{name} has other values than 0 and 1")


def _bits(call: Call, name: str, count: int) -> list[int]:
    """The bits of a mask, as many as there are slicing steps."""
    given = call.attributes.get(name, ())
    mask = given if isinstance(given, tuple) else ()
    return [*(int(str(each)) for each in mask), *[0] * count][:count]


def _kinds(call: Call, count: int, rank: int) -> list[str]:
    """What happens to each dimension: `slice`, `shrink`, `new` or `whole`."""
    new, shrink, ellipsis = (call.do("bits", each, count) for each in MASKS[2:])
    kinds = [call.do("kind", *bits) for bits in zip(ellipsis, new, shrink, strict=True)]
    call.do("check_ellipses", kinds)
    others: int = call.do("others", kinds, rank)
    if "ellipsis" not in kinds:
        kinds += call.do("rest", others)
    return [one for each in kinds for one in (call.do("skipped_dimensions", others) if each == "ellipsis" else [each])]


def _kind(_call: Call, ellipsis: int, new: int, shrink: int) -> str:
    return "ellipsis" if ellipsis else "new" if new else "shrink" if shrink else "slice"


def _check_ellipses(_call: Call, kinds: list[str]) -> None:
    if kinds.count("ellipsis") > 1:
        refuse("there is more than one ellipsis")


def _others(_call: Call, kinds: list[str], rank: int) -> int:
    """The number of dimensions that have no slicing step."""
    return rank - sum(each in ("slice", "shrink") for each in kinds)


def _whole(_call: Call, others: int) -> list[str]:
    return ["whole"] * others


def _check_kinds(_call: Call, kinds: list[str], shape: Sequence[int]) -> None:
    if sum(each != "new" for each in kinds) != len(shape):
        refuse("there are more slicing steps than dimensions")


def _place(call: Call, number: int) -> int:
    """The slicing step that a dimension of the index belongs to: an ellipsis is one, of any number of dimensions."""
    count = len(call.do("index_values", "begin"))
    ellipsis: list[int] = call.do("bits", "ellipsis_mask", count)
    if 1 not in ellipsis or number < ellipsis.index(1):
        return number
    kinds = call.do("kinds", count, len(call.inputs["data"].shape))
    return number - (len(kinds) - count)


def _step(call: Call, kind: str, number: int, size: int) -> range:
    """The elements along one dimension that remain."""
    if kind == "whole":
        return range(size)
    at: int = call.do("place", number)
    if kind == "shrink":
        return call.do("removed", at, size)  # type: ignore[no-any-return]
    begin, end, stride = (call.do("index_values", each)[at] for each in INDICES)
    call.do("check_stride", stride, size)
    first: int = call.do("first", begin, stride, size)
    last: int = call.do("last", end, stride, size)
    if call.do("bits", "begin_mask", at + 1)[at]:
        first = call.do("start", first, stride, size)
    if call.do("bits", "end_mask", at + 1)[at]:
        last = call.do("rest_of", last, stride, size)
    selected: range = call.do("stepped", first, last, stride) if size else range(0)
    return selected


def _removed(call: Call, at: int, size: int) -> range:
    index: int = call.do("removed_index", at, size)
    call.do("check_removed", index, size)
    index = call.do("index_from_front", index, size)
    return range(index, index + 1)


def _removed_index(call: Call, at: int, _size: int) -> int:
    from_start, begin = call.do("bits", "begin_mask", at + 1)[at], call.do("index_values", "begin")[at]
    return 0 if from_start else int(begin)


def _check_removed(_call: Call, index: int, size: int) -> None:
    if not -size <= index < size:
        refuse("there is no such element")


def _check_stride(_call: Call, stride: int, _size: int) -> None:
    if stride == 0:
        refuse("a stride is 0")


def _values(call: Call, name: str) -> list[int]:
    """The elements of an index input."""
    return call.inputs[name].integers() if name in call.inputs else call.do("strides")


def _strides(call: Call) -> list[int]:
    return [1] * len(call.inputs["begin"].integers())


def _index_from_front(_call: Call, bound: int, size: int) -> int:
    return bound + size if bound < 0 else bound


def _first(call: Call, begin: int, stride: int, size: int) -> int:
    counted: int = call.do("index_from_front", begin, size)
    return min(max(counted, 0), size if stride > 0 else size - 1)


def _last(call: Call, end: int, stride: int, size: int) -> int:
    counted: int = call.do("index_from_front", end, size)
    return min(max(counted, 0 if stride > 0 else -1), size)


def _start(_call: Call, _first_one: int, stride: int, size: int) -> int:
    return 0 if stride > 0 else size - 1


def _rest_of(_call: Call, _last_one: int, stride: int, size: int) -> int:
    return size if stride > 0 else -1


def _stepped(_call: Call, first: int, last: int, stride: int) -> range:
    return range(first, last, stride)


def _taken(_call: Call, array: Array, axis: int, selected: Sequence[int]) -> Array:
    if not array.size:  # a dimension without elements can be larger than memory
        return np.empty((*array.shape[:axis], len(selected), *array.shape[axis + 1 :]), array.dtype)
    return array.take(np.array(selected, np.int64), axis)


def _shaped(_call: Call, shape: list[int], _array: Array) -> list[int]:
    return shape


#: The hooks of StridedSlice-1.
STRIDED_SLICE: Hooks = MappingProxyType(
    {
        "StridedSlice-1": _outputs,
        "check_missing": _check_missing,
        "check_index_type": _check_type,
        "check_index_rank": _check_rank,
        "check_counts": _check_counts,
        "check_mask": _check_mask,
        "check_mask_type": _check_mask_type,
        "check_mask_values": _check_mask_values,
        "bits": _bits,
        "kinds": _kinds,
        "kind": _kind,
        "check_ellipses": _check_ellipses,
        "others": _others,
        "rest": _whole,
        "skipped_dimensions": _whole,
        "check_kinds": _check_kinds,
        "place": _place,
        "step": _step,
        "removed": _removed,
        "removed_index": _removed_index,
        "check_removed": _check_removed,
        "check_stride": _check_stride,
        "index_values": _values,
        "strides": _strides,
        "index_from_front": _index_from_front,
        "first": _first,
        "last": _last,
        "start": _start,
        "rest_of": _rest_of,
        "stepped": _stepped,
        "taken": _taken,
        "shaped": _shaped,
    }
)
