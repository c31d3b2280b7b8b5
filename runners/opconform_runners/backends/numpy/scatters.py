"""Updates at indices, as the `numpy` backend executes them: by the source of each element of the output."""

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor, places_in
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function, padded

#: The functions of reductions of numbers, and of booleans where they differ.
_COMBINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "sub": operator.sub,
    "prod": operator.mul,
    "min": lambda element, update: _extreme(min, element, update),
    "max": lambda element, update: _extreme(max, element, update),
    "mean": operator.add,
}
_OF_BOOLEANS = {**_COMBINED, "sub": operator.xor}


def _extreme(of: Callable[[Any, Any], Any], element: Any, update: Any) -> Any:
    """The least or the largest of two, and a NaN of one of them: Python's functions keep one that comes first."""
    return update if update != update else of(element, update)  # noqa: PLR0124


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


def _scatter_elements_3(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    refuse_if(any(number < 0 for number in inputs[1].integers()), "indices.negative")
    along, places = _places(inputs, range)
    refuse_if(any(np.greater(places.shape, inputs[0].shape)), "updates.size")
    return [_put(inputs, along, places)]


def _scatter_elements_12(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ScatterElementsUpdate-12, with one update after the other for reductions."""
    data, _, updates, _ = inputs
    name, is_first_used = attributes.get("reduction", "none"), attributes.get("use_init_val", True)
    _check_reduction(data, name)
    refuse_if(name == "mean" and data.element_type == "boolean", "reduction.boolean-mean")
    along, places = _places(inputs, _from_both_ends)  # numpy counts negative ones from the end
    refuse_if(any(np.delete(np.greater(places.shape, data.shape), along)), "updates.size")
    if name == "none":
        return [_put(inputs, along, places)]
    kind = _numbers(data).dtype
    exact = object if name == "mean" else kind  # Python's numbers, since the sum of a mean may be beyond the type
    output, counts = _numbers(data).astype(exact), Counter[tuple[int, ...]]()
    for place, update in np.ndenumerate(_numbers(updates).astype(exact)):
        target = tuple(map(int, np.insert(np.delete(place, along), along, places[place] % data.shape[along])))
        is_used = is_first_used or counts[target]
        output[target] = _COMBINED[name](output[target], update) if is_used else update
        counts[target] += 1
    for target, count in counts.items() if name == "mean" else ():
        divide = operator.floordiv if data.type.is_integer else operator.truediv
        output[target] = divide(output[target], count + is_first_used)
    return [_stored(data, output.astype(kind))]


def _places(inputs: Sequence[Tensor], allowed: Callable[[int], Sequence[int]]) -> tuple[int, Array]:
    """The axis from the front, and the indices; `allowed` are those into a dimension."""
    data, indices, updates, axis = inputs
    rank, [along] = data.array.ndim, axis.integers()
    _check_types(data, updates)
    refuse_if(not -rank <= along < rank, "axis.range")
    refuse_if(len(indices.shape) != rank, "indices.rank")
    refuse_if(updates.shape != indices.shape, "updates.shape")
    along %= rank
    refuse_if(any(number not in allowed(data.shape[along]) for number in indices.integers()), "indices.range")
    return along, np.array(indices.integers(), np.int64).reshape(indices.shape)


def _put(inputs: Sequence[Tensor], along: int, places: Array) -> Tensor:
    """Data with the updates at their places, by `numpy.put_along_axis`."""
    data, _, updates, _ = inputs
    output = data.array.astype(np.result_type(data.array, updates.array))
    window = tuple(slice(None) if place == along else slice(length) for place, length in enumerate(places.shape))
    np.put_along_axis(output[window], places, updates.array, along)
    return Tensor(element_type=data.element_type, array=output)


def _scatter_nd_3(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    refuse_if(any(number < 0 for number in inputs[1].integers()), "indices.negative")
    tuples = _tuples(inputs, range)
    refuse_if(len({*tuples}) < len(tuples), "indices.unique")
    return [_assigned(inputs, tuples)]


def _scatter_nd_15(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ScatterNDUpdate-15, with one update after the other for reductions."""
    data, indices, updates = inputs
    name, length = attributes.get("reduction", "none"), indices.shape[-1]
    _check_reduction(data, name)
    tuples = _tuples(inputs, _from_both_ends)
    if name == "none":
        return [_assigned(inputs, tuples)]
    combine = (_OF_BOOLEANS if data.element_type == "boolean" else _COMBINED)[name]
    output, rest = _numbers(data).copy(), data.shape[length:]
    targets = (tuple_ + place for tuple_ in tuples for place in places_in(output, rest))
    for target, update in zip(targets, _numbers(updates).ravel(), strict=True):
        output[target] = combine(output[target], update)
    return [_stored(data, output)]


def _tuples(inputs: Sequence[Tensor], allowed: Callable[[int], Sequence[int]]) -> list[tuple[int, ...]]:
    """The tuples of indices; `allowed` are those into a dimension."""
    data, indices, updates = inputs
    length, numbers = indices.shape[-1], indices.integers()
    _check_types(data, updates)
    refuse_if(length > data.array.ndim, "indices.tuple-length")
    leading, sizes, rest = indices.shape[:-1], data.shape[:length], data.shape[length:]
    if leading + rest or updates.array.size != 1:
        refuse_if(updates.array.ndim != len(leading + rest), "updates.rank")
        refuse_if(updates.shape != leading + rest, "updates.shape")
    for place, size in enumerate(sizes):
        refuse_if(any(number not in allowed(size) for number in numbers[place::length]), "indices.range")
    return [tuple(map(int, tuple_)) for tuple_ in np.array(numbers, np.int64).reshape(prod(leading), length)]


def _assigned(inputs: Sequence[Tensor], tuples: Sequence[tuple[int, ...]]) -> Tensor:
    """Data with the updates at tuples, by one assignment per tuple."""
    data, indices, updates = inputs
    output = data.array.astype(np.result_type(data.array, updates.array))
    slices = updates.array.reshape(len(tuples), *data.shape[indices.shape[-1] :])
    for tuple_, update in zip(tuples, slices, strict=True):
        output[tuple_] = update
    return Tensor(element_type=data.element_type, array=output)


def _slice_scatter(inputs: Sequence[Tensor | None], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """SliceScatter-15 by the places of the elements along each axis."""
    data, updates, *lists = padded(inputs, 6)
    _check_types(data, updates)
    start, stop, step, axes = (list_ and list_.integers() for list_ in lists)
    refuse_if(len({*map(len, (start, stop, step, start if axes is None else axes))}) > 1, "indices.count")
    refuse_if(0 in step, "step.zero")
    rank, along = data.array.ndim, [*range(len(start))] if axes is None else axes
    refuse_if(any(not -rank <= axis < rank for axis in along), "axes.range")
    refuse_if(len({axis % rank for axis in along}) < len(along), "axes.unique")
    places = [range(size) for size in data.shape]
    for axis, *bounds in zip(along, start, stop, step, strict=True):
        places[axis] = range(data.shape[axis])[slice(*bounds)]
    refuse_if(updates.array.ndim != rank, "updates.rank")
    refuse_if(updates.shape != tuple(map(len, places)), "updates.shape")
    output = data.array.astype(np.result_type(data.array, updates.array))
    if updates.array.size:  # the places of others can be too many for memory
        output[np.ix_(*places)] = updates.array
    return [Tensor(element_type=data.element_type, array=output)]


def _from_both_ends(size: int) -> Sequence[int]:
    return range(-size, size)


def _check_types(data: Tensor, updates: Tensor) -> None:
    refuse_if(data.element_type != updates.element_type, "updates.element-type")


def _check_reduction(data: Tensor, name: str) -> None:
    refuse_if(name != "none" and data.type.kind in ("string", "lookup"), "reduction.types")


def _numbers(tensor: Tensor) -> Array:
    return tensor.array.view(tensor.type.arithmetic)


def _stored(data: Tensor, output: Array) -> Tensor:
    return Tensor(element_type=data.element_type, array=output.astype(data.type.arithmetic).view(data.type.storage))


#: Per operation a function for arguments that the declaration allows.
SCATTERS: Mapping[str, Function] = {
    "ScatterElementsUpdate-3": _scatter_elements_3,
    "ScatterElementsUpdate-12": _scatter_elements_12,
    "ScatterNDUpdate-3": _scatter_nd_3,
    "ScatterNDUpdate-15": _scatter_nd_15,
    "ScatterUpdate-3": _scatter_update,
    "SliceScatter-15": _slice_scatter,
}
