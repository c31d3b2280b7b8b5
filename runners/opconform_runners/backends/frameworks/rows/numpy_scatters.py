"""Updates at indices, as the `numpy` backend executes them: by the source of each element of the output."""

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function, padded

#: The functions of reductions of numbers, and of booleans where they differ.
_COMBINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "sub": operator.sub,
    "prod": operator.mul,
    "min": min,
    "max": max,
    "mean": operator.add,
}
_OF_BOOLEANS = {**_COMBINED, "sub": operator.xor}


def _scatter_update(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """ScatterUpdate-3 by `numpy.take` from data and the updates behind it."""
    data, indices, updates, axis = inputs
    rank, [along], numbers = data.array.ndim, axis.integers(), indices.integers()
    refuse_if(data.element_type != updates.element_type, "updates.element-type")
    refuse_if(not -rank <= along < rank, "axis.range")
    along %= rank
    refuse_if(updates.array.ndim != rank + indices.array.ndim - 1, "updates.rank")
    before, size, after = data.shape[:along], data.shape[along], data.shape[along + 1 :]
    refuse_if(updates.shape != before + indices.shape + after, "updates.shape")
    refuse_if(any(number < 0 for number in numbers), "indices.negative")
    refuse_if(any(number >= size for number in numbers), "indices.range")
    sources = np.arange(size)
    for place, number in enumerate(numbers):
        sources[number] = size + place
    joined = np.concatenate([data.array, updates.array.reshape(*before, len(numbers), *after)], along)
    return [Tensor(element_type=data.element_type, array=joined.take(sources, along))]


def _scatter_elements_3(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    return _scatter_elements(inputs, attributes, has_reductions=False)


def _scatter_elements_12(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    return _scatter_elements(inputs, attributes, has_reductions=True)


def _scatter_elements(inputs: Sequence[Tensor], attributes: Mapping[str, Any], *, has_reductions: bool) -> list[Tensor]:
    """ScatterElementsUpdate by `numpy.put_along_axis`, and one update after the other for reductions."""
    data, indices, updates, axis = inputs
    rank, [along], numbers = data.array.ndim, axis.integers(), indices.integers()
    name = attributes.get("reduction", "none")
    _check_types(data, updates, name)
    refuse_if(not -rank <= along < rank, "axis.range")
    refuse_if(len(indices.shape) != rank, "indices.rank")
    refuse_if(updates.shape != indices.shape, "updates.shape")
    along %= rank
    size, others = data.shape[along], [place for place in range(rank) if place != along or not has_reductions]
    refuse_if(any(indices.shape[place] > data.shape[place] for place in others), "updates.size")
    refuse_if(not has_reductions and any(number < 0 for number in numbers), "indices.negative")
    refuse_if(any(number >= size or number < -size for number in numbers), "indices.range")
    places = np.array(numbers, np.int64).reshape(indices.shape)  # numpy counts negative ones from the end
    if name != "none":
        targets = (
            tuple(map(int, np.insert(np.delete(at, along), along, places[at]))) for at in np.ndindex(indices.shape)
        )
        return [_combined(data, updates, targets, name, is_first_used=attributes.get("use_init_val", True))]
    output = data.array.astype(np.result_type(data.array, updates.array))
    window = tuple(slice(None) if place == along else slice(length) for place, length in enumerate(indices.shape))
    np.put_along_axis(output[window], places, updates.array, along)
    return [Tensor(element_type=data.element_type, array=output)]


def _scatter_nd_3(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    data, indices, _ = inputs
    length = indices.shape[-1]
    refuse_if(length > data.array.ndim, "indices.tuple-length")
    numbers, count = indices.integers(), prod(indices.shape[:-1])
    refuse_if(any(number < 0 for number in numbers), "indices.negative")
    tuples = {tuple(numbers[length * place : length * (place + 1)]) for place in range(count)}
    refuse_if(len(tuples) < count, "indices.unique")
    return _scatter_nd_15(inputs, {})


def _scatter_nd_15(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ScatterNDUpdate by one assignment per tuple, and one update after the other for reductions."""
    data, indices, updates = inputs
    name, length, numbers = attributes.get("reduction", "none"), indices.shape[-1], indices.integers()
    _check_types(data, updates, name)
    refuse_if(length > data.array.ndim, "indices.tuple-length")
    leading, sizes, rest = indices.shape[:-1], data.shape[:length], data.shape[length:]
    if leading + rest or updates.array.size != 1:
        refuse_if(updates.array.ndim != len(leading + rest), "updates.rank")
        refuse_if(updates.shape != leading + rest, "updates.shape")
    for place, size in enumerate(sizes):
        refuse_if(any(not -size <= number < size for number in numbers[place::length]), "indices.range")
    tuples = [tuple(map(int, tuple_)) for tuple_ in np.array(numbers, np.int64).reshape(prod(leading), length)]
    if name != "none":
        whole = [tuple(number % size for number, size in zip(tuple_, sizes, strict=True)) for tuple_ in tuples]
        targets = (tuple_ + place for tuple_ in whole for place in np.ndindex(rest))
        return [_combined(data, updates, targets, name, is_first_used=True)]
    output = data.array.astype(np.result_type(data.array, updates.array))
    for tuple_, update in zip(tuples, updates.array.reshape(len(tuples), *rest), strict=True):
        output[tuple_] = update
    return [Tensor(element_type=data.element_type, array=output)]


def _slice_scatter(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """SliceScatter-15 by the places of the elements along each axis."""
    data, updates, *lists = padded(inputs, 6)
    _check_types(data, updates, "none")
    start, stop, step, axes = (list_ and list_.integers() for list_ in lists)
    refuse_if(len({*map(len, (start, stop, step, axes or start))}) > 1, "indices.count")
    refuse_if(0 in step, "step.zero")
    rank, along = data.array.ndim, [*range(len(start))] if axes is None else axes
    refuse_if(any(not -rank <= axis < rank for axis in along), "axes.range")
    refuse_if(len({axis % rank for axis in along}) < len(along), "axes.unique")
    places = [[*range(size)] for size in data.shape]
    for axis, *bounds in zip(along, start, stop, step, strict=True):
        places[axis] = [*range(data.shape[axis])][slice(*bounds)]
    refuse_if(updates.array.ndim != rank, "updates.rank")
    refuse_if(updates.shape != tuple(map(len, places)), "updates.shape")
    output = data.array.astype(np.result_type(data.array, updates.array))
    output[np.ix_(*places)] = updates.array
    return [Tensor(element_type=data.element_type, array=output)]


def _check_types(data: Tensor, updates: Tensor, name: str) -> None:
    refuse_if(data.element_type != updates.element_type, "updates.element-type")
    refuse_if(name != "none" and data.type.kind in ("string", "lookup"), "reduction.types")
    refuse_if(name == "mean" and data.element_type == "boolean", "reduction.boolean-mean")


def _combined(
    data: Tensor, updates: Tensor, targets: Iterable[tuple[int, ...]], name: str, *, is_first_used: bool
) -> Tensor:
    """Data with each update combined with the element at its target."""
    combine = (_OF_BOOLEANS if data.element_type == "boolean" else _COMBINED)[name]
    output, counts = data.array.view(data.type.arithmetic).copy(), Counter[tuple[int, ...]]()
    for target, update in zip(targets, updates.array.view(data.type.arithmetic).ravel(), strict=True):
        is_alone = not (is_first_used or counts[target])
        output[target] = update if is_alone else combine(output[target], update)
        counts[target] += 1
    for target, count in counts.items() if name == "mean" else ():
        divide = operator.floordiv if data.type.is_integer else operator.truediv
        output[target] = divide(output[target], count + is_first_used)
    stored = output.astype(data.type.arithmetic).view(data.type.storage)
    return Tensor(element_type=data.element_type, array=stored)


#: Per operation a function for arguments that the declaration allows.
SCATTERS: Mapping[str, Function] = {
    "ScatterElementsUpdate-3": _scatter_elements_3,
    "ScatterElementsUpdate-12": _scatter_elements_12,
    "ScatterNDUpdate-3": _scatter_nd_3,
    "ScatterNDUpdate-15": _scatter_nd_15,
    "ScatterUpdate-3": _scatter_update,
    "SliceScatter-15": _slice_scatter,
}
