"""Convolution-1, from its specification page: sums of products of filters and windows of one to three dimensions."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from opconform.errors import counted
from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.arithmetic.elementwise import Keep, elements_of, saturating, without_special
from opconform.operations.arithmetic.matmul import Sums, sum_mistakes, sums_of_products
from opconform.operations.arithmetic.propagation.sums import of_products
from opconform.operations.arithmetic.sums import SUMMED
from opconform.operations.arithmetic.windows import (
    AUTO_PAD,
    PADS,
    RANKS,
    Window,
    changed,
    checks_of_lists,
    exceeds_one,
    facts_of_windows,
    has_rank,
    has_zero,
    sliding,
    with_exchanged_ends,
)
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The attributes with one number per spatial dimension (Attributes).
_LISTS = ("strides", *PADS, "dilations")


def windows_of(arguments: Arguments) -> list[Window]:
    """The spatial dimensions; `Unknown` if their numbers are wrong."""
    sizes = arguments.shape("filters")[2:]
    return sliding(arguments, sizes, dilations=arguments.numbers("dilations"))


def _shape(arguments: Arguments) -> Shape:
    windows = [window.number for window in windows_of(arguments)]
    return (arguments.shape("data")[0], arguments.shape("filters")[0], *windows)


def _operands(arguments: Arguments, elements: Array, filters: Array, zero: Array) -> tuple[Array, Array]:
    """The elements of filters and those of windows, as rows of matrices; `zero` stands where data is padded."""
    windows, shape, rank = windows_of(arguments), _shape(arguments), elements.ndim
    padded = np.pad(elements, [(0, 0), (0, 0), *(window.added for window in windows)], constant_values=zero)
    parts = np.lib.stride_tricks.sliding_window_view(padded, [x.extent for x in windows], tuple(range(2, rank)))
    steps = (*(slice(None, None, x.stride) for x in windows), *(slice(None, None, x.dilation) for x in windows))
    # the windows before their channels and elements, which are in the order of those of the filters
    moved = np.moveaxis(parts[:, :, *steps], 1, rank - 1)
    batches, channels, *places = shape
    count = prod(filters.shape[1:])
    columns = moved.reshape(batches, prod(places), count)
    return np.broadcast_to(filters.reshape(channels, count), (batches, channels, count)), columns


def _convolved(arguments: Arguments, keep: Keep = low_bits, sums: Sums = sums_of_products) -> tuple[Tensor, ...]:
    data, filters, shape = arguments.tensor("data"), arguments.tensor("filters"), _shape(arguments)
    if 0 in shape:
        return (Tensor(element_type=data.element_type, array=np.zeros(shape, data.type.storage)),)
    elements = elements_of(data)
    zero = np.array(0, elements.dtype)  # by itself, `numpy.pad` adds an integer of numpy to those of Python
    rows, columns = _operands(arguments, elements, elements_of(filters), zero)
    return (sums(data.type, rows, columns, shape, keep),)


def _reversed(arguments: Arguments) -> tuple[Tensor, ...]:
    filters = arguments.operand("filters")
    array = np.flip(arguments.tensor("filters").array, tuple(range(2, len(filters.shape))))
    other = replace(filters, tensor=Tensor(element_type=filters.element_type, array=array))
    return _convolved(replace(arguments, inputs={**arguments.inputs, "filters": other}))


def _has_no_room(arguments: Arguments) -> bool:
    return any((x.room < 0 and x.length + sum(x.added) > 0) or not x.size for x in windows_of(arguments))


def _is_same(arguments: Arguments) -> bool:
    return str(arguments.attribute("auto_pad")).startswith("same")


_CHECKS: Mapping[str, Predicate] = {
    "filters.same-type": lambda a: a.operand("data").element_type != a.operand("filters").element_type,
    "filters.same-rank": lambda a: len(a.shape("data")) != len(a.shape("filters")),
    "filters.channels": lambda a: a.shape("data")[1] != a.shape("filters")[1],
    **checks_of_lists(*_LISTS),
    **{f"{name}.zero": has_zero(name) for name in ("strides", "dilations")},
    "filters.room": _has_no_room,
}
#: From its specification page.
CONVOLUTION = Computation(
    name="Convolution-1",
    inputs=(Port("data", types=SUMMED, ranks=RANKS), Port("filters", types=SUMMED, ranks=RANKS)),
    attributes=(
        *(AttributeSpec(name, type="ints") for name in _LISTS),
        AUTO_PAD,
    ),
    checks=_CHECKS,
    types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=_shape(a)),),
    calculate=_convolved,
    rounded=of_products(lambda a, rows, data: _operands(a, data, rows, np.array(-1)), ("filters", "data")),
    is_numeric=True,
    products=lambda a: prod(_shape(a)) * prod(a.shape("filters")[1:]),
    sums=True,
    mistakes={
        **sum_mistakes(_convolved),
        "As if the filters were reversed": _reversed,
        "As if the pads of both ends were exchanged": lambda a: _convolved(with_exchanged_ends(a)),
        "As if there were no dilations": lambda a: _convolved(changed(a, dilations=(1,) * len(windows_of(a)))),
    },
    same_types=("filters",),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        **{f"data has {counted(rank - 2, 'spatial dimension')}": has_rank(rank) for rank in RANKS},
        "a stride is larger than 1": exceeds_one("strides"),
        "a dilation is larger than 1": exceeds_one("dilations"),
        **facts_of_windows(windows_of, "zeros"),
        "all filters have one element per channel": lambda a: prod(a.shape("filters")[2:]) == 1,
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: any(map(is_empty, a.inputs.values()))),
        "outputs.floor": Reading(rejects=lambda a: any(x.room % x.stride for x in windows_of(a))),
        "same.size": Reading(rejects=lambda a: _is_same(a) and any(x.stride > 1 for x in windows_of(a))),
        "values.wrap": saturating(_convolved),
        "values.special": without_special(_convolved),
    },
)
