"""How TensorFlow executes pooling."""

from typing import Any

import tensorflow as tf

from opconform_products.frameworks.adapters.pools import Pool, indices_from
from opconform_runners.backends.backend import Unsupported

#: The spatial dimensions of an image.
_SPATIAL = 2


def avg_pool(data: Any, pool: Pool, excludes: bool) -> Any:
    """`tf.nn.avg_pool`, whose channels are last, and whose zeros never count."""
    if not data.dtype.is_floating:
        raise Unsupported("TensorFlow averages no integers")
    is_same = pool.auto_pad == "same_upper"
    if pool.auto_pad == "same_lower" or (not is_same and (pool.is_ceil or any(map(any, pool.pads)))):
        raise Unsupported("TensorFlow averages whole windows of data that is not padded, or padded as same_upper")
    if any(map(any, pool.pads)) and not excludes:
        raise Unsupported("zeros never count in TensorFlow")
    rank = len(pool.kernel) + 2
    moved = tf.transpose(data, [0, *range(2, rank), 1])
    means = tf.nn.avg_pool(moved, pool.kernel, pool.strides, "SAME" if is_same else "VALID")
    return tf.transpose(means, [0, rank - 1, *range(1, rank - 1)])


def max_pool(data: Any, pool: Pool, axis: int, kind: Any) -> list[Any]:
    """`tf.nn.max_pool_with_argmax`, whose indices are those in an image with the channels last."""
    if len(pool.kernel) != _SPATIAL or pool.auto_pad == "same_lower" or {*pool.dilations} != {1}:
        raise Unsupported("TensorFlow selects elements of windows without dilations in images, padded as same_upper")
    is_same = pool.auto_pad == "same_upper"
    if not is_same and (pool.is_ceil or any(map(any, pool.pads))):
        raise Unsupported("TensorFlow selects elements of whole windows of data that is not padded")
    images = tf.transpose(data, [0, 2, 3, 1])
    found = tf.nn.max_pool_with_argmax(images, pool.kernel, pool.strides, "SAME" if is_same else "VALID")
    values, places = (tf.transpose(x, [0, 3, 1, 2]) for x in found)
    first, shape, count = indices_from(data.shape, axis)
    indices = places // data.shape[1] + tf.reshape(tf.constant([*first], tf.int64), shape)
    return [values, tf.cast(indices % count, kind)]
