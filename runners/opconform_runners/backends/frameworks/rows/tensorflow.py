"""How TensorFlow executes each operation, also with settings at run time and tensors of unknown shapes."""

from operator import getitem
from typing import Any

import tensorflow as tf

from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.frameworks.adapters.axes import AXES, ONE_REPEAT_EACH, SHIFTS
from opconform_runners.backends.frameworks.adapters.gather import ALONG, TUPLES
from opconform_runners.backends.frameworks.adapters.layout import ZEROS
from opconform_runners.backends.frameworks.adapters.pads import pairs
from opconform_runners.backends.frameworks.adapters.slices import INDICES, SLICES, STRIDED, bits_of, strided
from opconform_runners.backends.frameworks.adapters.split import CONCAT, EVEN, LENGTHS
from opconform_runners.backends.frameworks.framework import Adapter, Row

_LAST = tf.int64.max


def _take(data: Any, indices: Any, axis: int, batches: int) -> Any:
    """`tf.gather`, which takes indices of three types, counted from the front."""
    long = tf.cast(indices, tf.int64)
    last = long + tf.shape(data, tf.int64)[axis] if indices.dtype != tf.uint64 else _LAST
    return tf.gather(data, tf.where(long < 0, last, long), axis=axis, batch_dims=batches)


def _take_nd(data: Any, indices: Any, batches: int) -> Any:
    """`tf.gather_nd`, which takes indices of three types, counted from the front, and does not broadcast."""
    if batches:
        shapes = [tf.shape(tensor, tf.int64) for tensor in (data, indices)]
        leading = tf.broadcast_dynamic_shape(*(shape[:batches] for shape in shapes))
        data, indices = (
            tf.broadcast_to(tensor, tf.concat([leading, shape[batches:]], 0))
            for tensor, shape in zip((data, indices), shapes, strict=True)
        )
    long, sizes = tf.cast(indices, tf.int64), tf.shape(data, tf.int64)[batches : batches + tf.shape(indices)[-1]]
    last = long + sizes if indices.dtype != tf.uint64 else tf.fill(tf.shape(long), _LAST)
    return tf.gather_nd(data, tf.where(long < 0, last, long), batch_dims=batches)


def _pad(data: Any, pads: list[tuple[int, int]], mode: str, value: Any = None) -> Any:
    """`tf.pad`, whose default value is a number and not an empty string."""
    added = ("" if data.dtype == tf.string else 0) if value is None else value
    return tf.pad(data, tf.reshape(tf.constant(pads, tf.int64), (-1, 2)), mode.upper(), added)


def _reshape(data: Any, shape: Any, *, special_zero: bool) -> Any:
    """`tf.reshape`; a 0 that copies no dimension becomes -2, which TensorFlow rejects."""
    if special_zero and isinstance(shape, tf.Tensor) and shape.dtype.is_integer and shape.shape.rank == 1:
        [count] = shape.shape
        dimensions = tf.concat([tf.shape(data, shape.dtype), tf.fill([count], tf.constant(-2, shape.dtype))], 0)
        shape = tf.where(shape == 0, dimensions[:count], shape)
    return tf.reshape(data, shape)


def _item(data: Any, index: tuple[Any, ...]) -> Any:
    """Indexing with constants, which are i64 at most."""
    slices = [entry if isinstance(entry, slice) else slice(entry) for entry in index]
    numbers = [number for s in slices for number in (s.start, s.stop, s.step) if isinstance(number, int)]
    if any(abs(number) > _LAST for number in numbers):
        raise Unsupported("TensorFlow's indices are i64 at most")
    return getitem(data, index)


def _strided_slice(data: Any, begin: Any, end: Any, stride: Any = None, **masks: Any) -> Any:
    """Indexing with constants, and `tf.strided_slice` at run time or for data of unknown rank."""
    if data.shape.rank is not None and not any(isinstance(value, tf.Tensor) for value in (begin, end, stride)):
        return _item(*strided(data, begin, end, stride, **masks))
    bounds: list[Any] = [None if value is None else _bounds(value) for value in (begin, end, stride)]
    bits = bits_of(masks, bounds[0].shape[0])
    sums = {name: sum(bit << number for number, bit in enumerate(mask)) for name, mask in bits.items()}
    return tf.strided_slice(data, *bounds, **sums)


def _bounds(index: Any) -> Any:
    """An index input in the type that all three share."""
    if isinstance(index, list):
        return tf.constant([min(number, _LAST) for number in index], tf.int64)
    return tf.cast(tf.minimum(index, _LAST) if index.dtype == tf.uint64 else index, tf.int64)


def _transpose(arg: Any, order: Any) -> Any:
    """`tf.transpose`, which inverts the dimensions by default."""
    if isinstance(order, list):
        return tf.transpose(arg, order or None)
    inverted = tf.range(tf.rank(arg) - 1, -1, -1)
    return tf.transpose(arg, tf.cond(tf.size(order) > 0, lambda: order, lambda: tf.cast(inverted, order.dtype)))


def _variadic_split(axis: Any, *split: Any) -> Any:
    """`tf.split`, with an axis that is a scalar, and lengths that are a tensor."""
    if not isinstance(axis, int) and axis.shape == (1,):
        value = tf.get_static_value(axis)
        axis = int(value[0]) if axis.dtype == tf.int32 and value is not None else tf.reshape(axis, ())
    return tf.split(*(tf.constant(part, tf.int64) if isinstance(part, int) else part for part in split), axis=axis)


ROWS = {
    "Concat-1": Row(lambda axis, tensors: tf.concat(tensors, axis=axis), CONCAT),
    "Gather-8": Row(_take, ALONG, ("indices.negative",)),
    "GatherND-8": Row(_take_nd, TUPLES, ("indices.negative",), tensors=("indices",)),
    "Pad-12": Row(_pad, pairs(("constant", "reflect", "symmetric"), crops=())),
    "Reshape-1": Row(
        _reshape,
        Adapter(None, ZEROS, constraints=("special_zero",)),
        tensors=("shape",),
        types={"shape": ("i64", "i32")},
    ),
    "Reverse-1": Row(tf.reverse, AXES),
    "Roll-7": Row(tf.roll, SHIFTS),
    "Slice-8": Row(_item, SLICES),
    "Split-1": Row(lambda axis, *split: tf.split(*split, axis=axis), EVEN, tensors=("axis",), types={"axis": ("i32",)}),
    "StridedSlice-1": Row(_strided_slice, Adapter(None, STRIDED.mapped), run_time=INDICES),
    "Tile-1": Row(tf.tile, ONE_REPEAT_EACH),
    "Transpose-1": Row(
        _transpose, Adapter(None, ("order.empty",)), run_time=("input_order",), types={"input_order": ("i64", "i32")}
    ),
    "VariadicSplit-1": Row(
        _variadic_split,
        LENGTHS,
        tensors=("axis", "split_lengths"),
        types={"axis": ("i32",), "split_lengths": ("i64", "i32", "i8")},
    ),
}
