"""ExtractImagePatches-3, from its specification page: windows of images, whose elements become channels."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array

#: The attributes with one number for rows and one for columns (Attributes).
_PAIRS = ("sizes", "strides", "rates")
#: The numeric types without a zero.
_WITHOUT_ZERO = frozenset({"f8e8m0"})


class Window(NamedTuple):
    """A spatial dimension of data, and the patches along it."""

    length: int
    size: int
    stride: int
    rate: int
    auto_pad: str

    @property
    def extent(self) -> int:
        """How many elements a patch spans (Attributes, rates)."""
        return self.size + (self.size - 1) * (self.rate - 1)

    @property
    def number(self) -> int:
        """The number of patches: all that fit, or as many as begin in data (Attributes, auto_pad)."""
        room = self.length - self.extent + 1 if self.auto_pad == "valid" else self.length
        return max(-(-room // self.stride), 0)

    @property
    def added(self) -> int:
        """How many zeros both ends get together, so that the last patch has all its elements."""
        return max((self.number - 1) * self.stride + self.extent - self.length, 0) if self.number else 0

    @property
    def begin(self) -> int:
        """How many of the zeros are before data."""
        return (self.added + (self.auto_pad == "same_lower")) // 2

    @property
    def places(self) -> Array:
        """The place in data per place in a patch and per patch; -1 and the length of data stand for zeros."""
        places = np.add.outer(np.arange(self.size) * self.rate, np.arange(self.number) * self.stride) - self.begin
        clipped: Array = np.clip(places, -1, self.length)
        return clipped


def windows_of(arguments: Arguments) -> tuple[Window, Window]:
    """The rows and the columns."""
    pairs = [arguments.numbers(name) for name in _PAIRS]
    if any(len(pair) != 2 or min(pair) < 1 for pair in pairs):  # noqa: PLR2004 - rows and columns
        raise Unknown
    mode = str(arguments.attribute("auto_pad"))
    numbers = zip(arguments.shape("data")[2:], *pairs, strict=True)
    rows, columns = (Window(length, size, stride, rate, mode) for length, size, stride, rate in numbers)
    return rows, columns


def _is_added(arguments: Arguments) -> bool:
    return any(window.added for window in windows_of(arguments))


def _has_no_room(arguments: Arguments) -> bool:
    """Whether data is smaller than a patch that has to fit."""
    return any(window.auto_pad == "valid" and window.extent > window.length > 0 for window in windows_of(arguments))


def _shape(arguments: Arguments) -> Shape:
    batches, depth, *_ = arguments.shape("data")
    rows, columns = windows_of(arguments)
    return (batches, rows.size * columns.size * depth, rows.number, columns.number)


def _extracted(arguments: Arguments, places: Places) -> list[Array]:
    """Channels count the rows of a patch slowest, and the channels of data fastest (example 5)."""
    data, (rows, columns) = places["data"], windows_of(arguments)
    if 0 in (shape := _shape(arguments)):  # the patches can be too large for memory
        return [np.zeros(shape, np.result_type(data, places.none))]
    batches, depth, height, width = data.shape
    # one zero more in each direction, which -1 selects, too
    around = np.full((batches, depth, height + 1, width + 1), places.none, np.result_type(data, places.none))
    around[:, :, :height, :width] = data
    patches = around[:, :, rows.places[:, np.newaxis, :, np.newaxis], columns.places[np.newaxis, :, np.newaxis, :]]
    return [np.moveaxis(patches, 1, 3).reshape(shape)]


def _is_other_count(name: str) -> Predicate:
    return lambda arguments: len(arguments.numbers(name)) != 2  # noqa: PLR2004 - rows and columns


def _is_negative(name: str) -> Predicate:
    return lambda arguments: any(number < 0 for number in arguments.numbers(name))


def _is_zero(name: str) -> Predicate:
    return lambda arguments: 0 in arguments.numbers(name)


_CHECKS: Mapping[str, Predicate] = {
    f"{name}.{word}": check(name)
    for name in _PAIRS
    for word, check in (("count", _is_other_count), ("negative", _is_negative), ("zero", _is_zero))
}
EXTRACT_IMAGE_PATCHES = Movement(
    name="ExtractImagePatches-3",
    inputs=(Port("data", ranks=(4,)),),
    attributes=(
        *(AttributeSpec(name, type="ints") for name in _PAIRS),
        AttributeSpec("auto_pad", type="enum", values=("same_upper", "same_lower", "valid")),
    ),
    checks={
        **_CHECKS,
        "auto_pad.no-zero": lambda a: _is_added(a) and a.operand("data").element_type in _WITHOUT_ZERO,
    },
    moved=_extracted,
    shapes=lambda a: [_shape(a)],
    contexts={"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0)},
    facts={
        "zeros are added": _is_added,
        "an odd number of zeros is added": lambda a: any(window.added % 2 for window in windows_of(a)),
        "a rate exceeds 1": lambda a: any(window.rate > 1 for window in windows_of(a)),
        "patches overlap": lambda a: any(window.stride < window.extent for window in windows_of(a)),
        "rows and columns differ": lambda a: len({window[1:] for window in windows_of(a)}) > 1,
        "data is smaller than a patch": lambda a: any(w.extent > w.length for w in windows_of(a)),
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "valid.no-room": Reading(rejects=_has_no_room),
    },
)
