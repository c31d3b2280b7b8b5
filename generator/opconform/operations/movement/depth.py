"""SpaceToDepth-1 and DepthToSpace-1, from their specification pages: blocks of images as channels, and back."""

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.tensor import Array

#: A shape of data, and the order of its dimensions after that.
Parts = tuple[Shape, tuple[int, ...]]
_DATA = Port("data", ranks=RanksFrom(3))
_ATTRIBUTES = (
    AttributeSpec("block_size", type="int", default=1),
    AttributeSpec("mode", type="enum", values=("blocks_first", "depth_first")),
)


def _has_no_block(arguments: Arguments) -> bool:
    return arguments.number("block_size") <= 0


def _block(arguments: Arguments) -> int:
    if _has_no_block(arguments):
        raise Unknown
    return arguments.number("block_size")


def _spatial(arguments: Arguments) -> Shape:
    return arguments.shape("data")[2:]


def _volume(arguments: Arguments) -> int:
    """The number of elements in a block, each of which becomes a channel."""
    return int(_block(arguments) ** len(_spatial(arguments)))


def _blocks_are_first(arguments: Arguments) -> bool:
    return arguments.attribute("mode") == "blocks_first"


def _deep_shape(arguments: Arguments) -> Shape:
    batches, channels, *sizes = arguments.shape("data")
    return (batches, channels * _volume(arguments), *(size // _block(arguments) for size in sizes))


def deep_parts(arguments: Arguments) -> Parts:
    """Each dimension as blocks and the places in them, which move to the channels (Detailed description)."""
    block, sizes = _block(arguments), _spatial(arguments)
    shape = (*arguments.shape("data")[:2], *(x for size in sizes for x in (size // block, block)))
    dimensions = range(2, len(shape))
    inside, outside = dimensions[1::2], dimensions[::2]
    return shape, ((0, *inside, 1, *outside) if _blocks_are_first(arguments) else (0, 1, *inside, *outside))


def _flat_shape(arguments: Arguments) -> Shape:
    batches, channels, *sizes = arguments.shape("data")
    return (batches, channels // _volume(arguments), *(size * _block(arguments) for size in sizes))


def flat_parts(arguments: Arguments) -> Parts:
    """The channels as channels and places in blocks, which move behind the dimensions (Detailed description)."""
    batches, _, *sizes = arguments.shape("data")
    inside, channels = (_block(arguments),) * len(sizes), _flat_shape(arguments)[1]
    are_first, outside = _blocks_are_first(arguments), range(len(sizes) + 2, 2 * len(sizes) + 2)
    depth = (*inside, channels) if are_first else (channels, *inside)
    first, channel = (1, len(sizes) + 1) if are_first else (2, 1)
    pairs = (x for number, dimension in enumerate(outside) for x in (dimension, first + number))
    return (batches, *depth, *sizes), (0, channel, *pairs)


def rearranged(data: Array, parts: Parts, shape: Shape) -> Array:
    """Data in another shape, with its dimensions in another order, and then in the shape of the output."""
    split, order = parts
    return data.reshape(split).transpose(order).reshape(shape)


_FACTS = {
    "the block size is 1": lambda a: a.number("block_size") == 1,
    "data has other than two spatial dimensions": lambda a: len(_spatial(a)) != 2,  # noqa: PLR2004
    "a block is a whole dimension": lambda a: a.number("block_size") in _spatial(a),
}
_CONTEXTS = {"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0)}
_READINGS = {"data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data")))}
SPACE_TO_DEPTH = Movement(
    name="SpaceToDepth-1",
    inputs=(_DATA,),
    attributes=_ATTRIBUTES,
    checks={
        "block_size.positive": _has_no_block,
        "block_size.divides": lambda a: any(size % _block(a) for size in _spatial(a)),
    },
    moved=lambda a, places: [rearranged(places["data"], deep_parts(a), _deep_shape(a))],
    shapes=lambda a: [_deep_shape(a)],
    contexts=_CONTEXTS,
    facts=_FACTS,
    readings=_READINGS,
)
DEPTH_TO_SPACE = Movement(
    name="DepthToSpace-1",
    inputs=(_DATA,),
    attributes=_ATTRIBUTES,
    checks={
        "block_size.positive": _has_no_block,
        "block_size.divides": lambda a: a.shape("data")[1] % _volume(a) != 0,
    },
    moved=lambda a, places: [rearranged(places["data"], flat_parts(a), _flat_shape(a))],
    shapes=lambda a: [_flat_shape(a)],
    contexts=_CONTEXTS,
    facts=_FACTS,
    readings=_READINGS,
)
