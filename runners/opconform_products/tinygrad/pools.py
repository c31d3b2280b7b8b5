"""How tinygrad executes pooling."""

from typing import Any

from tinygrad import Tensor as Tiny
from tinygrad import dtypes

from opconform_products.frameworks.adapters.pools import Pool, indices_from
from opconform_runners.backends.backend import Unsupported


def _lists(pool: Pool) -> tuple[tuple[int, ...], ...]:
    """The kernel, the strides, the dilations, and the padding of the last dimension first."""
    padding = tuple(number for pair in reversed(pool.pads) for number in pair)
    return tuple(pool.kernel), tuple(pool.strides), tuple(pool.dilations), padding


def avg_pool(data: Any, pool: Pool, excludes: bool) -> Any:
    """The method `avg_pool2d`, which takes any number of dimensions."""
    if not dtypes.is_float(data.dtype):
        raise Unsupported("a mean of integers in tinygrad has a floating-point type")
    return data.avg_pool2d(*_lists(pool), ceil_mode=pool.is_ceil, count_include_pad=not excludes)


def max_pool(data: Any, pool: Pool, axis: int, kind: Any) -> list[Any]:
    """The method `max_pool2d`, which takes any number of dimensions."""
    values, places = data.max_pool2d(*_lists(pool), ceil_mode=pool.is_ceil, return_indices=True)
    first, shape, count = indices_from(data.shape, axis)
    indices = places + Tiny.arange(first.start, first.stop, first.step).reshape(shape)
    return [values, (indices % count).cast(kind)]
