"""How the operations that write updates into data become calls of a framework, or assignments by an index."""

from collections.abc import Sequence
from typing import Any

from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.frameworks.framework import Adapter, rank_of

#: Frameworks broadcast and convert updates, and count dimensions differently.
_MAPPED = ("axis.range", "axis.negative", "updates.element-type", "updates.rank", "updates.shape")


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


def slices_at(axis: int, indices: Any) -> tuple[Any, ...]:
    """The index of the slices along an axis, as it is written in an assignment."""
    return (*[slice(None)] * axis, indices)


#: Data, a tensor of indices, the updates, and the axis counted from the front.
SLICES_AT = Adapter(_update, _MAPPED)
