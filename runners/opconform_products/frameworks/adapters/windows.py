"""How the attributes of windows that slide over images become the arguments of a call."""

from collections.abc import Mapping, Sequence
from typing import Any

from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if

#: The attributes with one number per spatial dimension, without the sizes of windows.
LISTS = ("strides", "pads_begin", "pads_end", "dilations")


def mapped_lists(names: Sequence[str]) -> list[str]:
    """The requirements that the check of lists fulfils."""
    return [f"{name}.{word}" for name in names for word in ("count", "negative")]


def check_lists(spatial: int, auto_pad: str, lists: Mapping[str, Sequence[int]]) -> None:
    """Raise `Rejected` for another number of elements than spatial dimensions, or for negative ones."""
    for name, numbers in lists.items():
        if auto_pad == "explicit" or not name.startswith("pads"):
            refuse_if(len(numbers) != spatial, f"{name}.count")
            refuse_if(min(numbers) < 0, f"{name}.negative")


def padding(
    lengths: Sequence[Any], sizes: Sequence[Any], auto_pad: str, lists: Mapping[str, Sequence[int]]
) -> list[tuple[int, int]]:
    """The padding of both ends of each spatial dimension."""
    strides, begin, end, dilations = (lists[name] for name in LISTS)
    if not auto_pad.startswith("same"):
        return [*zip(begin, end, strict=True)] if auto_pad == "explicit" else [(0, 0)] * len(strides)
    if None in (*lengths, *sizes):
        raise Unsupported("the size of a dimension that is only known at run time decides the padding")
    numbers = zip(lengths, sizes, strides, dilations, strict=True)
    return [_same(*x, is_upper=auto_pad == "same_upper") for x in numbers]


def _same(length: int, size: int, stride: int, dilation: int, *, is_upper: bool) -> tuple[int, int]:
    refuse_if(stride == 0, "strides.zero")
    added = max((-(-length // stride) - 1) * stride + (size - 1) * dilation + 1 - length, 0)
    return (added // 2, added - added // 2) if is_upper else (added - added // 2, added // 2)
