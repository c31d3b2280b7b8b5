"""How the pooling operations become calls of a framework."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from opconform_products.frameworks.adapters.windows import LISTS, check_lists, mapped_lists, padding
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


class Pool(NamedTuple):
    """The windows of a pooling operation: their sizes, and what is per spatial dimension; and what pads data.

    Attributes:
        is_ceil: Whether the last window may reach beyond data with its padding; it starts in data or the padding of its
            beginning.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: list[tuple[int, int]]
    auto_pad: str
    is_ceil: bool

    @property
    def equal_pads(self) -> list[int]:
        """The padding of each dimension, for functions that pad both ends alike."""
        if any(begin != end for begin, end in self.pads):
            raise Unsupported("the framework pads both ends alike")
        return [begin for begin, _ in self.pads]


def _pooled(data: Any, *, kernel: tuple[int, ...], auto_pad: str, rounding_type: str, **others: Any) -> Sequence[Any]:
    rank = rank_of(data)
    lists = {name: others.get(name) or (1,) * (rank - 2) for name in LISTS}
    refuse_if(len(kernel) != rank - 2, "kernel.count")
    refuse_if(min(kernel) < 1, "kernel.positive")
    check_lists(rank - 2, auto_pad, lists)
    pads = padding(data.shape[2:], kernel, auto_pad, lists)
    is_ceil = rounding_type != "floor" and not auto_pad.startswith("same")
    pool = Pool(kernel, lists["strides"], lists["dilations"], pads, auto_pad, is_ceil)
    if is_ceil and rounding_type == "ceil":
        _check_last_windows(data.shape[2:], pool)
    return data, pool


def _check_last_windows(lengths: Sequence[int | None], pool: Pool) -> None:
    """Raise `Unsupported` if a last window of `ceil` starts behind data, where frameworks have none."""
    for length, size, stride, dilation, (begin, end) in zip(
        lengths, pool.kernel, pool.strides, pool.dilations, pool.pads, strict=True
    ):
        if length is None:
            raise Unsupported("the size of a dimension that is only known at run time decides the last window")
        steps = -(-(length + begin + end - (size - 1) * dilation - 1) // max(stride, 1))
        if steps * stride >= length + begin:
            raise Unsupported("the framework has no last window that starts behind data")


def _selected(data: Any, *, axis: int, index_element_type: str, **attributes: Any) -> Sequence[Any]:
    rank = rank_of(data)
    refuse_if(not -rank <= axis < rank, "axis.range")
    return *_pooled(data, **attributes), axis % rank, index_element_type


def _averaged(data: Any, *, exclude_pad: bool, **attributes: Any) -> Sequence[Any]:
    return *_pooled(data, **attributes), exclude_pad


def indices_from(shape: Sequence[int | None], axis: int) -> tuple[range, tuple[int, ...], int]:
    """What makes indices in data from an axis on, of those in the spatial dimensions of each channel.

    The indices of the first elements of channels, the shape in which they are added, and what the sum is divided by, of
    which the remainder is the index.
    """
    if None in shape:
        raise Unsupported("the sizes of data, which are only known at run time, decide the indices")
    sizes = [size or 0 for size in shape]
    step = max(prod(sizes[2:]), 1)
    first = range(0, prod(sizes[:2]) * step, step)
    return first, (*sizes[:2], *[1] * (len(sizes) - 2)), max(prod(sizes[axis:]), 1)


_COMMON = (
    *("kernel.count", "kernel.positive", "rounding_type.default", "same.size", "valid.rounding"),
    *(f"auto_pad.{word}" for word in ("default", "explicit", "ignored", "valid", "same-upper", "same-lower")),
)
#: Data, its windows, and whether their padding does not count.
AVERAGED = Adapter(_averaged, (*mapped_lists([name for name in LISTS if name != "dilations"]), *_COMMON))
#: Data, its windows, the axis from the front, and the type of the indices.
SELECTED = Adapter(
    _selected,
    (
        *mapped_lists(LISTS),
        *_COMMON,
        *("axis.range", "axis.negative", "axis.default", "axis.bound"),
        *("dilations.default", "index_element_type.default"),
    ),
)
