"""Windows of data that convolutions multiply with filters, and the attributes that say where they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

import numpy as np

from opconform.errors import counted
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import Keep, elements_of
from opconform.operations.arithmetic.matmul import Sums
from opconform.operations.checks import Predicate
from opconform.suite.case import Attribute, Shape
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Array, Tensor

#: The attributes with one number per spatial dimension (Attributes).
LISTS = ("strides", "pads_begin", "pads_end", "dilations")
#: The ranks of data (Inputs, 1).
RANKS = (3, 4, 5)
#: The attributes of convolutions (Attributes).
ATTRIBUTES = (
    *(AttributeSpec(name, type="ints") for name in LISTS),
    AttributeSpec(
        "auto_pad", type="enum", values=("explicit", "same_upper", "same_lower", "valid"), default="explicit"
    ),
)


class Places(Protocol):
    """A spatial dimension: where the elements of data are that the elements of a filter are multiplied with."""

    @property
    def number(self) -> int:
        """The size of the output."""

    @property
    def places(self) -> Array:
        """Per element of the output and of a filter, the index in data; the size of data stands for a zero."""


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

    @property
    def places(self) -> Array:
        """Per window and element of a filter, the index in data; the size of data stands for a zero."""
        starts = np.arange(self.number)[:, np.newaxis] * self.stride - self.added[0]
        places = starts + np.arange(self.size) * self.dilation
        return np.where((places >= 0) & (places < self.length), places, self.length)


def windows_of(arguments: Arguments) -> list[Window]:
    """The spatial dimensions; `Unknown` if their numbers are wrong."""
    lists = [arguments.numbers(name) for name in LISTS]
    lengths, sizes = arguments.shape("data")[2:], filters_of(arguments)[3:]
    mode = str(arguments.attribute("auto_pad"))
    if any(len(x) != len(sizes) for x in (lengths, *lists)) or min(*lists[0], *lists[3]) < 1:
        raise Unknown
    return [
        Window(length=length, size=size, stride=stride, dilation=dilation, pads=(begin, end), auto_pad=mode)
        for length, size, stride, begin, end, dilation in zip(lengths, sizes, *lists, strict=True)
    ]


def filters_of(arguments: Arguments) -> Shape:
    """The shape of the filters with the groups first; there is one group if they have the rank of data."""
    shape = arguments.shape("filters")
    return (1, *shape) if len(shape) == len(arguments.shape("data")) else shape


def operands_of(dimensions: Sequence[Places], data: Array, filters: Array, zero: Array) -> tuple[Array, Array]:
    """The elements of filters and those of data, as rows of matrices per batch and group.

    The filters have the groups, the output channels and the channels first; `zero` stands where data has no element.
    """
    groups, outputs, channels, *sizes = filters.shape
    spatial = len(dimensions)
    parts = np.pad(data, [(0, 0), (0, 0), *[(0, 1)] * spatial], constant_values=zero)
    for axis, dimension in enumerate(dimensions):
        parts = np.take(parts, dimension.places, 2 + 2 * axis)
    numbers, count = [x.number for x in dimensions], channels * prod(sizes)
    split = parts.reshape(len(data), groups, channels, *parts.shape[2:])
    order = (0, 1, *range(3, 3 + 2 * spatial, 2), 2, *range(4, 4 + 2 * spatial, 2))
    columns = split.transpose(order).reshape(len(data), groups, prod(numbers), count)
    rows = filters.reshape(groups, outputs, count)
    return np.broadcast_to(rows, (len(data), groups, outputs, count)), columns


#: The filters with the groups, the output channels and the channels first, of those that an operation takes.
Arranged = Callable[[Array], Array]


def summed(
    arguments: Arguments,
    dimensions: Sequence[Places],
    shape: Shape,
    arranged: Arranged,
    *,
    keep: Keep,
    sums: Sums,
) -> tuple[Tensor, ...]:
    """The sums of the products of filters and data."""
    data, filters = arguments.tensor("data"), arguments.tensor("filters")
    if 0 in shape:
        return (Tensor(element_type=data.element_type, array=np.zeros(shape, data.type.storage)),)
    elements = elements_of(data)
    zero = np.array(0, elements.dtype)  # by itself, `numpy.pad` adds an integer of numpy to those of Python
    by_group = arranged(elements_of(filters).reshape(filters_of(arguments)))
    rows, columns = operands_of(dimensions, elements, by_group, zero)
    return (sums(data.type, rows, columns, shape, keep),)


def with_attributes(arguments: Arguments, **attributes: Attribute) -> Arguments:
    """The arguments with other attributes."""
    return replace(arguments, attributes={**arguments.attributes, **attributes})


def with_arrays(arguments: Arguments, **arrays: Array) -> Arguments:
    """The arguments with other elements of some inputs."""
    operands = {
        name: replace(operand, tensor=Tensor(element_type=operand.element_type, array=arrays[name]))
        for name, operand in arguments.inputs.items()
        if name in arrays
    }
    return replace(arguments, inputs={**arguments.inputs, **operands})


def with_reversed_filters(arguments: Arguments) -> Arguments:
    """The arguments with filters whose spatial dimensions are reversed."""
    array = arguments.tensor("filters").array
    spatial = len(arguments.shape("data")) - 2
    return with_arrays(arguments, filters=np.flip(array, tuple(range(-spatial, 0))))


def with_exchanged_pads(arguments: Arguments) -> Arguments:
    """The arguments with the pads of both ends exchanged."""
    mode = str(arguments.attribute("auto_pad"))
    other = {"same_upper": "same_lower", "same_lower": "same_upper"}.get(mode, mode)
    begin, end = (arguments.numbers(name) for name in ("pads_begin", "pads_end"))
    return with_attributes(arguments, pads_begin=end, pads_end=begin, auto_pad=other)


def without_dilations(arguments: Arguments) -> Arguments:
    """The arguments with dilations of 1."""
    return with_attributes(arguments, dilations=(1,) * len(arguments.numbers("dilations")))


def _numbers(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The numbers of a list; pads are read in the mode explicit alone (Attributes, pads_begin, note)."""
    if name.startswith("pads") and arguments.attribute("auto_pad") != "explicit":
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


def list_checks(*names: str) -> dict[str, Predicate]:
    """The checks of some lists with one number per spatial dimension."""
    return {
        **{f"{name}.count": _is_other_count(name) for name in names},
        **{f"{name}.negative": _is_below(name, 0) for name in names},
        **{f"{name}.zero": _has_zero(name) for name in names if name in ("strides", "dilations")},
    }


def is_other_type(arguments: Arguments) -> bool:
    """Whether the filters have another element type than data."""
    return arguments.operand("data").element_type != arguments.operand("filters").element_type


def is_other_rank(more: int) -> Predicate:
    """Whether the filters do not have so many dimensions more than data."""
    return lambda arguments: len(arguments.shape("filters")) - len(arguments.shape("data")) != more


def if_ranks_fit(more: int, check: Predicate) -> Predicate:
    """A check of filters that have so many dimensions more than data."""

    def predicate(arguments: Arguments) -> bool:
        if is_other_rank(more)(arguments):
            raise Unknown
        return check(arguments)

    return predicate


#: What arguments of convolutions can have in common.
FACTS: Mapping[str, Predicate] = {
    **{f"data has {counted(rank - 2, 'spatial dimension')}": _has_rank(rank) for rank in RANKS},
    "a stride is larger than 1": lambda a: any(x > 1 for x in a.numbers("strides")),
    "a dilation is larger than 1": lambda a: any(x > 1 for x in a.numbers("dilations")),
    "all filters have one element per channel": lambda a: prod(filters_of(a)[3:]) == 1,
}
#: What arguments of convolutions of groups can have in common.
GROUP_FACTS: Mapping[str, Predicate] = {
    "there is one group": lambda a: filters_of(a)[0] == 1,
    "each channel of data is a group": lambda a: filters_of(a)[0] == a.shape("data")[1],
}
