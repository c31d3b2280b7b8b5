"""Windows that slide over the spatial dimensions of data: their sizes, strides, dilations and padding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import Predicate
from opconform.suite.case import Attribute, Shape
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.tensor import Array

#: The attributes with the padding of both ends (Attributes, pads_begin and pads_end).
PADS = ("pads_begin", "pads_end")
#: The ranks of data: batches, channels and one to three spatial dimensions.
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
        """The place in data per window and per element of it; places outside of data are padding."""
        starts, steps = np.arange(self.number) * self.stride, np.arange(self.size) * self.dilation
        places: Array = np.add.outer(starts, steps) - self.added[0]
        return places

    @property
    def inside(self) -> Array:
        """Whether each of the places is in data."""
        inside: Array = (self.places >= 0) & (self.places < self.length)
        return inside

    @property
    def is_ever_outside(self) -> bool:
        """Whether a window has no element of data; pads can be too large for a list of all places."""
        begin, last = self.added[0], (self.number - 1) * self.stride - self.added[0]
        if self.number < 1 or begin >= self.extent or last >= self.length:
            return self.number > 0
        starts = range(-begin, min(last + 1, 0), self.stride)
        return self.dilation > self.length and any(start % self.dilation >= self.length for start in starts)


def sliding(
    arguments: Arguments, sizes: Sequence[int], *, dilations: Sequence[int] | None = None, rounding: str = "floor"
) -> list[Window]:
    """The windows of some sizes per spatial dimension of data; `Unknown` if the attributes have wrong numbers."""
    lists = [arguments.numbers(name) for name in ("strides", *PADS)]
    lengths, dilations = arguments.shape("data")[2:], dilations or (1,) * len(sizes)
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
        numbers = numbers * window.length + window.places.reshape(shape)
        inside = inside & window.inside.reshape(shape)
    counts = [window.number for window in windows]
    return np.where(inside, numbers, -1).reshape(int(np.prod(counts)), int(np.prod([x.size for x in windows])))


def changed(arguments: Arguments, **attributes: Attribute) -> Arguments:
    """The arguments with other values of some attributes."""
    return replace(arguments, attributes={**arguments.attributes, **attributes})


def with_exchanged_ends(arguments: Arguments) -> Arguments:
    """The arguments with the padding of both ends exchanged."""
    mode = str(arguments.attribute("auto_pad"))
    other = {"same_upper": "same_lower", "same_lower": "same_upper"}.get(mode, mode)
    begin, end = (arguments.numbers(name) for name in PADS)
    return changed(arguments, pads_begin=end, pads_end=begin, auto_pad=other)


def checks_of_lists(*names: str) -> Mapping[str, Predicate]:
    """The checks of the attributes with one number per spatial dimension; without those of what 0 means."""
    return {
        **{f"{name}.count": is_other_count(name) for name in names},
        **{f"{name}.negative": is_below(name, 0) for name in names},
    }


def is_other_count(name: str) -> Predicate:
    """Whether a list has another length than there are spatial dimensions."""
    return lambda arguments: len(_numbers(arguments, name)) != len(arguments.shape("data")) - 2


def has_zero(name: str) -> Predicate:
    """Whether 0 is in a list."""
    return lambda arguments: 0 in arguments.numbers(name)


def is_below(name: str, least: int) -> Predicate:
    """Whether a number of a list is below the least one."""
    return lambda arguments: min(_numbers(arguments, name), default=least) < least


def has_rank(rank: int) -> Predicate:
    """Whether data has a rank."""
    return lambda arguments: len(arguments.shape("data")) == rank


def exceeds_one(name: str) -> Predicate:
    """Whether a number of a list is larger than 1."""
    return lambda arguments: any(number > 1 for number in arguments.numbers(name))


def facts_of_windows(of: Callable[[Arguments], Sequence[Window]], added: str) -> Mapping[str, Predicate]:
    """The facts about windows; `added` names what data is padded with."""
    return {
        f"{added} are added": lambda a: any(any(window.added) for window in of(a)),
        f"the two ends get different numbers of {added}": lambda a: any(x.added[0] != x.added[1] for x in of(a)),
    }


def shape_of_windows(shape: Shape, windows: Sequence[Window]) -> Shape:
    """The shape of an output with an element per batch, channel and window."""
    return (*shape[:2], *(window.number for window in windows))


def _numbers(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The numbers of a list; pads are read in the mode explicit alone (Attributes, pads_begin, note)."""
    if name in PADS and arguments.attribute("auto_pad") != "explicit":
        raise Unknown
    return arguments.numbers(name)
