"""The operations with sums of products, as the `numpy` backend executes them: in 64 bits, and rounded at the end."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array

_LISTS = ("strides", "pads_begin", "pads_end", "dilations")


def _matmul(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """MatMul-1 by `numpy.matmul`."""
    refuse_if(inputs[0].element_type != inputs[1].element_type, "b.same-type")
    a, b = (
        np.swapaxes(number_array(x), -1, -2)
        if attributes.get(f"transpose_{name}") and len(x.shape) > 1
        else number_array(x)
        for name, x in zip("ab", inputs, strict=True)
    )
    refuse_if(a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1], "columns.equal-rows")
    with np.errstate(all="ignore"):
        try:
            matrices = np.matmul(a, b)
        except ValueError:
            matrices = np.zeros(())
            refuse_if(True, "batch.dimensions")
        return result_of(inputs[0].element_type, np.asarray(matrices))


def _differences(data: Any, axis: int) -> Array:
    """The elements less the largest one along an axis."""
    refuse_if(not -len(data.shape) <= axis < len(data.shape), "axis.range")
    numbers = number_array(data)
    return np.asarray(numbers - numbers.max(axis, keepdims=True, initial=-np.inf))


def _softmax(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    [data], axis = inputs, attributes.get("axis", 1)
    with np.errstate(all="ignore"):
        powers = np.exp(_differences(data, axis))
        return result_of(data.element_type, powers / powers.sum(axis, keepdims=True))


def _log_softmax(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    [data], axis = inputs, attributes.get("axis", 1)
    with np.errstate(all="ignore"):
        differences = _differences(data, axis)
        return result_of(data.element_type, differences - np.log(np.exp(differences).sum(axis, keepdims=True)))


def _pads(data: Array, sizes: Sequence[int], attributes: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """How many zeros are at both ends of each spatial dimension."""
    mode, lists = attributes.get("auto_pad", "explicit"), [attributes[name] for name in _LISTS]
    for length, size, stride, begin, end, dilation in zip(data.shape[2:], sizes, *lists, strict=False):
        zeros = max((-(-length // stride) - 1) * stride + dilation * (size - 1) + 1 - length, 0)
        few, many = zeros // 2, zeros - zeros // 2
        yield {"explicit": (begin, end), "valid": (0, 0), "same_upper": (few, many)}.get(mode, (many, few))


def _check_lists(rank: int, attributes: Mapping[str, Any]) -> None:
    is_explicit = attributes.get("auto_pad", "explicit") == "explicit"
    for name in _LISTS if is_explicit else ("strides", "dilations"):
        refuse_if(len(attributes[name]) != rank - 2, f"{name}.count")
        refuse_if(min(attributes[name]) < 0, f"{name}.negative")
    for name in ("strides", "dilations"):
        refuse_if(0 in attributes[name], f"{name}.zero")


def _convolution(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """Convolution-1 as that of one group."""
    refuse_if(inputs[0].element_type != inputs[1].element_type, "filters.same-type")
    data, filters = map(number_array, inputs)
    refuse_if(data.ndim != filters.ndim, "filters.same-rank")
    return result_of(inputs[0].element_type, _convolved(data, filters[np.newaxis], attributes))


def _group_convolution(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """GroupConvolution-1."""
    refuse_if(inputs[0].element_type != inputs[1].element_type, "filters.same-type")
    data, filters = map(number_array, inputs)
    refuse_if(data.ndim + 1 != filters.ndim, "filters.group-rank")
    return result_of(inputs[0].element_type, _convolved(data, filters, attributes))


def _convolved(data: Array, filters: Array, attributes: Mapping[str, Any]) -> Array:
    """The sum, over the places in a filter, of the products with every window's element there, for each group."""
    groups, outputs, channels, *sizes = filters.shape
    refuse_if(data.shape[1] != groups * channels, "filters.channels")
    _check_lists(data.ndim, attributes)
    padded = np.pad(data, [(0, 0), (0, 0), *_pads(data, sizes, attributes)])
    strides, dilations = attributes["strides"], attributes["dilations"]
    spans = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, sizes, strict=True)]
    rooms = [length - span for length, span in zip(padded.shape[2:], spans, strict=True)]
    refuse_if(any(room < 0 < room + span for room, span in zip(rooms, spans, strict=True)), "filters.room")
    refuse_if(0 in sizes, "filters.room")
    counts = [max(room // stride + 1, 0) for room, stride in zip(rooms, strides, strict=True)]
    output = np.zeros((len(data), groups * outputs, *counts), data.dtype)
    with np.errstate(all="ignore"):
        for group, place in product(range(groups), product(*map(range, sizes if output.size else [0]))):
            windows = zip(place, dilations, strides, counts, strict=True)
            parts = [slice(x * dilation, x * dilation + stride * n, stride) for x, dilation, stride, n in windows]
            weights = np.moveaxis(filters[group], (0, 1), (-2, -1))[place]
            elements = padded[:, group * channels : (group + 1) * channels, *parts]
            sums = np.moveaxis(np.tensordot(weights, elements, (1, 1)), 0, 1)
            output[:, group * outputs : (group + 1) * outputs] += sums
    return output


def _mvn(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """MVN-6 by the mean and the mean of the squares of the differences."""
    data, axes = number_array(inputs[0]), inputs[1].integers()
    refuse_if(any(not -data.ndim <= axis < data.ndim for axis in axes), "axes.range")
    along = tuple(axis % data.ndim for axis in axes)
    refuse_if(len({*along}) < len(along), "axes.unique")
    eps = attributes["eps"]
    refuse_if(eps <= 0, "eps.positive")
    with np.errstate(all="ignore"):
        count = np.float64(prod(data.shape[axis] for axis in along))
        output = data - data.sum(along, keepdims=True) / count
        if attributes["normalize_variance"]:
            variance = np.square(output).sum(along, keepdims=True) / count
            is_inside = attributes["eps_mode"] == "inside_sqrt"
            output = output / (np.sqrt(variance + eps) if is_inside else np.sqrt(variance) + eps)
        return result_of(inputs[0].element_type, np.asarray(output).reshape(data.shape))


def _batch_norm(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """BatchNormInference-5 by a scale and a shift of each channel."""
    data, channels = inputs[0], dict(zip(("gamma", "beta", "mean", "variance"), inputs[1:], strict=True))
    for name, channel in channels.items():
        refuse_if(channel.element_type != data.element_type, f"{name}.same-type")
        refuse_if(len(channel.array) != data.shape[1], f"{name}.length")
    refuse_if(not data.shape[1], "data.channels")
    refuse_if(attributes["epsilon"] < 0, "epsilon.range")
    rows = np.moveaxis(number_array(data), 1, -1)
    gamma, beta, mean, variance = map(number_array, channels.values())
    with np.errstate(all="ignore"):
        rows = (rows - mean) * (gamma / np.sqrt(variance + attributes["epsilon"])) + beta
        return result_of(data.element_type, np.moveaxis(rows, -1, 1))


def _group_norm(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """GroupNormalization-12 by the rows of groups, and then the dimension of channels."""
    data, channels = inputs[0], dict(zip(("scale", "bias"), inputs[1:], strict=True))
    count, groups = data.shape[1], attributes["num_groups"]
    for name, channel in channels.items():
        refuse_if(channel.element_type != data.element_type, f"{name}.same-type")
        refuse_if(len(channel.array) != count, f"{name}.length")
    refuse_if(groups < 1 or groups > count, "num_groups.range")
    refuse_if(count % groups, "num_groups.divides")
    refuse_if(attributes["epsilon"] <= 0, "epsilon.positive")
    rows = number_array(data).reshape(data.shape[0] * groups, prod(data.shape[1:]) // groups)
    with np.errstate(all="ignore"):
        size = np.float64(rows.shape[1])
        rows = rows - rows.sum(1, keepdims=True) / size
        rows = rows / np.sqrt(np.square(rows).sum(1, keepdims=True) / size + attributes["epsilon"])
        elements = np.moveaxis(rows.reshape(data.shape), 1, -1)
        scale, bias = map(number_array, channels.values())
        return result_of(data.element_type, np.moveaxis(elements * scale + bias, -1, 1))


def _attention(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """ScaledDotProductAttention-13 by the exponentials of scores less the largest one, divided after the last sum."""
    element_type, (mask, scale) = inputs[0].element_type, (*inputs[3:], None, None)[:2]
    for name, x in zip(("key", "value", "attention_mask", "scale"), (*inputs[1:3], mask, scale), strict=True):
        is_other = x is not None and x.element_type not in (element_type, "boolean")
        refuse_if(is_other, f"{name}.same-type")
    query, key, value = map(number_array, inputs[:3])
    refuse_if(query.shape[-1] != key.shape[-1], "key.embedding")
    refuse_if(key.shape[-2] != value.shape[-2], "value.length")
    try:
        batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except ValueError:
        batch = ()
        refuse_if(True, "batch.dimensions")
    sizes = (*batch, query.shape[-2], key.shape[-2])
    with np.errstate(all="ignore"):
        factor = number_array(scale).reshape(()) if scale is not None else 1 / np.sqrt(np.float64(query.shape[-1]))
        scores = np.broadcast_to(np.matmul(query, np.swapaxes(key, -1, -2)) * factor, sizes)
        bias = _bias(mask, sizes)
        if attributes["causal"]:
            bias = np.where(np.tri(*sizes[-2:]) > 0, 0.0, -np.inf)
        powers = np.exp(scores + bias - (scores + bias).max(-1, keepdims=True, initial=-np.inf))
        sums = np.matmul(powers, value) / powers.sum(-1, keepdims=True) if key.shape[-2] else np.matmul(powers, value)
        return result_of(element_type, sums)


def _bias(mask: Any, sizes: Sequence[int]) -> Any:
    """What a mask adds to scores."""
    if mask is None:
        return 0.0
    rank = len(mask.shape)
    refuse_if(rank == 1, "attention_mask.vector")
    refuse_if(not rank and mask.element_type == "boolean", "attention_mask.scalar-type")
    fits = all(size in (1, wanted) for size, wanted in zip(mask.shape[::-1], sizes[::-1], strict=False))
    refuse_if(rank > len(sizes) or not fits, "attention_mask.shape")
    return np.where(mask.array, 0.0, -np.inf) if mask.element_type == "boolean" else number_array(mask)


#: The function of each operation.
PRODUCTS: Mapping[str, Function] = {
    "BatchNormInference-5": _batch_norm,
    "Convolution-1": _convolution,
    "GroupConvolution-1": _group_convolution,
    "GroupNormalization-12": _group_norm,
    "MVN-6": _mvn,
    "MatMul-1": _matmul,
    "LogSoftmax-5": _log_softmax,
    "ScaledDotProductAttention-13": _attention,
    "SoftMax-8": _softmax,
}
