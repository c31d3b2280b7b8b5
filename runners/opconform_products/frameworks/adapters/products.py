"""How BatchNormInference-5, GroupNormalization-12, MatMul-1, convolutions and MVN-6 become calls of a framework."""

from collections.abc import Sequence
from typing import Any

from opconform_products.frameworks.adapters.windows import LISTS, check_lists, mapped_lists, padding
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of

_CHANNELS = ("gamma", "beta", "mean", "variance")


def _matrices(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Sequence[Any]:
    refuse_if(a.dtype != b.dtype, "b.same-type")
    return a, b, transpose_a and rank_of(a) > 1, transpose_b and rank_of(b) > 1


def _windows(data: Any, filters: Any, *, auto_pad: str, **lists: tuple[int, ...]) -> Sequence[Any]:
    spatial = rank_of(data) - 2
    refuse_if(data.dtype != filters.dtype, "filters.same-type")
    check_lists(spatial, auto_pad, lists)
    pads = padding(data.shape[2:], filters.shape[rank_of(filters) - spatial :], auto_pad, lists)
    return data, filters, [*lists["strides"]], pads, [*lists["dilations"]]


def _windows_of_groups(data: Any, filters: Any, **attributes: Any) -> Sequence[Any]:
    groups = filters.shape[0] if rank_of(filters) else None
    if groups is None:
        raise Unsupported("a number of groups that is only known at run time")
    return *_windows(data, filters, **attributes), groups


def _slices(data: Any, axes: list[int], *, normalize_variance: bool, eps: float, eps_mode: str) -> Sequence[Any]:
    rank = rank_of(data)
    refuse_if(any(not -rank <= axis < rank for axis in axes), "axes.range")
    along = tuple(sorted(axis % rank for axis in axes))
    refuse_if(len({*along}) < len(along), "axes.unique")
    refuse_if(eps <= 0, "eps.positive")
    if not normalize_variance or eps_mode != "inside_sqrt" or not along:
        raise Unsupported("the framework divides by the square root of a variance and eps, along some axes")
    return data, along, float(eps)


def _channels(data: Any, *channels: Any, epsilon: float) -> Sequence[Any]:
    for name, channel in zip(_CHANNELS, channels, strict=True):
        refuse_if(channel.dtype != data.dtype, f"{name}.same-type")
        refuse_if(None not in (*channel.shape, data.shape[1]) and channel.shape[0] != data.shape[1], f"{name}.length")
    refuse_if(data.shape[1] == 0, "data.channels")
    refuse_if(epsilon < 0, "epsilon.range")
    return data, *channels, float(epsilon)


def _groups(data: Any, *channels: Any, num_groups: int, epsilon: float) -> Sequence[Any]:
    count = data.shape[1]
    for name, channel in zip(("scale", "bias"), channels, strict=True):
        refuse_if(channel.dtype != data.dtype, f"{name}.same-type")
        refuse_if(channel.shape[0] != count, f"{name}.length")
    refuse_if(not 1 <= num_groups <= count, "num_groups.range")
    refuse_if(count % num_groups != 0, "num_groups.divides")
    refuse_if(epsilon <= 0, "epsilon.positive")
    return data, num_groups, *channels, float(epsilon)


#: Data, the number of groups, the scale and the bias of channels, and epsilon.
NORMALIZED_BY_GROUPS = Adapter(
    _groups,
    (
        *(f"{name}.{word}" for name in ("scale", "bias") for word in ("same-type", "length")),
        *("num_groups.range", "num_groups.divides", "epsilon.positive", "channels.second"),
    ),
)
#: Data, the numbers of channels by which they are normalized, and epsilon.
NORMALIZED_BY_CHANNELS = Adapter(
    _channels,
    (
        *(f"{name}.{word}" for name in _CHANNELS for word in ("same-type", "length")),
        *("data.channels", "epsilon.range", "epsilon.zero", "channels.second"),
    ),
)
#: Both tensors, and whether each is transposed.
MATRICES = Adapter(_matrices, ("b.same-type", "vectors.transposed", "transpose_a.default", "transpose_b.default"))
#: Data, the filters, the strides, the zeros of both ends of each dimension, and the dilations.
CONVOLVED = Adapter(
    _windows,
    (
        *mapped_lists(LISTS),
        *(f"auto_pad.{word}" for word in ("default", "explicit", "ignored", "valid", "same_upper", "same_lower")),
        "filters.same-type",
        "same.size",
    ),
)
#: The same with the number of groups, which are the first dimension of the filters.
GROUPS_CONVOLVED = CONVOLVED._replace(arguments=_windows_of_groups)
#: Data, the axes from the front in order, and eps, which is inside of the square root.
NORMALIZED = Adapter(
    _slices, ("axes.range", "axes.unique", "axes.negative", "axes.order", "eps.positive", "eps_mode.inside")
)
