"""How PyTorch writes updates into data."""

from collections.abc import Callable
from operator import getitem
from typing import Any

from opconform_products.frameworks.adapters.scatters import (
    REGION,
    SLICES_AT,
    elements_at,
    places_at,
    scattered,
    tuples_at,
)
from opconform_products.frameworks.framework import Row
from opconform_runners.backends.backend import Unsupported


def scatter_rows(torch: Any, index: Callable[[Any], Any]) -> dict[str, Row]:
    """The rows of the operations; `index` gives indices of a type that indexing takes."""

    def copied_slices(data: Any, indices: Any, updates: Any, axis: int) -> Any:
        """`torch.index_copy`, which takes a list of indices of type i64."""
        shape = (*data.shape[:axis], indices.numel(), *data.shape[axis + 1 :])
        return torch.index_copy(data, axis, index(indices).long().reshape(-1), updates.reshape(shape))

    def elements(data: Any, indices: Any, *rest: Any) -> Any:
        """`torch.scatter` and `torch.scatter_reduce`, which take indices of one type."""
        return scattered(torch.scatter, torch.scatter_reduce, data, index(indices).long(), *rest)

    def elements_from_both_ends(data: Any, indices: Any, updates: Any, axis: int, *rest: Any) -> Any:
        """The same functions, which count indices from the front."""
        long = index(indices).long()
        return elements(data, torch.where(long < 0, long.add(data.shape[axis]), long), updates, axis, *rest)

    def put(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
        if reduction not in ("none", "sum"):
            raise Unsupported(f"`torch.index_put` has no reduction {reduction}")
        return torch.index_put(data, places_at(indices), updates, accumulate=reduction == "sum")

    def region(data: Any, updates: Any, entries: tuple[slice, ...]) -> Any:
        """`torch.slice_scatter` for one dimension, in the slices of those before it."""
        if any((entry.step or 1) < 0 for entry in entries):
            raise Unsupported("the framework has no slices with a negative step")
        along = [place for place, entry in enumerate(entries) if entry != slice(None)]
        if not along:
            return torch.slice_scatter(data, updates)
        number, *others = along
        if others:
            rest = (*[slice(None)] * (number + 1), *entries[number + 1 :])
            updates = region(getitem(data, entries[: number + 1]), updates, rest)
        entry = entries[number]
        return torch.slice_scatter(data, updates, number, entry.start, entry.stop, entry.step)

    put_nd = Row(put, tuples_at("updates.rank", "updates.shape"), tensors=("indices",))
    return {
        "ScatterElementsUpdate-3": Row(
            elements, elements_at("updates.shape", "updates.size", reaches_beyond=False), tensors=("indices",)
        ),
        "ScatterElementsUpdate-12": Row(
            elements_from_both_ends, elements_at("updates.shape"), ("indices.negative",), tensors=("indices",)
        ),
        "ScatterNDUpdate-3": put_nd,
        "ScatterNDUpdate-15": put_nd,
        "ScatterUpdate-3": Row(copied_slices, SLICES_AT, tensors=("indices",)),
        "SliceScatter-15": Row(region, REGION),
    }
