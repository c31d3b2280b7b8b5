"""Gather-8 and GatherND-8 by a framework's own functions or indexing, and what the harness does on its behalf."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opconform.errors import counted
from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Functions, Support, check_given, padded
from opconform_runners.backends.exceptions import Call

#: The requirements that the harness fulfils, since frameworks have defaults and count dimensions differently.
_MAPPED = (
    "data.required",
    "data.rank",
    "indices.required",
    "indices.element-type",
    *(f"axis.{each}" for each in ("required", "shape", "element-type", "range", "negative")),
    *(f"batch_dims.{each}" for each in ("default", "type", "range", "negative", "axis", "equal")),
)
#: Those of GatherND-8, since frameworks have no such attribute, or check it in another order.
_ND_MAPPED = (
    *(f"data.{each}" for each in ("required", "rank")),
    *(f"indices.{each}" for each in ("required", "rank", "element-type", "tuple-length", "tuple-after-batches")),
    *(f"batch_dims.{each}" for each in ("default", "type", "range", "broadcastable", "broadcast", "broadcast-indices")),
)
#: Those that it also fulfils where a framework indexes with one tensor per place in a tuple.
_INDEXED = ("indices.empty-tuple", "batch_dims.batches")


def gather_operation(functions: Functions) -> Support:
    """How a framework executes Gather-8."""
    stage = functions.stage

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, indices, axis = padded(inputs, 3)
        if isinstance(data, list):  # of numbers, for a control input
            return [[data[each] for each in indices] if isinstance(indices, list) else data[indices]]
        check_given(stage, data=data, indices=indices, axis=axis)
        if indices.dtype not in functions.integers:
            raise Rejected(stage, f"the indices are of type {indices.dtype}", "indices.element-type")
        along = _axis(axis, len(data.shape), stage)
        batches = batches_of(attributes.get("batch_dims", 0), (data.shape, indices.shape), along, stage)
        return [call(functions.take, data, indices, along, batches)]

    return Support(execute=execute, mapped=_MAPPED)


def _axis(axis: Any, rank: int, stage: Stage) -> int:
    """The axis, counted from the front."""
    if isinstance(axis, np.ndarray):  # of a type that Python does not have
        raise Rejected(stage, f"the axis is of type {axis.dtype}", "axis.element-type")
    if not isinstance(axis, int | float | bool | str | list):
        raise Unsupported("the axis is given at run time, and the framework's is a number")
    if not rank:
        raise Rejected(stage, "data of rank 0 has no axis", "data.rank")
    if isinstance(axis, list) and (len(axis) != 1 or isinstance(axis[0], list)):
        raise Rejected(stage, f"the axis {axis} is not one number", "axis.shape")
    given = axis[0] if isinstance(axis, list) else axis
    if type(given) is not int:
        raise Rejected(stage, f"the axis {given!r} is not an integer", "axis.element-type")
    if not -rank <= given < rank:
        raise Rejected(stage, f"the axis {given} is out of range for rank {rank}", "axis.range")
    return given % rank


def batches_of(given: Any, shapes: tuple[Sequence[Any], Sequence[Any]], axis: int, stage: Stage) -> int:
    """The number of batch dimensions of data and indices; sizes of None are not known yet."""
    least, indices_rank = min(map(len, shapes)), len(shapes[1])
    if type(given) is not int:
        raise Rejected(stage, f"batch_dims {given!r} is not an integer", "batch_dims.type")
    if not -least <= given <= least:
        raise Rejected(stage, f"batch_dims {given} is out of range for a rank of {least}", "batch_dims.range")
    batches = given + indices_rank if given < 0 else given
    if batches > axis:
        raise Rejected(stage, f"batch_dims {given} is after axis {axis}", "batch_dims.axis")
    if any(None not in pair and pair[0] != pair[1] for pair in list(zip(*shapes, strict=False))[:batches]):
        raise Rejected(stage, "data and indices differ in their batch dimensions", "batch_dims.equal")
    return batches


def indexed(arange: Callable[[int], Any], data: Any, indices: Any, axis: int, batches: int) -> Any:
    """`Functions.take` by indexing with tensors, for frameworks with `permute` and without batch dimensions."""
    first, last = orders(len(data.shape), len(indices.shape), axis, batches)
    grids = [arange(size).reshape(shape) for size, shape in batch_grids(indices.shape, batches)]
    return data.permute(first)[(*grids, indices)].permute(last)


def orders(rank: int, indices_rank: int, axis: int, batches: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The order of data's dimensions for indexing, with the axis after the batches, and that of the selected ones."""
    dimensions, between = range(rank), range(indices_rank, indices_rank + axis - batches)
    after = range(between.stop, indices_rank + rank - 1 - batches)
    first = (*dimensions[:batches], axis, *dimensions[batches:axis], *dimensions[axis + 1 :])
    return first, (*range(batches), *between, *range(batches, indices_rank), *after)


def batch_grids(shape: Sequence[int], batches: int) -> list[tuple[int, tuple[int, ...]]]:
    """The size of each batch dimension of indices, and the shape in which its range is broadcast over the indices."""
    return [
        (size, (*(1,) * number, size, *(1,) * (len(shape) - number - 1))) for number, size in enumerate(shape[:batches])
    ]


def gather_nd_operation(functions: Functions) -> Support:
    """How a framework executes GatherND-8."""
    stage, expand = functions.stage, functions.expand

    def execute(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
        data, indices = padded(inputs, 2)
        check_given(stage, data=data, indices=indices)
        for name, each in (("data", data), ("indices", indices)):
            if not len(each.shape):
                raise Rejected(stage, f"{name} has no dimension", f"{name}.rank")
        if indices.dtype not in functions.integers:
            raise Rejected(stage, f"the indices are of type {indices.dtype}", "indices.element-type")
        batches = broadcast_batches_of(attributes.get("batch_dims", 0), data.shape, indices.shape, stage)
        check_tuples(indices.shape[-1], len(data.shape), batches, stage)
        return [call(taken, data, indices, batches)]

    def taken(data: Any, indices: Any, batches: int) -> Any:
        if expand is None:
            return functions.take_nd(data, indices, batches)
        leading = leading_sizes(data.shape, indices.shape, batches)
        whole, tuples = (
            each if list(each.shape[:batches]) == leading else expand(each, (*leading, *each.shape[batches:]))
            for each in (data, indices)
        )
        return functions.take_nd(whole, tuples, batches)

    mapped = _ND_MAPPED if expand is None else (*_ND_MAPPED, *_INDEXED)
    return Support(execute=execute, mapped=mapped, tensors=("indices",))


def broadcast_batches_of(given: Any, data: Sequence[Any], indices: Sequence[Any], stage: Stage) -> int:
    """The number of batch dimensions; sizes of None are not known yet."""
    if type(given) is not int:
        raise Rejected(stage, f"batch_dims {given!r} is not an integer", "batch_dims.type")
    if not 0 <= given < min(len(data), len(indices)):
        raise Rejected(stage, f"batch_dims {given} is out of range", "batch_dims.range")
    pairs = list(zip(data, indices, strict=False))[:given]
    if any(one != other and not {None, 1} & {one, other} for one, other in pairs):
        raise Rejected(stage, "data and indices differ in their batch dimensions", "batch_dims.broadcastable")
    return given


def check_tuples(length: int | None, rank: int, batches: int, stage: Stage) -> None:
    """Raise `Rejected` if tuples have more indices than data has dimensions after the batches; None is not known."""
    if length is not None and length > rank - batches:
        name = "indices.tuple-length" if length > rank else "indices.tuple-after-batches"
        raise Rejected(
            stage, f"tuples of {counted(length, 'index', 'indices')} for {counted(rank - batches, 'dimension')}", name
        )


def leading_sizes(data: Sequence[Any], indices: Sequence[Any], batches: int) -> list[Any]:
    """The batch dimensions, of which those of 1 are repeated."""
    return [other if one == 1 else one for one, other in zip(data, indices, strict=False)][:batches]


def indexed_nd(arange: Callable[[int], Any], expand: Callable[..., Any], data: Any, indices: Any, batches: int) -> Any:
    """`Functions.take_nd` by one index with a tensor per batch dimension and per place in a tuple."""
    *positions, length = indices.shape
    grids = [arange(size).reshape(shape) for size, shape in batch_grids(positions, batches)]
    places = (*grids, *(indices[..., place] for place in range(length)))
    taken = data[places] if places else data
    return taken if length else expand(taken, (*positions, *data.shape[batches:]))
