"""How tinygrad executes pooling."""

from typing import Any

from tinygrad import Tensor as Tiny

from opconform_products.frameworks.adapters.pools import Pool, indices_from


def max_pool(data: Any, pool: Pool, axis: int, kind: Any) -> list[Any]:
    """The method `max_pool2d`, which takes any number of dimensions, and the padding of the last one first."""
    padding = tuple(number for pair in reversed(pool.pads) for number in pair)
    lists = tuple(pool.kernel), tuple(pool.strides), tuple(pool.dilations), padding
    values, places = data.max_pool2d(*lists, ceil_mode=pool.is_ceil, return_indices=True)
    first, shape, count = indices_from(data.shape, axis)
    indices = places + Tiny.arange(first.start, first.stop, first.step).reshape(shape)
    return [values, (indices % count).cast(kind)]
