"""SpaceToBatch-2 and BatchToSpace-2, from their specification pages: places in blocks as batches, and back."""

from collections.abc import Mapping
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS, Predicate
from opconform.operations.interpretation import Reading, is_empty, types_differ
from opconform.operations.movement.depth import Parts, rearranged
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import Port, RanksFrom
from opconform.tensors.tensor import Array

_BLOCKS = "block_shape"
#: The numeric types without a zero.
_WITHOUT_ZERO = frozenset({"f8e8m0"})


def _list(arguments: Arguments, name: str) -> tuple[int, ...]:
    """A list that has one element per dimension of data."""
    if len(arguments.integers(name)) != len(arguments.shape("data")):
        raise Unknown
    return arguments.integers(name)


def _blocks(arguments: Arguments) -> tuple[int, ...]:
    """The block sizes after the block size of the batches."""
    blocks = _list(arguments, _BLOCKS)
    if min(blocks) < 1:
        raise Unknown
    return blocks[1:]


def _is_other_count(name: str) -> Predicate:
    return lambda arguments: len(arguments.integers(name)) != len(arguments.shape("data"))


def _checks(word: str) -> Mapping[str, Predicate]:
    """What the page requires of the blocks, and of the elements that are added or removed at the ends."""
    ends = f"{word}_begin", f"{word}_end"
    return {
        **{f"{name}.count": _is_other_count(name) for name in (_BLOCKS, *ends)},
        "block_shape.positive": lambda a: min(_list(a, _BLOCKS)) < 1,
        "block_shape.batch": lambda a: _list(a, _BLOCKS)[0] > 1,
        f"{word}.negative": lambda a: any(min(_list(a, name)) < 0 for name in ends),
        f"{word}.batch": lambda a: any(_list(a, name)[0] > 0 for name in ends),
    }


def _padded(arguments: Arguments) -> Shape:
    """The shape of data with the elements that are added at both ends."""
    pads = (_list(arguments, name) for name in ("pads_begin", "pads_end"))
    return tuple(map(sum, zip(arguments.shape("data"), *pads, strict=True)))


def _is_added(arguments: Arguments) -> bool:
    return _padded(arguments) != arguments.shape("data")


def _batched_shape(arguments: Arguments) -> Shape:
    batches, *sizes = _padded(arguments)
    blocks = _blocks(arguments)
    return (batches * prod(blocks), *(size // block for size, block in zip(sizes, blocks, strict=True)))


def _batched_parts(arguments: Arguments) -> Parts:
    batches, *sizes = _padded(arguments)
    pairs = zip(sizes, _blocks(arguments), strict=True)
    shape = (batches, *(x for size, block in pairs for x in (size // block, block)))
    dimensions = range(1, len(shape))
    return shape, (*dimensions[1::2], 0, *dimensions[::2])


def _to_batches(arguments: Arguments, places: Places) -> list[Array]:
    """Data with zeros around it, of which the places in blocks move before the batches (Detailed description)."""
    data = places["data"]
    output = np.full(_padded(arguments), places.none, data.dtype)
    begin = arguments.integers("pads_begin")
    output[tuple(slice(first, first + size) for first, size in zip(begin, data.shape, strict=True))] = data
    return [rearranged(output, _batched_parts(arguments), _batched_shape(arguments))]


def _whole(arguments: Arguments) -> Shape:
    """The shape before elements are removed at the ends."""
    batches, *sizes = arguments.shape("data")
    blocks = _blocks(arguments)
    return (batches // prod(blocks), *(size * block for size, block in zip(sizes, blocks, strict=True)))


def _crops(arguments: Arguments) -> list[slice]:
    ends = (_list(arguments, name) for name in ("crops_begin", "crops_end"))
    return [slice(begin, size - end) for size, begin, end in zip(_whole(arguments), *ends, strict=True)]


def _to_space(arguments: Arguments, places: Places) -> list[Array]:
    """The places in blocks that are split from the batches move behind the dimensions (Detailed description)."""
    blocks, (batches, *_) = _blocks(arguments), _whole(arguments)
    count = len(blocks)
    shape = (*blocks, batches, *arguments.shape("data")[1:])
    order = (count, *(x for number in range(count) for x in (count + 1 + number, number)))
    whole = rearranged(places["data"], (shape, order), _whole(arguments))
    return [whole[tuple(_crops(arguments))]]


def _ports(word: str) -> tuple[Port, ...]:
    names = (_BLOCKS, f"{word}_begin", f"{word}_end")
    settings = (Port(name, setting=True, types=INTEGERS, ranks=(1,)) for name in names)
    return (Port("data", ranks=RanksFrom(2)), *settings)


def _readings(word: str) -> Mapping[str, Reading]:
    return {
        "data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data"))),
        "types.independent": Reading(rejects=lambda a: types_differ(a, _BLOCKS, f"{word}_begin", f"{word}_end")),
    }


_CONTEXTS = {"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert}
SPACE_TO_BATCH = Movement(
    name="SpaceToBatch-2",
    inputs=_ports("pads"),
    checks={
        **_checks("pads"),
        "block_shape.divides": lambda a: any(x % y for x, y in zip(_padded(a)[1:], _blocks(a), strict=True)),
        "pads.no-zero": lambda a: _is_added(a) and a.operand("data").element_type in _WITHOUT_ZERO,
    },
    moved=_to_batches,
    shapes=lambda a: [_batched_shape(a)],
    contexts=_CONTEXTS,
    facts={"elements are added": _is_added, "every block has one element": lambda a: prod(_blocks(a)) == 1},
    readings=_readings("pads"),
)
BATCH_TO_SPACE = Movement(
    name="BatchToSpace-2",
    inputs=_ports("crops"),
    checks={
        **_checks("crops"),
        "block_shape.divides": lambda a: a.shape("data")[0] % prod(_blocks(a)) != 0,
        "crops.limit": lambda a: any(part.start > part.stop for part in _crops(a)[1:]),
    },
    moved=_to_space,
    shapes=lambda a: [tuple(part.stop - part.start for part in _crops(a))],
    contexts=_CONTEXTS,
    facts={
        "elements are removed": lambda a: any(a.integers("crops_begin") + a.integers("crops_end")),
        "every block has one element": lambda a: prod(_blocks(a)) == 1,
    },
    readings=_readings("crops"),
)
