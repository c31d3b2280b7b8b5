"""Gather-8 by a framework's own function or indexing, and what the harness does on its behalf."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage, Unsupported
from opconform_runners.backends.direct import Support, padded
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

#: Gathers from data, by indices, along an axis counted from the front, in a number of batch dimensions.
Take = Callable[[Any, Any, int, int], Any]


@dataclass(frozen=True, slots=True)
class _Gathering:
    take: Take
    integers: Collection[Any]
    stage: Stage

    def refuse(self, requirement: str, message: str) -> Rejected:
        return Rejected(self.stage, message, requirement)


def gather_operation(
    take: Take, *, integers: Collection[Any], stage: Stage = "build", mapped: Sequence[str] = ()
) -> Support:
    """How a framework executes Gather-8.

    `integers` are its integer types, `stage` is where it refuses a case, and `mapped` are the requirements that `take`
    fulfils in its place.
    """
    gathering = _Gathering(take, integers, stage)
    return Support(execute=partial(_gather, gathering), mapped=(*_MAPPED, *mapped))


def _gather(gathering: _Gathering, call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    data, indices, axis = padded(inputs, 3)
    if isinstance(data, list):  # of numbers, for a control input
        return [[data[each] for each in indices] if isinstance(indices, list) else data[indices]]
    for name, each in (("data", data), ("indices", indices), ("axis", axis)):
        if each is None:
            raise gathering.refuse(f"{name}.required", f"{name} is missing")
    if indices.dtype not in gathering.integers:
        raise gathering.refuse("indices.element-type", f"the indices are of type {indices.dtype}")
    along = _axis(gathering, axis, len(data.shape))
    batches = _batches(gathering, attributes.get("batch_dims", 0), data.shape, indices.shape, along)
    return [call(gathering.take, data, indices, along, batches)]


def _axis(gathering: _Gathering, axis: Any, rank: int) -> int:
    """The axis, counted from the front."""
    if isinstance(axis, np.ndarray):  # of a type that Python does not have
        raise gathering.refuse("axis.element-type", f"the axis is of type {axis.dtype}")
    if not isinstance(axis, int | float | bool | str | list):
        raise Unsupported("the axis is given at run time, and the framework's is a number")
    if not rank:
        raise gathering.refuse("data.rank", "data of rank 0 has no axis")
    if isinstance(axis, list) and (len(axis) != 1 or isinstance(axis[0], list)):
        raise gathering.refuse("axis.shape", f"the axis {axis} is not one number")
    given = axis[0] if isinstance(axis, list) else axis
    if type(given) is not int:
        raise gathering.refuse("axis.element-type", f"the axis {given!r} is not an integer")
    if not -rank <= given < rank:
        raise gathering.refuse("axis.range", f"the axis {given} is out of range for rank {rank}")
    return given % rank


def _batches(gathering: _Gathering, given: Any, data: Sequence[Any], indices: Sequence[Any], axis: int) -> int:
    """The number of batch dimensions; sizes of None are not known yet."""
    least = min(len(data), len(indices))
    if type(given) is not int:
        raise gathering.refuse("batch_dims.type", f"batch_dims {given!r} is not an integer")
    if not -least <= given <= least:
        raise gathering.refuse("batch_dims.range", f"batch_dims {given} is out of range for a rank of {least}")
    batches = given + len(indices) if given < 0 else given
    if batches > axis:
        raise gathering.refuse("batch_dims.axis", f"batch_dims {given} is after axis {axis}")
    if any(None not in pair and pair[0] != pair[1] for pair in list(zip(data, indices, strict=False))[:batches]):
        raise gathering.refuse("batch_dims.equal", "data and indices differ in their batch dimensions")
    return batches


def indexed(arange: Callable[[int], Any], data: Any, indices: Any, axis: int, batches: int) -> Any:
    """A `Take` by indexing with tensors, for frameworks with `permute` and without batch dimensions."""
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
