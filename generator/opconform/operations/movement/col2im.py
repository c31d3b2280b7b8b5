"""Col2Im-15, from its specification page: blocks of images, whose elements are added where blocks overlap."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.elementwise import Keep, clamped
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind, is_empty, types_differ
from opconform.operations.movement.scatters.reductions import stored
from opconform.operations.operation import Calculation, Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.rounding import low_bits, numbers_of
from opconform.tensors.tensor import Array, Tensor, places_in

_TYPES = ("i32", "i64")
#: The inputs and attributes with one number for rows and one for columns.
_SETTINGS = ("output_size", "kernel_size")
_PAIRS = {"strides": (1, 1), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}
#: The most elements of a padded dimension whose blocks are counted, and of all these blocks.
_LONGEST = 1 << 20
#: The numeric types without a zero.
_WITHOUT_ZERO = frozenset({"f8e8m0"})
#: The bits of the quiet NaN with the least payload.
_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC0_0000, "f64": 0x7FF8_0000_0000_0000}


class Axis(NamedTuple):
    """A spatial dimension of the image, and the blocks along it."""

    length: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def number(self) -> int:
        """The number of blocks (Detailed description, L)."""
        room = self.length + self.begin + self.end - self.dilation * (self.kernel - 1) - 1
        return room // self.stride + 1

    def block(self, place: int) -> slice:
        """Where the elements at a place in the blocks go, in the padded image."""
        first = place * self.dilation
        return slice(first, first + (self.number - 1) * self.stride + 1, self.stride)


def _axes(arguments: Arguments) -> list[Axis]:
    pairs = [*map(arguments.integers, _SETTINGS), *map(arguments.numbers, _PAIRS)]
    if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - rows and columns
        raise Unknown
    axes = [Axis(*x) for x in zip(*pairs, strict=True)]
    if any(min(axis) < 0 or 0 in axis[:4] for axis in axes):
        raise Unknown
    return axes


def _has_no_room(arguments: Arguments) -> bool:
    return any(axis.number < 1 for axis in _axes(arguments))


def _blocks(arguments: Arguments) -> list[Axis]:
    """The spatial dimensions, if a block fits into each."""
    if _has_no_room(arguments):
        raise Unknown
    return _axes(arguments)


def _volume(arguments: Arguments) -> int:
    """The number of elements in a block of one channel."""
    kernel = arguments.integers("kernel_size")
    if min(kernel) < 1:
        raise Unknown
    return prod(kernel)


def _shape(arguments: Arguments) -> Shape:
    *batches, depth, _ = arguments.shape("data")
    return (*batches, depth // _volume(arguments), *arguments.integers("output_size"))


def _folded(arguments: Arguments, data: Array, image: Array, join: Callable[[Array, Array], Array]) -> Array:
    """An image that is filled by blocks, one place in them after the other, without its padding."""
    rows, columns = _blocks(arguments)
    *leading, height, width = _shape(arguments)
    padded = np.full((*leading, rows.begin + height + rows.end, columns.begin + width + columns.end), image)
    parts = data.reshape(*leading, rows.kernel, columns.kernel, rows.number, columns.number)
    for row, column in places_in(parts, (rows.kernel, columns.kernel)):
        at = (..., rows.block(row), columns.block(column))
        padded[at] = join(padded[at], parts[..., row, column, :, :])
    return padded[..., rows.begin : rows.begin + height, columns.begin : columns.begin + width]


def _replaced(_: Array, new: Array) -> Array:
    return new


def _moved(arguments: Arguments, places: Places) -> list[Array]:
    data = places["data"]
    return [_folded(arguments, data, places.none.astype(np.result_type(data, places.none)), _replaced)]


def _coverage(arguments: Arguments) -> list[Array]:
    """How many blocks each row and each column is in; an element is in the product of both numbers.

    `Unknown` if that takes much memory or time, on every machine alike.
    """
    counts = []
    for axis in _blocks(arguments):
        size = axis.begin + axis.length + axis.end
        if max(size, axis.kernel * axis.number) > _LONGEST:
            raise Unknown
        count = np.zeros(size, np.int64)
        for place in range(axis.kernel):
            count[axis.block(place)] += 1
        counts.append(count[axis.begin : axis.begin + axis.length])
    return counts


def _overlap(arguments: Arguments) -> bool:
    return prod(int(count.max()) for count in _coverage(arguments)) > 1


def _leaves_zeros(arguments: Arguments) -> bool:
    return any(0 in count for count in _coverage(arguments))


class _Replacing(Arguments):
    """The arguments as a kernel misreads them in which an element of a later block replaces that of an earlier one."""


def _added(arguments: Arguments, keep: Keep = low_bits) -> tuple[Tensor, ...]:
    """The exact sums of the elements of all blocks; `keep` has the integers for those beyond the type."""
    data = arguments.tensor("data")
    numbers = np.array(numbers_of(data), object).reshape(data.shape)
    join = _replaced if isinstance(arguments, _Replacing) else np.add
    sums = _folded(arguments, numbers, np.array(0, object), join)
    array = stored(data.element_type, sums.ravel().tolist(), keep).reshape(sums.shape)
    return (Tensor(element_type=data.element_type, array=array),)


def _saturated(arguments: Arguments) -> tuple[Tensor, ...]:
    """The sums by another reading, in which integers beyond the range of their type are its nearest ones."""
    if not arguments.operand("data").is_integer or not _overlap(arguments):
        raise Unknown
    return _added(arguments, clamped)


def _last_remains(arguments: Arguments) -> Arguments:
    """The arguments of which the last block of each element has it, where blocks overlap, against the page."""
    if not _overlap(arguments):
        return arguments
    return _Replacing(**{name: getattr(arguments, name) for name in Arguments.__dataclass_fields__})


def _as_sums(kept: str, arguments: Arguments) -> Arguments:
    """The arguments in which every zero is positive and every NaN is quiet, as a sum with 0 is.

    A NaN keeps its sign and payload, or its sign, or nothing.
    """
    data = arguments.operand("data")
    if data.tensor is None or not has_kind(data, "float") or data.element_type in _WITHOUT_ZERO:
        return arguments
    numbers = data.tensor.array.view(data.tensor.type.arithmetic)
    bits = data.tensor.array.view(f"u{data.tensor.array.itemsize}")
    quiet = bits
    with np.errstate(invalid="ignore"):  # signalling NaNs
        are_nans, are_zeros = np.isnan(numbers), numbers == 0
    if data.element_type in _NAN:
        mask = {"payload": -1, "sign": 1 << (8 * bits.itemsize - 1), "nothing": 0}[kept] % (1 << 8 * bits.itemsize)
        quiet = np.where(are_nans, bits & bits.dtype.type(mask) | bits.dtype.type(_NAN[data.element_type]), bits)
    sums = np.where(are_zeros, bits.dtype.type(0), quiet)
    if np.array_equal(sums, bits):
        return arguments
    tensor = Tensor(element_type=data.element_type, array=sums.view(data.tensor.array.dtype))
    return replace(arguments, inputs={**arguments.inputs, "data": replace(data, tensor=tensor)})


def _is_other_count(name: str) -> Predicate:
    return lambda arguments: len(arguments.numbers(name)) != 2  # noqa: PLR2004 - rows and columns


def _is_negative(name: str) -> Predicate:
    return lambda arguments: any(number < 0 for number in arguments.numbers(name))


COL2IM = Movement(
    name="Col2Im-15",
    inputs=(
        Port("data", ranks=(2, 3)),
        *(Port(name, setting=True, types=_TYPES, shapes=((2,),)) for name in _SETTINGS),
    ),
    attributes=tuple(AttributeSpec(name, type="ints", default=default) for name, default in _PAIRS.items()),
    checks={
        "output_size.positive": lambda a: min(a.integers("output_size")) < 1,
        "kernel_size.negative": lambda a: min(a.integers("kernel_size")) < 0,
        "kernel_size.zero": lambda a: 0 in a.integers("kernel_size"),
        **{f"{name}.count": _is_other_count(name) for name in _PAIRS},
        "strides.positive": lambda a: any(number < 1 for number in a.numbers("strides")),
        **{f"{name}.negative": _is_negative(name) for name in ("dilations", "pads_begin", "pads_end")},
        "dilations.zero": lambda a: 0 in a.numbers("dilations"),
        "data.channels": lambda a: a.shape("data")[-2] % _volume(a) != 0,
        "data.blocks": lambda a: a.shape("data")[-1] != prod(axis.number for axis in _blocks(a)),
        "kernel_size.room": _has_no_room,
        "blocks.types": lambda a: has_kind(a.operand("data"), "string", "lookup") and _overlap(a),
        "blocks.no-zero": lambda a: a.operand("data").element_type in _WITHOUT_ZERO and _leaves_zeros(a),
    },
    moved=_moved,
    calculation=Calculation(applies=_overlap, calculate=_added),
    shapes=lambda a: [_shape(a)],
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "blocks overlap": _overlap,
        "an element is in no block": _leaves_zeros,
        "blocks reach into the padding": lambda a: any((*a.numbers("pads_begin"), *a.numbers("pads_end"))),
        "a dilation exceeds 1": lambda a: max(a.numbers("dilations")) > 1,
        "rows and columns differ": lambda a: len({*_axes(a)}) > 1,
        "data has no batches": lambda a: len(a.shape("data")) == 2,  # noqa: PLR2004 - channels and blocks
    },
    readings={
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "data.negative-zero": Reading(
            rewrites=tuple(partial(_as_sums, kept) for kept in ("payload", "sign", "nothing"))
        ),
        "blocks.wrap": Reading(computes=(_saturated,), by_element=True),
        "blocks.booleans": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean") and _overlap(a)),
        "types.independent": Reading(rejects=lambda a: types_differ(a, *_SETTINGS)),
        "blocks.added": Reading(
            rewrites=(_last_remains,), by_element=True, misreads=True
        ),  # behind what excuses the same elements
    },
)
