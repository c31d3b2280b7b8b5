"""Convolution-1, from its specification page: sums of products of filters and windows of one to three dimensions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from opconform.errors import counted
from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import Keep, elements_of, saturating, without_special
from opconform.operations.arithmetic.matmul import Sums, sum_mistakes, sums_of_products
from opconform.operations.arithmetic.propagation.sums import of_products
from opconform.operations.arithmetic.sums import SUMMED
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.case import Attribute, Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The attributes with one number per spatial dimension (Attributes).
_LISTS = ("strides", "pads_begin", "pads_end", "dilations")
_RANKS = (3, 4, 5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A spatial dimension of data, and the window that slides over it."""

    length: int
    size: int
    stride: int
    dilation: int
    pads: tuple[int, int]
    auto_pad: str

    @property
    def extent(self) -> int:
        """How many elements a window spans (Attributes, dilations)."""
        return (self.size - 1) * self.dilation + 1

    @property
    def added(self) -> tuple[int, int]:
        """How many zeros are at both ends (Attributes, auto_pad)."""
        if not self.auto_pad.startswith("same"):
            return self.pads if self.auto_pad == "explicit" else (0, 0)
        zeros = max((-(-self.length // self.stride) - 1) * self.stride + self.extent - self.length, 0)
        begin = (zeros + (self.auto_pad == "same_lower")) // 2
        return begin, zeros - begin

    @property
    def room(self) -> int:
        """How far the window can slide; negative if it is larger than data with its zeros."""
        return self.length + sum(self.added) - self.extent

    @property
    def number(self) -> int:
        """The number of windows."""
        return max(self.room // self.stride + 1, 0)


def windows_of(arguments: Arguments) -> list[Window]:
    """The spatial dimensions; `Unknown` if their numbers are wrong."""
    lists = [arguments.numbers(name) for name in _LISTS]
    lengths, sizes = (arguments.shape(name)[2:] for name in ("data", "filters"))
    mode = str(arguments.attribute("auto_pad"))
    if any(len(x) != len(sizes) for x in (lengths, *lists)) or min(*lists[0], *lists[3]) < 1:
        raise Unknown
    return [
        Window(length=length, size=size, stride=stride, dilation=dilation, pads=(begin, end), auto_pad=mode)
        for length, size, stride, begin, end, dilation in zip(lengths, sizes, *lists, strict=True)
    ]


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


def _exchanged(arguments: Arguments) -> tuple[Tensor, ...]:
    """The convolution with the zeros of both ends exchanged."""
    mode = str(arguments.attribute("auto_pad"))
    other = {"same_upper": "same_lower", "same_lower": "same_upper"}.get(mode, mode)
    begin, end = (arguments.numbers(name) for name in ("pads_begin", "pads_end"))
    return _convolved(_changed(arguments, pads_begin=end, pads_end=begin, auto_pad=other))


def _changed(arguments: Arguments, **attributes: Attribute) -> Arguments:
    return replace(arguments, attributes={**arguments.attributes, **attributes})


def _is_explicit(arguments: Arguments) -> bool:
    return arguments.attribute("auto_pad") == "explicit"


def _numbers(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The numbers of a list; pads are read in the mode explicit alone (Attributes, pads_begin, note)."""
    if name.startswith("pads") and not _is_explicit(arguments):
        raise Unknown
    return arguments.numbers(name)


def _is_other_count(name: str) -> Predicate:
    return lambda arguments: len(_numbers(arguments, name)) != len(arguments.shape("data")) - 2


def _is_below(name: str, least: int) -> Predicate:
    return lambda arguments: min(_numbers(arguments, name), default=least) < least


def _has_zero(name: str) -> Predicate:
    return lambda arguments: 0 in arguments.numbers(name)


def _has_rank(rank: int) -> Predicate:
    return lambda arguments: len(arguments.shape("data")) == rank


def _has_no_room(arguments: Arguments) -> bool:
    return any((x.room < 0 and x.length + sum(x.added) > 0) or not x.size for x in windows_of(arguments))


def _is_same(arguments: Arguments) -> bool:
    return str(arguments.attribute("auto_pad")).startswith("same")


_CHECKS: Mapping[str, Predicate] = {
    "filters.same-type": lambda a: a.operand("data").element_type != a.operand("filters").element_type,
    "filters.same-rank": lambda a: len(a.shape("data")) != len(a.shape("filters")),
    "filters.channels": lambda a: a.shape("data")[1] != a.shape("filters")[1],
    **{f"{name}.count": _is_other_count(name) for name in _LISTS},
    **{f"{name}.negative": _is_below(name, 0) for name in _LISTS},
    **{f"{name}.zero": _has_zero(name) for name in ("strides", "dilations")},
    "filters.room": _has_no_room,
}
#: From its specification page.
CONVOLUTION = Computation(
    name="Convolution-1",
    inputs=(Port("data", types=SUMMED, ranks=_RANKS), Port("filters", types=SUMMED, ranks=_RANKS)),
    attributes=(
        *(AttributeSpec(name, type="ints") for name in _LISTS),
        AttributeSpec(
            "auto_pad", type="enum", values=("explicit", "same_upper", "same_lower", "valid"), default="explicit"
        ),
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
        "As if the pads of both ends were exchanged": _exchanged,
        "As if there were no dilations": lambda a: _convolved(_changed(a, dilations=(1,) * len(windows_of(a)))),
    },
    same_types=("filters",),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        **{f"data has {counted(rank - 2, 'spatial dimension')}": _has_rank(rank) for rank in _RANKS},
        "a stride is larger than 1": lambda a: any(x > 1 for x in a.numbers("strides")),
        "a dilation is larger than 1": lambda a: any(x > 1 for x in a.numbers("dilations")),
        "zeros are added": lambda a: any(any(window.added) for window in windows_of(a)),
        "the two ends get different numbers of zeros": lambda a: any(x.added[0] != x.added[1] for x in windows_of(a)),
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
