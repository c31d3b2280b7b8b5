"""GatherND-8 by a framework's own function or indexing, and what the harness does on its behalf."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Stage
from opconform_runners.backends.direct import Support, padded
from opconform_runners.backends.direct_gather import batch_grids
from opconform_runners.backends.exceptions import Call

#: The requirements that the harness fulfils, since frameworks have no such attribute, or check it in another order.
_MAPPED = (
    *(f"data.{each}" for each in ("required", "rank")),
    *(f"indices.{each}" for each in ("required", "rank", "element-type", "tuple-length", "tuple-after-batches")),
    *(f"batch_dims.{each}" for each in ("default", "type", "range", "broadcastable", "broadcast", "broadcast-indices")),
)
#: The requirements that the harness also fulfils where a framework indexes with one tensor per place in a tuple.
INDEXED = ("indices.empty-tuple", "batch_dims.batches")

#: Gathers from data, by a tensor of tuples, in a number of batch dimensions.
Take = Callable[[Any, Any, int], Any]
#: Repeats a tensor along its dimensions of 1, up to a shape.
Expand = Callable[[Any, Sequence[Any]], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gathering:
    take: Take
    expand: Expand | None
    integers: Collection[Any]
    stage: Stage

    def refuse(self, requirement: str, message: str) -> Rejected:
        return Rejected(self.stage, message, requirement)


def gather_nd_operation(
    take: Take, expand: Expand | None, *, integers: Collection[Any], stage: Stage = "build", mapped: Sequence[str] = ()
) -> Support:
    """How a framework executes GatherND-8; without `expand`, `take` repeats batch dimensions of 1.

    `integers` are its integer types, `stage` is where it refuses a case, and `mapped` are the requirements that `take`
    fulfils in its place.
    """
    gathering = _Gathering(take=take, expand=expand, integers=integers, stage=stage)
    execute = partial(_gather, gathering)
    return Support(execute=execute, mapped=(*_MAPPED, *mapped), tensors=("indices",))


def _gather(gathering: _Gathering, call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    data, indices = padded(inputs, 2)
    for name, each in (("data", data), ("indices", indices)):
        if each is None:
            raise gathering.refuse(f"{name}.required", f"{name} is missing")
        if not len(each.shape):
            raise gathering.refuse(f"{name}.rank", f"{name} has no dimension")
    if indices.dtype not in gathering.integers:
        raise gathering.refuse("indices.element-type", f"the indices are of type {indices.dtype}")
    batches = _batches(gathering, attributes.get("batch_dims", 0), data.shape, indices.shape)
    length, rank = indices.shape[-1], len(data.shape)
    if length is not None and length > rank - batches:
        name = "tuple-length" if length > rank else "tuple-after-batches"
        raise gathering.refuse(f"indices.{name}", f"tuples of {length} indices for {rank - batches} dimensions")
    return [call(_expanded, gathering, data, indices, batches)]


def _batches(gathering: _Gathering, given: Any, data: Sequence[Any], indices: Sequence[Any]) -> int:
    """The number of batch dimensions; sizes of None are not known yet."""
    if type(given) is not int:
        raise gathering.refuse("batch_dims.type", f"batch_dims {given!r} is not an integer")
    if not 0 <= given < min(len(data), len(indices)):
        raise gathering.refuse("batch_dims.range", f"batch_dims {given} is out of range")
    pairs = list(zip(data, indices, strict=False))[:given]
    if any(one != other and not {None, 1} & {one, other} for one, other in pairs):
        raise gathering.refuse("batch_dims.broadcastable", "data and indices differ in their batch dimensions")
    return given


def _expanded(gathering: _Gathering, data: Any, indices: Any, batches: int) -> Any:
    """The output for data and indices whose batch dimensions of 1 are repeated."""
    if gathering.expand is None:
        return gathering.take(data, indices, batches)
    leading = leading_sizes(data.shape, indices.shape, batches)
    whole, tuples = (
        each if list(each.shape[:batches]) == leading else gathering.expand(each, (*leading, *each.shape[batches:]))
        for each in (data, indices)
    )
    return gathering.take(whole, tuples, batches)


def leading_sizes(data: Sequence[Any], indices: Sequence[Any], batches: int) -> list[Any]:
    """The batch dimensions, of which those of 1 are repeated."""
    return [other if one == 1 else one for one, other in zip(data, indices, strict=False)][:batches]


def indexed(arange: Callable[[int], Any], expand: Expand, data: Any, indices: Any, batches: int) -> Any:
    """A `Take` by one index with a tensor per batch dimension and per place in a tuple."""
    *positions, length = indices.shape
    grids = [arange(size).reshape(shape) for size, shape in batch_grids(positions, batches)]
    places = (*grids, *(indices[..., place] for place in range(length)))
    taken = data[places] if places else data
    return taken if length else expand(taken, (*positions, *data.shape[batches:]))
