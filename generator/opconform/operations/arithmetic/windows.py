"""Windows that slide over the spatial dimensions of data: their sizes, strides, dilations and padding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from opconform.errors import counted
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import Predicate
from opconform.suite.case import Attribute
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Array

#: The attributes with the padding of both ends (Attributes, pads_begin and pads_end).
PADS = ("pads_begin", "pads_end")
#: The attributes with one number per spatial dimension (Attributes).
LISTS = ("strides", *PADS, "dilations")
#: The ranks of data: batches, channels and one to three spatial dimensions (Inputs, 1).
RANKS = (3, 4, 5)
#: The attribute that says how data is padded (Attributes, auto_pad).
AUTO_PAD = AttributeSpec(
    "auto_pad", type="enum", values=("explicit", "same_upper", "same_lower", "valid"), default="explicit"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A spatial dimension of data, and the window that slides over it.

    Attributes:
        rounding: How a number of windows that is no integer is rounded; `ceil_torch` leaves out a last window that
            begins behind data.
    """

    length: int
    size: int
    stride: int
    dilation: int
    pads: tuple[int, int]
    auto_pad: str
    rounding: str = "floor"

    @property
    def extent(self) -> int:
        """How many elements a window spans (Attributes, dilations)."""
        return (self.size - 1) * self.dilation + 1

    @property
    def is_same(self) -> bool:
        """Whether the number of windows decides the padding."""
        return self.auto_pad.startswith("same")

    @property
    def added(self) -> tuple[int, int]:
        """How many elements are added at both ends (Attributes, auto_pad)."""
        if not self.is_same:
            return self.pads if self.auto_pad == "explicit" else (0, 0)
        return self.padded_for(-(-self.length // self.stride))

    def padded_for(self, number: int) -> tuple[int, int]:
        """How many elements at both ends give a number of windows in a mode same_upper or same_lower."""
        added = max((number - 1) * self.stride + self.extent - self.length, 0)
        begin = (added + (self.auto_pad == "same_lower")) // 2
        return begin, added - begin

    @property
    def room(self) -> int:
        """How far the window can slide; negative if it is larger than data with its padding."""
        return self.length + sum(self.added) - self.extent

    @property
    def number(self) -> int:
        """The number of windows."""
        if self.rounding == "floor" or self.is_same:
            return max(self.room // self.stride + 1, 0)
        number = max(-(-self.room // self.stride) + 1, 0)
        begins_behind = (number - 1) * self.stride >= self.added[0] + self.length
        return number - (self.rounding == "ceil_torch" and begins_behind)

    @property
    def places(self) -> Array:
        """Per window and element of it, the index in data; the size of data stands for the padding."""
        starts = np.arange(self.number)[:, np.newaxis] * self.stride - self.added[0]
        places = starts + np.arange(self.size) * self.dilation
        return np.where((places >= 0) & (places < self.length), places, self.length)

    @property
    def counts(self) -> Array:
        """Per window, how many of its elements are in data."""
        return np.asarray((self.places < self.length).sum(-1))

    @property
    def padded_counts(self) -> Array:
        """Per window, how many of its elements are in data or its padding, beyond which a last one may reach."""
        starts = np.arange(self.number) * self.stride
        return np.clip(-((starts - self.length - sum(self.added)) // self.dilation), 0, self.size)

    @property
    def is_ever_outside(self) -> bool:
        """Whether a window has no element of data; pads can be too large for a list of all places."""
        begin, last = self.added[0], (self.number - 1) * self.stride - self.added[0]
        if self.number < 1 or begin >= self.extent or last >= self.length:
            return self.number > 0
        starts = range(-begin, min(last + 1, 0), self.stride)
        return self.dilation > self.length and any(start % self.dilation >= self.length for start in starts)


def sliding(
    arguments: Arguments, sizes: Sequence[int], dilations: Sequence[int], rounding: str = "floor"
) -> list[Window]:
    """The windows of some sizes per spatial dimension of data; `Unknown` if the attributes have wrong numbers."""
    lengths, lists = arguments.shape("data")[2:], [arguments.numbers(name) for name in ("strides", *PADS)]
    if any(len(x) != len(sizes) for x in (lengths, dilations, *lists)) or min(*lists[0], *dilations) < 1:
        raise Unknown
    mode = str(arguments.attribute("auto_pad"))
    return [
        Window(
            length=length,
            size=size,
            stride=stride,
            dilation=dilation,
            pads=(begin, end),
            auto_pad=mode,
            rounding=rounding,
        )
        for length, size, dilation, stride, begin, end in zip(lengths, sizes, dilations, *lists, strict=True)
    ]


def elements_of_windows(windows: Sequence[Window]) -> Array:
    """The number of the element of a channel per window and per element of it, both in row-major order.

    -1 stands for an element of the padding.
    """
    rank = len(windows)
    numbers, inside = np.zeros((), np.int64), np.ones((), np.bool_)
    for axis, window in enumerate(windows):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = window.number, window.size
        places = window.places.reshape(shape)
        numbers, inside = numbers * window.length + places, inside & (places < window.length)
    counts = [window.number for window in windows]
    return np.where(inside, numbers, -1).reshape(prod(counts), prod(window.size for window in windows))


def with_attributes(arguments: Arguments, **attributes: Attribute) -> Arguments:
    """The arguments with other attributes."""
    return replace(arguments, attributes={**arguments.attributes, **attributes})


def with_exchanged_pads(arguments: Arguments) -> Arguments:
    """The arguments with the pads of both ends exchanged."""
    mode = str(arguments.attribute("auto_pad"))
    other = {"same_upper": "same_lower", "same_lower": "same_upper"}.get(mode, mode)
    begin, end = (arguments.numbers(name) for name in PADS)
    return with_attributes(arguments, pads_begin=end, pads_end=begin, auto_pad=other)


def without_dilations(arguments: Arguments) -> Arguments:
    """The arguments with dilations of 1."""
    return with_attributes(arguments, dilations=(1,) * len(arguments.numbers("dilations")))


def _numbers(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The numbers of a list; pads are read in the mode explicit alone (Attributes, pads_begin, note)."""
    if name in PADS and arguments.attribute("auto_pad") != "explicit":
        raise Unknown
    return arguments.numbers(name)


def is_other_count(name: str) -> Predicate:
    """Whether a list has another length than there are spatial dimensions."""
    return lambda arguments: len(_numbers(arguments, name)) != len(arguments.shape("data")) - 2


def is_below(name: str, least: int) -> Predicate:
    """Whether a number of a list is below the least one."""
    return lambda arguments: min(_numbers(arguments, name), default=least) < least


def _has_zero(name: str) -> Predicate:
    return lambda arguments: 0 in arguments.numbers(name)


def _has_rank(rank: int) -> Predicate:
    return lambda arguments: len(arguments.shape("data")) == rank


#: The checks of the lists with one number per spatial dimension.
LIST_CHECKS: Mapping[str, Predicate] = {
    **{f"{name}.count": is_other_count(name) for name in LISTS},
    **{f"{name}.negative": is_below(name, 0) for name in LISTS},
    **{f"{name}.zero": _has_zero(name) for name in ("strides", "dilations")},
}
#: What arguments with windows without dilations can have in common.
WINDOW_FACTS: Mapping[str, Predicate] = {
    **{f"data has {counted(rank - 2, 'spatial dimension')}": _has_rank(rank) for rank in RANKS},
    "a stride is larger than 1": lambda a: any(x > 1 for x in a.numbers("strides")),
}
#: What arguments with windows can have in common.
FACTS: Mapping[str, Predicate] = {
    **WINDOW_FACTS,
    "a dilation is larger than 1": lambda a: any(x > 1 for x in a.numbers("dilations")),
}


def padding_facts(windows_of: Callable[[Arguments], Sequence[Window]], padding: str) -> Mapping[str, Predicate]:
    """The facts about what data is padded with, such as `zeros`."""
    return {
        f"{padding} are added": lambda a: any(any(window.added) for window in windows_of(a)),
        f"the two ends get different numbers of {padding}": lambda a: any(
            window.added[0] != window.added[1] for window in windows_of(a)
        ),
    }
