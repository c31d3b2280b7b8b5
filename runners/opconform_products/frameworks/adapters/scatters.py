"""How the operations that write updates into data become calls of a framework, or assignments by an index."""

from collections.abc import Callable, Sequence
from typing import Any

from opconform_products.frameworks.adapters.slices import SLICES
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of, sliced

#: Frameworks broadcast and convert updates, and count dimensions differently.
_MAPPED = ("axis.range", "axis.negative", "updates.element-type", "updates.rank", "updates.shape")
#: The reductions that frameworks call by other names.
_REDUCTIONS = {"min": "amin", "max": "amax"}


def _update(data: Any, indices: Any, updates: Any, axis: Any) -> Sequence[Any]:
    rank, positions = rank_of(data), 0 if isinstance(indices, int) else rank_of(indices)
    number = axis_of(axis, rank)
    check_types(data, updates)
    refuse_if(rank_of(updates) != rank + positions - 1, "updates.rank")
    check_shape(updates, (*data.shape[:number], *(indices.shape if positions else ()), *data.shape[number + 1 :]))
    return data, indices, updates, number


def axis_of(axis: Any, rank: int) -> int:
    """The axis counted from the front."""
    number: int = axis[0] if isinstance(axis, list) else axis
    refuse_if(not -rank <= number < rank, "axis.range")
    return number % rank


def check_types(data: Any, updates: Any) -> None:
    """Raise `Rejected` if updates would be converted."""
    refuse_if(data.dtype != updates.dtype, "updates.element-type")


def check_shape(updates: Any, expected: Sequence[Any]) -> None:
    """Raise `Rejected` if updates would be broadcast; sizes of None are not known yet."""
    pairs = zip(updates.shape, expected, strict=True)
    refuse_if(any(None not in pair and pair[0] != pair[1] for pair in pairs), "updates.shape")


def elements_at(*checked: str, reaches_beyond: bool = True) -> Adapter:
    """Data, a tensor of indices, the updates, the axis counted from the front, the reduction, and whether it uses data.

    `checked` are the requirements that the framework does not check. `reaches_beyond` tells whether the updates can be
    longer than data along the axis.
    """

    def arguments(
        data: Any, indices: Any, updates: Any, axis: Any, *, reduction: str = "none", use_init_val: bool = True
    ) -> Sequence[Any]:
        number, shapes = axis_of(axis, rank_of(data)), [data.shape, indices.shape, updates.shape]
        pairs = [*zip(*shapes[:2], strict=False)]
        if reaches_beyond:
            del pairs[number : number + 1]
        violated = {
            "updates.element-type": data.dtype != updates.dtype,
            "indices.rank": len(shapes[0]) != len(shapes[1]),
            "updates.shape": tuple(shapes[1]) != tuple(shapes[2]),
            "updates.size": any(size < length for size, length in pairs),
        }
        for name in checked:
            refuse_if(violated[name], name)
        return data, indices, updates, number, reduction, use_init_val

    return Adapter(arguments, ("axis.range", "axis.negative", *checked))


def scattered(scatter: Callable[..., Any], scatter_reduce: Callable[..., Any], *arguments: Any) -> Any:
    """A call of one of two functions, which torch and tinygrad name alike, with the arguments of `elements_at`."""
    data, indices, updates, axis, reduction, use_init_val = arguments
    if reduction == "none":
        return scatter(data, axis, indices, updates)
    named = _REDUCTIONS.get(reduction, reduction)
    return scatter_reduce(data, axis, indices, updates, named, include_self=use_init_val)


def tuples_at(*checked: str) -> Adapter:
    """Data, a tensor of tuples, the updates, and the reduction.

    `checked` are the requirements that the framework does not check. It takes a single update only as a scalar.
    """

    def arguments(data: Any, indices: Any, updates: Any, reduction: str = "none") -> Sequence[Any]:
        rank, (*positions, length) = rank_of(updates), indices.shape
        if length is None:
            raise Unsupported("the length of tuples is only known at run time")
        if "updates.element-type" in checked:
            check_types(data, updates)
        refuse_if("indices.tuple-length" in checked and length > rank_of(data), "indices.tuple-length")
        if length <= rank_of(data):
            expected = (*positions, *data.shape[length:])
            if not expected and {*updates.shape} <= {1}:
                return data, indices, updates[(0,) * rank], reduction
            refuse_if("updates.rank" in checked and rank != len(expected), "updates.rank")
            if "updates.shape" in checked:
                check_shape(updates, expected)
        return data, indices, updates, reduction

    return Adapter(arguments, ("updates.single", *checked))


def places_at(indices: Any) -> tuple[Any, ...]:
    """The index of the slices that tuples select, as it is written in an assignment."""
    length = indices.shape[-1]
    if not length and len(indices.shape) > 1:
        raise Unsupported("the framework has no index of empty tuples")
    return tuple(indices[..., place] for place in range(length))


def _slices(data: Any, updates: Any, *lists: Any) -> Sequence[Any]:
    _, entries = sliced(data, *lists)
    check_types(data, updates)
    return data, updates, entries


def _checked_slices(data: Any, updates: Any, *lists: Any) -> Sequence[Any]:
    _, _, entries = _slices(data, updates, *lists)
    refuse_if(rank_of(updates) != rank_of(data), "updates.rank")
    check_shape(updates, [_length(entry, size) for entry, size in zip(entries, data.shape, strict=True)])
    return data, updates, entries


def _length(entry: slice, size: int | None) -> int | None:
    """The length of a slice of a dimension; a step of 0 is left to the framework."""
    return None if size is None or entry.step == 0 else len(range(*entry.indices(size)))


def slices_at(axis: int, indices: Any) -> tuple[Any, ...]:
    """The index of the slices along an axis, as it is written in an assignment."""
    return (*[slice(None)] * axis, indices)


#: Data, a tensor of indices, the updates, and the axis counted from the front.
SLICES_AT = Adapter(_update, _MAPPED)
_REGION = tuple(name for name in SLICES.constraints or () if name != "data.required")
#: Data, the updates, and a slice per dimension, for a function that compares the shapes.
REGION = Adapter(_slices, (*SLICES.mapped, "updates.element-type"), ("data.required", "updates.required", *_REGION))
#: The same for an assignment, which broadcasts the updates.
REGION_OF_SHAPE = REGION._replace(arguments=_checked_slices, mapped=(*REGION.mapped, "updates.rank", "updates.shape"))
