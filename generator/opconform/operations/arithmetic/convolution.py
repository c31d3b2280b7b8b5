"""Convolution-1 and GroupConvolution-1, from their specification pages: sums of products of filters and windows."""

from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.elementwise import Keep, saturating, without_special
from opconform.operations.arithmetic.filters import (
    ATTRIBUTES,
    FILTER_FACTS,
    GROUP_FACTS,
    filters_of,
    if_ranks_fit,
    is_other_rank,
    is_other_type,
    operands_of,
    summed,
    windows_of,
    with_arrays,
    with_reversed_filters,
)
from opconform.operations.arithmetic.matmul import Sums, sum_mistakes, sums_of_products
from opconform.operations.arithmetic.propagation.sums import of_products
from opconform.operations.arithmetic.sums import SUMMED
from opconform.operations.arithmetic.windows import (
    FACTS,
    LIST_CHECKS,
    RANKS,
    padding_facts,
    with_exchanged_pads,
    without_dilations,
)
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor


def _shape(arguments: Arguments) -> Shape:
    windows = [window.number for window in windows_of(arguments)]
    groups, channels, *_ = filters_of(arguments)
    return (arguments.shape("data")[0], groups * channels, *windows)


def _convolved(arguments: Arguments, keep: Keep = low_bits, sums: Sums = sums_of_products) -> tuple[Tensor, ...]:
    return summed(arguments, windows_of(arguments), _shape(arguments), lambda x: x, keep=keep, sums=sums)


def _operands(arguments: Arguments, filters: Array, data: Array) -> tuple[Array, Array]:
    by_group = filters.reshape(filters_of(arguments))
    return operands_of(windows_of(arguments), data, by_group, np.array(-1))


def _is_other_channels(arguments: Arguments) -> bool:
    groups, _, channels, *_ = filters_of(arguments)
    return arguments.shape("data")[1] != groups * channels


def _has_no_room(arguments: Arguments) -> bool:
    return any((x.room < 0 and x.length + sum(x.added) > 0) or not x.size for x in windows_of(arguments))


def _is_same(arguments: Arguments) -> bool:
    return str(arguments.attribute("auto_pad")).startswith("same")


def _interleaved(array: Array, axis: int, groups: int) -> Array:
    """An array in which each group has every so many-th element along an axis, and not elements beside each other."""
    before, after = array.shape[:axis], array.shape[axis + 1 :]
    parts = array.reshape(*before, array.shape[axis] // groups, groups, *after)
    return np.swapaxes(parts, axis, axis + 1).reshape(array.shape)


def _of_other_channels(arguments: Arguments) -> tuple[Tensor, ...]:
    data = arguments.tensor("data").array
    return _convolved(with_arrays(arguments, data=_interleaved(data, 1, filters_of(arguments)[0])))


def _of_other_filters(arguments: Arguments) -> tuple[Tensor, ...]:
    groups, channels, *rest = filters_of(arguments)
    filters = arguments.tensor("filters").array.reshape(groups * channels, *rest)
    other = _interleaved(filters, 0, groups).reshape(arguments.shape("filters"))
    return _convolved(with_arrays(arguments, filters=other))


def _is_empty(arguments: Arguments) -> bool:
    return any(map(is_empty, arguments.inputs.values()))


def _pads_nothing(arguments: Arguments) -> bool:
    """Whether a pad that is used is 0, where no other reading rejects the arguments."""
    if _is_empty(arguments):
        return False
    return arguments.attribute("auto_pad") == "explicit" and any(0 in x.pads for x in windows_of(arguments))


_FACTS: dict[str, Predicate] = {**FACTS, **FILTER_FACTS, **padding_facts(windows_of, "zeros")}
_MISTAKES: dict[str, Calculate] = {
    **sum_mistakes(_convolved),
    "As if the filters were reversed": lambda a: _convolved(with_reversed_filters(a)),
    "As if the pads of both ends were exchanged": lambda a: _convolved(with_exchanged_pads(a)),
    "As if there were no dilations": lambda a: _convolved(without_dilations(a)),
}
_GROUP_MISTAKES: dict[str, Calculate] = {
    "As if a group had every so many-th channel": _of_other_channels,
    "As if a group had every so many-th filter": _of_other_filters,
}
_READINGS: dict[str, Reading] = {
    "data.zero-size": Reading(rejects=_is_empty),
    "outputs.floor": Reading(rejects=lambda a: any(x.room % x.stride for x in windows_of(a))),
    "same.size": Reading(rejects=lambda a: _is_same(a) and any(x.stride > 1 for x in windows_of(a))),
    "values.wrap": saturating(_convolved),
    "values.special": without_special(_convolved),
}


def _convolution(name: str, rank_check: str, *, has_groups: bool) -> Computation:
    """A convolution; the filters have the groups as one more dimension if there are any."""
    return Computation(
        name=name,
        inputs=(
            Port("data", types=SUMMED, ranks=RANKS),
            Port("filters", types=SUMMED, ranks=tuple(rank + has_groups for rank in RANKS)),
        ),
        attributes=ATTRIBUTES,
        checks={
            "filters.same-type": is_other_type,
            rank_check: is_other_rank(int(has_groups)),
            "filters.channels": if_ranks_fit(int(has_groups), _is_other_channels),
            **LIST_CHECKS,
            "filters.room": if_ranks_fit(int(has_groups), _has_no_room),
        },
        types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=_shape(a)),),
        calculate=_convolved,
        rounded=of_products(_operands, ("filters", "data")),
        is_numeric=True,
        products=lambda a: prod(_shape(a)) * prod(filters_of(a)[2:]),
        sums=True,
        mistakes=_MISTAKES | _GROUP_MISTAKES if has_groups else _MISTAKES,
        same_types=("filters",),
        contexts={"doubled": contexts.doubled(lambda _: 0)},
        facts={**_FACTS, **GROUP_FACTS} if has_groups else _FACTS,
        readings={**_READINGS, "pads.zero": Reading(rejects=_pads_nothing)} if has_groups else _READINGS,
    )


#: From its specification page.
CONVOLUTION = _convolution("Convolution-1", "filters.same-rank", has_groups=False)
#: From its specification page.
GROUP_CONVOLUTION = _convolution("GroupConvolution-1", "filters.group-rank", has_groups=True)
