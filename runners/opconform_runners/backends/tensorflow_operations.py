"""The operations in TensorFlow's own, as the `tensorflow` backend traces them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from opconform.suite.case import Attribute
from opconform_runners.backends.backend import Rejected, Unsupported
from opconform_runners.backends.direct import BYTE_TYPES, Functions, Support, padded
from opconform_runners.backends.direct_operations import operations_of
from opconform_runners.backends.direct_reshape import MAPPED as ZEROS_MAPPED
from opconform_runners.backends.direct_reshape import zeros_copy
from opconform_runners.backends.direct_slice import INDICES, bits_of
from opconform_runners.backends.direct_split import MAPPED, given_axis
from opconform_runners.backends.exceptions import Call


def _split(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis = padded(inputs, 2)
    return _outputs_along(call, data, attributes.get("num_splits"), given_axis(axis, "build"))


def _variadic_split(call: Call, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis, lengths = padded(inputs, 3)
    sizes = tf.constant(lengths, tf.int64) if isinstance(lengths, int) else lengths
    return _outputs_along(call, data, sizes, _scalar(given_axis(axis, "build")))


def _outputs_along(call: Call, data: Any, sizes: Any, axis: Any) -> Sequence[Any]:
    given = {name: each for name, each in (("value", data), ("num_or_size_splits", sizes)) if each is not None}
    return list(call(tf.split, **given, axis=axis))


def _slice(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    indices = [_python(each) for each in inputs[1:]]
    if inputs[0] is not None and inputs[0].shape.rank is None:
        raise Unsupported("indexing needs a tensor of known rank")
    _check_limits(indices)
    return _KNOWN["Slice-8"].execute(call, [*inputs[:1], *indices], attributes)


def _check_limits(indices: Sequence[Any]) -> None:
    if any(abs(each) > tf.int64.max for one in indices if isinstance(one, list) for each in one if type(each) is int):
        raise Unsupported("TensorFlow's indices are i64 at most")


def _reshape(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    """`tf.reshape`; a 0 that copies no dimension becomes -2, which TensorFlow rejects."""
    data, shape = padded(inputs, 2)
    is_list = isinstance(shape, tf.Tensor) and shape.dtype.is_integer and shape.shape.rank == 1
    if zeros_copy(attributes, "build") and is_list and data is not None:
        [count] = shape.shape
        dimensions = tf.concat([tf.shape(data, shape.dtype), tf.fill([count], tf.constant(-2, shape.dtype))], 0)
        shape = tf.where(shape == 0, dimensions[:count], shape)
    given = {name: each for name, each in (("tensor", data), ("shape", shape)) if each is not None}
    return [call(tf.reshape, **given)]


def _strided_slice(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    """Indexing with constants, and `tf.strided_slice` at run time or for data of unknown rank."""
    data, *indices = padded(inputs, 4)
    values = [_python(each) for each in indices]
    is_open = data is not None and data.shape.rank is None
    if None in indices[:2] or not (is_open or any(isinstance(each, tf.Tensor) for each in values)):
        _check_limits(values)
        return _KNOWN["StridedSlice-1"].execute(call, [data, *values], attributes)
    begin, end = (_bounds(name, each) for name, each in zip(INDICES[:2], indices[:2], strict=True))
    stride = None if indices[2] is None else _bounds("stride", indices[2])
    bits = bits_of(attributes, begin.shape[0], "build")
    masks = {name: sum(bit << number for number, bit in enumerate(each)) for name, each in bits.items()}
    return [call(tf.strided_slice, data, begin, end, stride, **masks)]


def _bounds(name: str, given: Any) -> Any:
    """An index input in the type that all three share."""
    tensor = tf.convert_to_tensor(given)
    if not tensor.dtype.is_integer:
        raise Rejected("build", f"{name} has elements that are not integers", f"{name}.element-type")
    if tensor.shape.rank != 1:
        raise Rejected("build", f"{name} is not a list", f"{name}.rank")
    limited = tf.minimum(tensor, tf.int64.max) if tensor.dtype == tf.uint64 else tensor
    return tf.cast(limited, tf.int64)


def _transpose(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    arg, order = padded(inputs, 2)
    values = _python(order)
    if arg is not None and isinstance(values, list) and not values:
        return [call(tf.transpose, arg)]
    if arg is None or not isinstance(values, tf.Tensor):
        return _KNOWN["Transpose-1"].execute(call, [arg, values], attributes)
    inverted = tf.range(tf.rank(arg) - 1, -1, -1)
    perm = tf.cond(tf.size(values) > 0, lambda: values, lambda: tf.cast(inverted, values.dtype))
    return [call(tf.transpose, arg, perm)]


def _gather(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, indices, axis = padded(inputs, 3)
    if any(each is not None and each.shape.rank is None for each in (data, indices)):
        raise Unsupported("the dimensions of the axis and of batches need tensors of known ranks")
    return _KNOWN["Gather-8"].execute(call, [data, indices, _python(axis)], attributes)


def _take(data: Any, indices: Any, axis: int, batches: int) -> Any:
    """`tf.gather`, which takes indices of three types, counted from the front."""
    given = tf.cast(indices, tf.int64)
    last = given + tf.shape(data, tf.int64)[axis] if indices.dtype != tf.uint64 else tf.int64.max
    counted = tf.where(given < 0, last, given)
    return tf.gather(data, counted, axis=axis, batch_dims=batches)


def _gather_nd(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, indices = padded(inputs, 2)
    given = None if indices is None else tf.convert_to_tensor(indices)
    if any(each is not None and each.shape.rank is None for each in (data, given)):
        raise Unsupported("batch dimensions need tensors of known ranks")
    return _KNOWN["GatherND-8"].execute(call, [data, given], attributes)


def _take_nd(data: Any, indices: Any, batches: int) -> Any:
    """`tf.gather_nd`, which takes indices of three types, counted from the front, and does not broadcast."""
    if batches:
        shapes = [tf.shape(each, tf.int64) for each in (data, indices)]
        leading = tf.broadcast_dynamic_shape(*(each[:batches] for each in shapes))
        data, indices = (
            tf.broadcast_to(each, tf.concat([leading, shape[batches:]], 0))
            for each, shape in zip((data, indices), shapes, strict=True)
        )
    given, sizes = tf.cast(indices, tf.int64), tf.shape(data, tf.int64)[batches : batches + tf.shape(indices)[-1]]
    last = given + sizes if indices.dtype != tf.uint64 else tf.fill(tf.shape(given), tf.int64.max)
    return tf.gather_nd(data, tf.where(given < 0, last, given), batch_dims=batches)


def _pad(call: Call, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, begin, end, value = padded(inputs, 4)
    if data is not None and data.shape.rank is None:
        raise Unsupported("pads by dimension need a tensor of known rank")
    return _KNOWN["Pad-12"].execute(call, [data, _python(begin), _python(end), value], attributes)


def _padded(data: Any, pads: list[tuple[int, int]], mode: str, value: Any) -> Any:
    """`tf.pad`, whose default value is a number and not an empty string."""
    added = ("" if data.dtype == tf.string else 0) if value is None else value
    return tf.pad(data, tf.reshape(tf.constant(pads, tf.int64), (-1, 2)), mode.upper(), added)


def _python(given: Any) -> Any:
    """A constant as Python's own numbers; anything else as it is."""
    value = tf.get_static_value(given) if isinstance(given, tf.Tensor) else None
    return given if value is None else value.tolist()


def _scalar(axis: Any) -> Any:
    """The only element of an axis of shape [1]; a Python number if it is a constant integer."""
    if isinstance(axis, int) or axis.shape != (1,):
        return axis
    value = tf.get_static_value(axis)
    return int(value[0]) if axis.dtype == tf.int32 and value is not None else tf.reshape(axis, ())


#: How TensorFlow executes each operation with inputs that are known when the graph is built.
_KNOWN = operations_of(
    Functions(
        split=tf.split,
        split_with_sizes=tf.split,
        concat=tf.concat,
        reshape=tf.reshape,
        transpose=tf.transpose,
        pad=_padded,
        take=_take,
        take_nd=_take_nd,
        expand=None,
        integers=[tf.as_dtype(str(each.native)) for each in BYTE_TYPES if each.is_integer],
        takes_negative_order=False,
        modes=("constant", "reflect", "symmetric"),
        crops=(),
    )
)


def _changed(op: str, execute: Callable[..., Sequence[Any]], *mapped: str) -> Support:
    """A known operation that is executed in another way, and the requirements that the harness fulfils for it, too."""
    return replace(_KNOWN[op], execute=execute, mapped=(*_KNOWN[op].mapped, *mapped))


#: How TensorFlow executes each operation.
OPERATIONS: Mapping[str, Support] = {
    **_KNOWN,
    "Gather-8": _changed("Gather-8", _gather, "indices.negative"),
    "GatherND-8": _changed("GatherND-8", _gather_nd, "indices.negative"),
    "Pad-12": _changed("Pad-12", _pad),
    "Reshape-1": Support(execute=_reshape, mapped=ZEROS_MAPPED["Reshape-1"]),
    "Slice-8": _changed("Slice-8", _slice),
    "Split-1": Support(execute=_split, mapped=MAPPED["Split-1"]),
    "StridedSlice-1": _changed("StridedSlice-1", _strided_slice),
    "Transpose-1": _changed("Transpose-1", _transpose),
    "VariadicSplit-1": Support(execute=_variadic_split, mapped=MAPPED["VariadicSplit-1"]),
}
