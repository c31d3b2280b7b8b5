"""Filters that convolutions multiply with windows of data, with or without groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Protocol

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import Keep, elements_of
from opconform.operations.arithmetic.matmul import Sums
from opconform.operations.arithmetic.windows import AUTO_PAD, LISTS, Window, sliding
from opconform.operations.checks import Predicate
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Array, Tensor

#: The attributes of convolutions (Attributes).
ATTRIBUTES = (*(AttributeSpec(name, type="ints") for name in LISTS), AUTO_PAD)


class Places(Protocol):
    """A spatial dimension: where the elements of data are that the elements of a filter are multiplied with."""

    @property
    def number(self) -> int:
        """The size of the output."""

    @property
    def places(self) -> Array:
        """Per element of the output and of a filter, the index in data; the size of data stands for a zero."""


def windows_of(arguments: Arguments) -> list[Window]:
    """The spatial dimensions; `Unknown` if their numbers are wrong."""
    return sliding(arguments, filters_of(arguments)[3:], arguments.numbers("dilations"))


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
FILTER_FACTS: Mapping[str, Predicate] = {
    "all filters have one element per channel": lambda a: prod(filters_of(a)[3:]) == 1,
}
#: What arguments of convolutions of groups can have in common.
GROUP_FACTS: Mapping[str, Predicate] = {
    "there is one group": lambda a: filters_of(a)[0] == 1,
    "each channel of data is a group": lambda a: filters_of(a)[0] == a.shape("data")[1],
}
