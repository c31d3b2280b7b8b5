"""How TensorFlow executes each operation, also with settings at run time and tensors of unknown shapes."""

from collections.abc import Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
import tensorflow as tf

from opconform_products.frameworks.adapters.axes import AXES, LENGTHS_OF_SLICES, ONE_REPEAT_EACH, SHIFTS, TARGET
from opconform_products.frameworks.adapters.binary import PAIR, SELECTION
from opconform_products.frameworks.adapters.blocks import CROPPED, PADDED, images
from opconform_products.frameworks.adapters.convert import destination
from opconform_products.frameworks.adapters.gather import ALONG, ALONG_WHOLE, ELEMENTS, TUPLES, TUPLES_JOINED
from opconform_products.frameworks.adapters.layout import ZEROS
from opconform_products.frameworks.adapters.pads import added, pairs
from opconform_products.frameworks.adapters.patches import WINDOWS
from opconform_products.frameworks.adapters.pools import AVERAGED, SELECTED
from opconform_products.frameworks.adapters.products import (
    CONVOLVED,
    GROUPS_CONVOLVED,
    MATRICES,
    NORMALIZED,
    NORMALIZED_BY_CHANNELS,
)
from opconform_products.frameworks.adapters.ranges import SETTINGS, of_type
from opconform_products.frameworks.adapters.reductions import LARGEST, REDUCED, Order, along_axes, one_after_another
from opconform_products.frameworks.adapters.scatters import REGION_OF_SHAPE, SLICES_AT, tuples_at
from opconform_products.frameworks.adapters.slices import SLICES, STRIDED
from opconform_products.frameworks.adapters.split import CONCAT, EVEN, LENGTHS
from opconform_products.frameworks.adapters.squeeze import NEW_ONE_BY_ONE, REMOVED_ONES, one_by_one
from opconform_products.frameworks.adapters.unary import infinities, unary_rows
from opconform_products.frameworks.adapters.unique import UNSORTED
from opconform_products.frameworks.framework import BYTE_TYPES, Adapter, Row
from opconform_products.tensorflow.pools import avg_pool, max_pool
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import INDICES, bits_of, rank_of, strided

_LAST = tf.int64.max
#: The types for which the operations used here have CPU kernels.
TYPES = {byte_type.name: tf.as_dtype(str(byte_type.native)) for byte_type in BYTE_TYPES if byte_type.name != "f8e8m0"}


def _range(start: Any, stop: Any, step: Any, kind: Any) -> Any:
    """`tf.range`, which casts fractions to integers in arrays, but refuses those of Python."""
    return tf.range(*(np.asarray(x) if isinstance(x, float) else x for x in (start, stop, step)), dtype=kind)


def _take(data: Any, indices: Any, axis: int, batches: int) -> Any:
    """`tf.gather`, which takes indices of three types, counted from the front."""
    return tf.gather(data, _long(indices), axis=axis, batch_dims=batches)


def _take_from_both_ends(data: Any, indices: Any, axis: int, batches: int) -> Any:
    return _take(data, _from_front(indices, tf.shape(data, tf.int64)[axis]), axis, batches)


def _take_nd(data: Any, indices: Any, batches: int) -> Any:
    """`tf.gather_nd`, which takes indices of three types, counted from the front, and does not broadcast."""
    if batches:
        shapes = [tf.shape(tensor, tf.int64) for tensor in (data, indices)]
        leading = tf.broadcast_dynamic_shape(*(shape[:batches] for shape in shapes))
        data, indices = (
            tf.broadcast_to(tensor, tf.concat([leading, shape[batches:]], 0))
            for tensor, shape in zip((data, indices), shapes, strict=True)
        )
    return tf.gather_nd(data, _long(indices), batch_dims=batches)


def _take_nd_from_both_ends(data: Any, indices: Any, batches: int) -> Any:
    return _take_nd(data, _tuples_from_front(data, indices, batches), batches)


def _take_nd_joined(data: Any, indices: Any, batches: int) -> Any:
    """The same with all batch dimensions as one."""
    output = _take_nd(data, indices, batches)
    shape = tf.shape(output, tf.int64)
    whole = tf.concat([[tf.reduce_prod(shape[:batches])], shape[batches:]], 0)
    return tf.reshape(output, whole) if batches > 1 else output


def _from_front(indices: Any, sizes: Any) -> Any:
    """Indices counted from the front, given indices whose negative ones count from the end."""
    long = _long(indices)
    return tf.where(long < 0, long + sizes, long)


def _tuples_from_front(data: Any, indices: Any, batches: int = 0) -> Any:
    return _from_front(indices, tf.shape(data, tf.int64)[batches : batches + tf.shape(indices)[-1]])


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


def _channels_last(function: Any, data: Any, block_size: int) -> Any:
    """A function for images with their channels at the end, which is the layout that the CPU has."""
    return tf.transpose(function(tf.transpose(data, (0, 2, 3, 1)), block_size), (0, 3, 1, 2))


def _patches(data: Any, mode: str, *pairs: list[int]) -> Any:
    """`tf.image.extract_patches`, which has the channels at the end, in its only layout."""
    if mode == "same_lower":
        raise Unsupported("the framework has no mode same_lower")
    padding = {"valid": "VALID", "same_upper": "SAME"}[mode]
    patches = tf.image.extract_patches(tf.transpose(data, (0, 2, 3, 1)), *([1, *pair, 1] for pair in pairs), padding)
    return tf.transpose(patches, (0, 3, 1, 2))


def _update(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """`tf.tensor_scatter_nd_update`, which replaces slices along the first dimension."""
    long, rank = _long(indices), data.shape.rank
    if not long.shape.rank:
        long, updates = long[tf.newaxis], tf.expand_dims(updates, axis)
    positions = long.shape.rank
    order = [axis, *range(axis), *range(axis + 1, rank)]
    of_updates = [*range(axis, axis + positions), *range(axis), *range(axis + positions, rank + positions - 1)]
    tuples, back = long[..., tf.newaxis], [*range(1, axis + 1), 0, *range(axis + 1, rank)]
    moved = tf.tensor_scatter_nd_update(tf.transpose(data, order), tuples, tf.transpose(updates, of_updates))
    return tf.transpose(moved, back)


#: The functions of reductions of elements and slices at tuples.
_PUT = {
    "none": tf.tensor_scatter_nd_update,
    "sum": tf.tensor_scatter_nd_add,
    "sub": tf.tensor_scatter_nd_sub,
    "min": tf.tensor_scatter_nd_min,
    "max": tf.tensor_scatter_nd_max,
}


def _put(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
    """The function for a reduction, which takes a list of tuples."""
    if reduction not in _PUT:
        raise Unsupported(f"TensorFlow has no reduction {reduction}")
    if indices.shape.rank == 1:
        indices, updates = indices[tf.newaxis], updates[tf.newaxis]
    return _PUT[reduction](data, indices, updates)


def _put_from_both_ends(data: Any, indices: Any, updates: Any, reduction: str) -> Any:
    return _put(data, _tuples_from_front(data, indices), updates, reduction)


def _region(data: Any, updates: Any, entries: tuple[slice, ...]) -> Any:
    """TensorFlow's operation behind assignments to slices of variables."""
    whole = sum((slice_.step is None) << place for place, slice_ in enumerate(entries))
    bounds = [[getattr(slice_, name) or 0 for slice_ in entries] for name in ("start", "stop")]
    steps = [1 if slice_.step is None else slice_.step for slice_ in entries]
    begin, end, strides = (_bounds(numbers) for numbers in (*bounds, steps))
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=data, begin=begin, end=end, strides=strides, value=updates, begin_mask=whole, end_mask=whole
    )


def _long(indices: Any) -> Any:
    """Indices in a type that TensorFlow takes; those that it lacks stay out of range."""
    if isinstance(indices, int):
        return tf.constant(indices, tf.int64)
    return tf.cast(tf.minimum(indices, _LAST) if indices.dtype == tf.uint64 else indices, tf.int64)


def _classes(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Sequence[Any]:
    rank = rank_of(indices) + 1
    refuse_if(not -rank <= axis < rank, "axis.range")
    return indices, depth, on_value, off_value, axis % rank


def _cum_sum(data: Any, axis: int = 0, *, exclusive: bool, reverse: bool) -> Any:
    return tf.cumsum(data, axis, exclusive, reverse)


def _top_k(data: Any, k: Any, axis: int, order: Order, kind: str) -> list[Any]:
    """`tf.math.top_k`, of the last dimension, which has the first one of equal elements first."""
    if not order.largest:
        raise Unsupported("TensorFlow has no smallest elements")
    places = [*range(data.shape.rank)]
    places[axis], places[-1] = places[-1], places[axis]
    results = tf.math.top_k(tf.transpose(data, places), k, order.is_sorted, index_type=TYPES[kind])
    return [tf.transpose(x, places) for x in results]


def _shape_of(data: Any, output_type: str = "i64") -> Any:
    return tf.shape(data, {"i64": tf.int64, "i32": tf.int32}[output_type])


def _non_zero(data: Any, output_type: str = "i64") -> Any:
    """`tf.where` of one argument, which has a row for each element."""
    return tf.cast(tf.transpose(tf.where(data)), TYPES[output_type])


def _unique(data: Any, axes: list[int], index_type: str, count_type: str) -> list[Any]:
    """TensorFlow's operation behind `tf.unique`, and the least index of each unique slice, which it does not return."""
    whole = data if axes else tf.reshape(data, (-1,))
    axis = tf.constant(axes or [0], tf.int64)
    kept, places, counts = tf.raw_ops.UniqueWithCountsV2(x=whole, axis=axis, out_idx=tf.int64)
    firsts = tf.math.unsorted_segment_min(tf.range(tf.size(places, tf.int64)), places, tf.size(counts))
    return [kept, *(tf.cast(x, TYPES[index_type]) for x in (firsts, places)), tf.cast(counts, TYPES[count_type])]


def _reverse_sequence(data: Any, lengths: Any, seq_axis: int, batch_axis: int) -> Any:
    """`tf.reverse_sequence`, whose lengths have one of two integer types."""
    if not lengths.dtype.is_integer:
        raise Unsupported("TensorFlow's lengths are integers")
    return tf.reverse_sequence(data, lengths, seq_axis, batch_axis)


def _squeeze(data: Any, axes: tuple[int, ...] | None = None) -> Any:
    """`tf.squeeze`, in which an empty list of axes stands for all."""
    return tf.identity(data) if axes == () else tf.squeeze(data, axes)


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


def _divide(a: Any, b: Any, is_floor: bool) -> Any:
    if a.dtype.is_floating:
        return tf.divide(a, b)
    return tf.math.floordiv(a, b) if is_floor else tf.truncatediv(a, b)


def _matmul(a: Any, b: Any, of_a: bool, of_b: bool) -> Any:
    """`tf.matmul`, which takes no vectors."""
    if len(a.shape) < 2 or len(b.shape) < 2:  # noqa: PLR2004 - matrices
        raise Unsupported("the framework multiplies matrices")
    return tf.matmul(a, b, of_a, of_b)


def _convolution(data: Any, filters: Any, strides: list[int], pads: list[tuple[int, int]], rates: list[int]) -> Any:
    """`tf.nn.convolution` with the channels last, as the CPU takes them."""
    spatial = [*range(2, len(strides) + 2)]
    padded = tf.pad(data, [(0, 0), (0, 0), *pads])
    moved, weights = tf.transpose(padded, [0, *spatial, 1]), tf.transpose(filters, [*spatial, 1, 0])
    output = tf.nn.convolution(moved, weights, strides, "VALID", dilations=rates)
    return tf.transpose(output, [0, len(spatial) + 1, *range(1, len(spatial) + 1)])


def _group_convolution(data: Any, filters: Any, *arguments: Any) -> Any:
    """The same function, which derives the groups from the channels of the filters."""
    *windows, groups = arguments
    if groups > 1 and len(windows[0]) > 2:  # noqa: PLR2004 - images
        raise Unsupported("the framework's convolution of volumes has no groups")
    whole = tf.reshape(filters, tf.concat([[groups * tf.shape(filters)[1]], tf.shape(filters)[2:]], 0))
    return _convolution(data, whole, *windows)


def _normalized(data: Any, axes: tuple[int, ...], eps: float) -> Any:
    mean, variance = tf.nn.moments(data, axes, keepdims=True)
    return tf.nn.batch_normalization(data, mean, variance, None, None, eps)


def _elu(data: Any, alpha: float) -> Any:
    if alpha != 1:
        raise Unsupported("TensorFlow's elu has no factor")
    return tf.nn.elu(data)


def _normalized_by_channels(data: Any, *channels_and_epsilon: Any) -> Any:
    """`tf.nn.batch_normalization`, which has the channels last."""
    *channels, epsilon = channels_and_epsilon
    inner = [1] * (len(data.shape) - 2)
    gamma, beta, mean, variance = (tf.reshape(channel, [-1, *inner]) for channel in channels)
    return tf.nn.batch_normalization(data, mean, variance, beta, gamma, epsilon)


_UNARY = {
    "Abs-1": tf.abs,
    "BitwiseNot-13": tf.bitwise.invert,
    "Ceiling-1": tf.math.ceil,
    "Clamp-1": tf.clip_by_value,
    "Cos-1": tf.cos,
    "Elu-1": _elu,
    "Erf-1": tf.math.erf,
    "Exp-1": tf.exp,
    "Floor-1": tf.floor,
    "Gelu-7": tf.nn.gelu,
    "IsFinite-10": tf.math.is_finite,
    "IsInf-10": infinities(tf.math.is_inf),
    "IsNaN-10": tf.math.is_nan,
    "Log-1": tf.math.log,
    "LogicalNot-1": tf.logical_not,
    "Negative-1": tf.negative,
    "ReLU-1": tf.nn.relu,
    "Round-5": tf.round,
    "Sigmoid-1": tf.sigmoid,
    "Sin-1": tf.sin,
    "SoftPlus-4": tf.math.softplus,
    "SoftSign-9": tf.nn.softsign,
    "Sign-1": tf.sign,
    "Sqrt-1": tf.sqrt,
    "Swish-4": tf.nn.silu,
    "Tan-1": tf.tan,
    "Tanh-1": tf.tanh,
}
ROWS = {
    **unary_rows(_UNARY, TYPES),
    "Add-1": Row(tf.add, PAIR),
    **dict.fromkeys(("AvgPool-1", "AvgPool-14"), Row(avg_pool, AVERAGED)),
    "BatchNormInference-5": Row(_normalized_by_channels, NORMALIZED_BY_CHANNELS),
    "BatchToSpace-2": Row(tf.batch_to_space, CROPPED),
    "BitwiseAnd-13": Row(tf.bitwise.bitwise_and, PAIR),
    "BitwiseLeftShift-15": Row(tf.bitwise.left_shift, PAIR),
    "BitwiseOr-13": Row(tf.bitwise.bitwise_or, PAIR),
    "BitwiseRightShift-15": Row(tf.bitwise.right_shift, PAIR),
    "BitwiseXor-13": Row(tf.bitwise.bitwise_xor, PAIR),
    "Broadcast-1": Row(tf.broadcast_to, TARGET),
    "Broadcast-3": Row(tf.broadcast_to, TARGET),
    "Concat-1": Row(lambda axis, tensors: tf.concat(tensors, axis=axis), CONCAT),
    "DepthToSpace-1": Row(partial(_channels_last, tf.nn.depth_to_space), images("blocks_first")),
    "Convert-1": Row(tf.cast, destination(TYPES)),
    "ConvertLike-1": Row(lambda data, like: tf.cast(data, like.dtype), tensors=("like",)),
    "Divide-1": Row(_divide, PAIR),
    "Equal-1": Row(tf.equal, PAIR),
    "Convolution-1": Row(_convolution, CONVOLVED),
    "GroupConvolution-1": Row(_group_convolution, GROUPS_CONVOLVED),
    "CumSum-3": Row(_cum_sum),
    "ExtractImagePatches-3": Row(_patches, WINDOWS),
    "FloorMod-1": Row(tf.math.floormod, PAIR),
    "Gather-1": Row(_take, ALONG_WHOLE, tensors=("indices",)),
    "Gather-7": Row(_take, ALONG, tensors=("indices",)),
    "Gather-8": Row(_take_from_both_ends, ALONG, ("indices.negative",)),
    "GatherElements-6": Row(tf.experimental.numpy.take_along_axis, ELEMENTS, tensors=("indices",)),
    "GatherND-5": Row(_take_nd_joined, TUPLES_JOINED, tensors=("indices",)),
    "GatherND-8": Row(_take_nd_from_both_ends, TUPLES, ("indices.negative",), tensors=("indices",)),
    "Greater-1": Row(tf.greater, PAIR),
    "GreaterEqual-1": Row(tf.greater_equal, PAIR),
    "Less-1": Row(tf.less, PAIR),
    "LessEqual-1": Row(tf.less_equal, PAIR),
    "LogSoftmax-5": Row(tf.nn.log_softmax),
    "LogicalAnd-1": Row(tf.logical_and, PAIR),
    "LogicalOr-1": Row(tf.logical_or, PAIR),
    "LogicalXor-1": Row(tf.math.logical_xor, PAIR),
    "Maximum-1": Row(tf.maximum, PAIR),
    "Minimum-1": Row(tf.minimum, PAIR),
    "Mod-1": Row(tf.truncatemod, PAIR),
    "Multiply-1": Row(tf.multiply, PAIR),
    "NonZero-3": Row(_non_zero),
    "NotEqual-1": Row(tf.not_equal, PAIR),
    "MVN-6": Row(_normalized, NORMALIZED),
    "MatMul-1": Row(_matmul, MATRICES),
    **dict.fromkeys(
        ("MaxPool-8", "MaxPool-14"),
        Row(lambda data, pool, axis, kind: max_pool(data, pool, axis, TYPES[kind]), SELECTED),
    ),
    "OneHot-1": Row(tf.one_hot, Adapter(_classes, ("axis.range",)), tensors=("indices",)),
    "Pad-1": Row(_pad, added(("constant", "reflect", "symmetric"))),
    "Pad-12": Row(_pad, pairs(("constant", "reflect", "symmetric"), crops=())),
    "Power-1": Row(tf.pow, PAIR),
    "ReduceL1-4": Row(one_after_another(lambda data, axis, keep: tf.norm(data, 1, axis, keep)), REDUCED),
    "ReduceL2-4": Row(along_axes(tf.math.reduce_euclidean_norm), REDUCED),
    "ReduceLogicalAnd-1": Row(along_axes(tf.reduce_all), REDUCED),
    "ReduceLogicalOr-1": Row(along_axes(tf.reduce_any), REDUCED),
    "ReduceMax-1": Row(along_axes(tf.reduce_max), REDUCED),
    "ReduceMean-1": Row(along_axes(tf.reduce_mean), REDUCED),
    "ReduceMin-1": Row(along_axes(tf.reduce_min), REDUCED),
    "ReduceProd-1": Row(along_axes(tf.reduce_prod), REDUCED),
    "ReduceSum-1": Row(along_axes(tf.reduce_sum), REDUCED),
    "Range-4": Row(_range, of_type(TYPES), run_time=SETTINGS),
    "Reshape-1": Row(
        _reshape,
        Adapter(None, ZEROS, constraints=("special_zero",)),
        tensors=("shape",),
        types={"shape": ("i64", "i32")},
    ),
    "Reverse-1": Row(tf.reverse, AXES),
    "ReverseSequence-1": Row(
        _reverse_sequence, LENGTHS_OF_SLICES, tensors=("seq_lengths",), types={"seq_lengths": ("i64", "i32")}
    ),
    "Roll-7": Row(tf.roll, SHIFTS),
    "ScatterNDUpdate-3": Row(_put, tuples_at(), tensors=("indices",)),
    "ScatterNDUpdate-15": Row(
        _put_from_both_ends, tuples_at("indices.tuple-length"), ("indices.negative",), tensors=("indices",)
    ),
    "ScatterUpdate-3": Row(_update, SLICES_AT, tensors=("indices",)),
    "Select-1": Row(tf.where, SELECTION),
    "ShapeOf-1": Row(_shape_of),
    "ShapeOf-3": Row(_shape_of),
    "Slice-8": Row(_item, SLICES),
    "SliceScatter-15": Row(_region, REGION_OF_SHAPE),
    "SoftMax-8": Row(tf.nn.softmax),
    "SpaceToBatch-2": Row(tf.space_to_batch, PADDED),
    "SpaceToDepth-1": Row(partial(_channels_last, tf.nn.space_to_depth), images("blocks_first")),
    "Split-1": Row(lambda axis, *split: tf.split(*split, axis=axis), EVEN, tensors=("axis",), types={"axis": ("i32",)}),
    "SquaredDifference-1": Row(tf.math.squared_difference, PAIR),
    "Squeeze-1": Row(_squeeze, REMOVED_ONES),
    "Squeeze-15": Row(_squeeze, REMOVED_ONES),
    "StridedSlice-1": Row(_strided_slice, Adapter(None, STRIDED.mapped), run_time=INDICES),
    "Subtract-1": Row(tf.subtract, PAIR),
    "Tile-1": Row(tf.tile, ONE_REPEAT_EACH),
    "TopK-11": Row(_top_k, LARGEST),
    "Transpose-1": Row(
        _transpose, Adapter(None, ("order.empty",)), run_time=("input_order",), types={"input_order": ("i64", "i32")}
    ),
    "Unique-10": Row(_unique, UNSORTED),
    "Unsqueeze-1": Row(one_by_one(tf.expand_dims), NEW_ONE_BY_ONE),
    "VariadicSplit-1": Row(
        _variadic_split,
        LENGTHS,
        tensors=("axis", "split_lengths"),
        types={"axis": ("i32",), "split_lengths": ("i64", "i32", "i8")},
    ),
}
