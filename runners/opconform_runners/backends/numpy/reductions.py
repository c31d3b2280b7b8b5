"""Reductions, CumSum-3 and TopK-11, as the `numpy` backend executes them: in 64 bits, and rounded at the end."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor, places_in
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function, padded
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array


def reduction(of: Callable[..., Array]) -> Function:
    """A reduction by a function of numpy."""

    def call(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
        data, axes = inputs[0], inputs[1].integers()
        rank = len(data.shape)
        refuse_if(any(not -rank <= axis < rank for axis in axes), "axes.range")
        refuse_if(len({*axes}) < len(axes), "axes.unique")
        if not axes:
            return [data]
        along = tuple({axis % rank for axis in axes})
        with np.errstate(all="ignore"):
            array = of(number_array(data), axis=along, keepdims=attributes.get("keep_dims", False))
            return result_of(data.element_type, np.asarray(array))

    return call


def _mean(array: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The sum divided by the count; the quotient of integers is exact, and loses its fraction."""
    count = math.prod(array.shape[place] for place in axis)
    if array.dtype.kind == "f":
        return np.asarray(array.sum(axis, keepdims=keepdims) / np.float64(count))
    sums = array.astype(object).sum(axis, keepdims=keepdims)
    quotients = np.sign(sums) * (np.abs(sums) // count)
    return np.asarray(quotients).astype(array.dtype)


def _maximum(array: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """`numpy.max`, and the positive one of two zeros."""
    largest = np.asarray(array.max(axis, keepdims=keepdims))
    if array.dtype.kind != "f":
        return largest
    signs = np.where(array == 0, np.copysign(1, array), -1).max(axis, keepdims=keepdims)
    return np.where(largest == 0, np.copysign(0.0, signs), largest)


def _minimum(array: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """`numpy.min`, and the negative one of two zeros."""
    smallest = np.asarray(array.min(axis, keepdims=keepdims))
    if array.dtype.kind != "f":
        return smallest
    has_negative = (np.signbit(array) & (array == 0)).any(axis, keepdims=keepdims)
    return np.where((smallest == 0) & has_negative, -0.0, smallest)


def _norm(array: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The Euclidean norm, of numbers scaled by a power of two; of integers, without its fraction."""
    if array.dtype.kind == "f":
        exponents = np.frexp(np.abs(array).max(axis, keepdims=True, initial=0))[1]
        squares = np.square(np.ldexp(array, -exponents)).sum(axis, keepdims=True)
        return np.asarray(np.ldexp(np.sqrt(squares), exponents).sum(axis, keepdims=keepdims))
    squares = np.square(array.astype(object)).sum(axis, keepdims=keepdims)
    return np.asarray(np.frompyfunc(lambda total: math.isqrt(total) % (1 << 64), 1, 1)(squares)).astype(np.uint64)


def _absolute_sum(array: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.where(np.signbit(array), -array, array).sum(axis, keepdims=keepdims))


def _cum_sum(inputs: Sequence[Tensor | None], attributes: Mapping[str, Any]) -> list[Tensor]:
    data, given = padded(inputs, 2)
    axis = 0 if given is None else given.integers()[0]
    refuse_if(not -len(data.shape) <= axis < len(data.shape), "axis.range")
    array = number_array(data)
    array = np.flip(array, axis) if attributes.get("reverse") else array
    if attributes.get("exclusive") and array.shape[axis]:
        start = np.zeros_like(np.take(array, [0], axis))
        array = np.concatenate([start, np.delete(array, -1, axis)], axis)
    with np.errstate(all="ignore"):
        sums = np.cumsum(array, axis)
        return result_of(data.element_type, np.flip(sums, axis) if attributes.get("reverse") else sums)


def _top_k(inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The order of Python's `sorted`, which keeps the order of equal elements; a NaN is larger than every number."""
    data, [k], axis = inputs[0], inputs[1].integers(), attributes["axis"]
    refuse_if(not -len(data.shape) <= axis < len(data.shape), "axis.range")
    refuse_if(not 1 <= k <= data.shape[axis], "k.range")
    sign = -1 if attributes["mode"] == "max" else 1
    slices = np.moveaxis(number_array(data), axis, -1)
    indices = np.empty((*slices.shape[:-1], k), attributes.get("index_element_type", "i32").replace("i", "int"))
    for place in places_in(slices, slices.shape[:-1]):
        keys = [(sign * math.isnan(number), sign * number) for number in slices[place].tolist()]
        best = sorted(range(len(keys)), key=keys.__getitem__)[:k]
        indices[place] = sorted(best) if attributes["sort"] == "index" else best
    along = np.moveaxis(indices, -1, axis)
    values = np.take_along_axis(data.array, along.astype(np.int64), axis)
    index_type = along.dtype.name.replace("int", "i")
    return [
        Tensor(element_type=data.element_type, array=np.ascontiguousarray(values)),
        Tensor(element_type=index_type, array=np.ascontiguousarray(along)),
    ]


#: The function of each operation.
REDUCTIONS: Mapping[str, Function] = {
    "CumSum-3": _cum_sum,
    "ReduceL1-4": reduction(_absolute_sum),
    "ReduceL2-4": reduction(_norm),
    "ReduceLogicalAnd-1": reduction(partial(np.min, initial=1)),
    "ReduceLogicalOr-1": reduction(partial(np.max, initial=0)),
    "ReduceMax-1": reduction(_maximum),
    "ReduceMean-1": reduction(_mean),
    "ReduceMin-1": reduction(_minimum),
    "ReduceProd-1": reduction(np.prod),
    "ReduceSum-1": reduction(np.sum),
    "TopK-11": _top_k,
}
