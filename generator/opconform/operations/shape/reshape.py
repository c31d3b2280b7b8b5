"""Reshape-1, from its specification page: the elements of data in other dimensions."""

from math import prod

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.operation import Movement
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port

#: The size that is calculated from the others (Detailed description, second item).
INFERRED = -1


def _beyond(arguments: Arguments) -> Shape:
    """The sizes after the dimensions of data, where zeros copy (Attributes, `special_zero`)."""
    rank = len(arguments.shape("data"))
    return arguments.integers("shape")[rank:] if arguments.attribute("special_zero") else ()


def _copied(arguments: Arguments) -> Shape:
    """The sizes, with those that are copied from data in place of zeros."""
    shape, pattern = arguments.shape("data"), arguments.integers("shape")
    copies = bool(arguments.attribute("special_zero"))
    if 0 in _beyond(arguments) or pattern.count(INFERRED) > 1 or any(x < INFERRED for x in pattern):
        raise Unknown
    return tuple(shape[place] if copies and not x else x for place, x in enumerate(pattern))


def _volumes(arguments: Arguments) -> tuple[int, int]:
    """The number of elements of data, and the product of the sizes, without one that is inferred."""
    return prod(arguments.shape("data")), abs(prod(_copied(arguments)))


def _sizes(arguments: Arguments) -> Shape:
    """The dimensions of the output."""
    volume, others = _volumes(arguments)
    return tuple(volume // others if x == INFERRED else x for x in _copied(arguments))


def _is_inferred(arguments: Arguments) -> bool:
    return INFERRED in arguments.integers("shape")


def _is_undivided(arguments: Arguments) -> bool:
    """Whether no inferred size gives the number of elements of data."""
    volume, others = _volumes(arguments)
    return volume > 0 if not others else volume % others > 0


def _is_other_product(arguments: Arguments) -> bool:
    pattern, shape = arguments.integers("shape"), arguments.operand("data").shape
    if arguments.attributes.get("special_zero") is not True or 0 not in pattern[: len(shape)] or INFERRED in pattern:
        return False
    sizes = [x or (shape[place] if place < len(shape) else 0) for place, x in enumerate(pattern)]
    return prod(sizes) != prod(shape)


def _is_zero_moved(arguments: Arguments) -> bool:
    volume, others = _volumes(arguments)
    sizes = [volume // (others or 1) if x == INFERRED else x for x in _copied(arguments)]
    if prod(sizes) != volume:
        raise Unknown
    return any(size == 0 != wanted for size, wanted in zip(arguments.shape("data"), sizes, strict=False))


RESHAPE = Movement(
    name="Reshape-1",
    inputs=(Port("data"), Port("shape", setting=True, types=INTEGERS, ranks=(1,))),
    attributes=(AttributeSpec("special_zero", type="boolean"),),
    checks={
        "shape.negative": lambda a: any(integer < INFERRED for integer in a.integers("shape")),
        "shape.single-inferred": lambda a: a.integers("shape").count(INFERRED) > 1,
        "shape.zero-after-last": lambda a: 0 in _beyond(a)[:1],
        "shape.zero-index": lambda a: 0 in _beyond(a)[1:],
        "shape.volume": lambda a: not _is_inferred(a) and _volumes(a)[0] != _volumes(a)[1],
        "shape.inferred-divides": lambda a: _is_inferred(a) and _is_undivided(a),
        "shape.inferred-undetermined": lambda a: _is_inferred(a) and _volumes(a) == (0, 0),
    },
    moved=lambda a, places: [places["data"].reshape(_sizes(a))],
    shapes=lambda a: [_sizes(a)],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: -1),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "shape"),
        "restored": contexts.restored("data", special_zero=False),
    },
    facts={
        "the sizes have another product than those of data, and a 0 copies one": _is_other_product,
        "a dimension of 0 moves": _is_zero_moved,
    },
    readings={
        "data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string")),
        "shape.empty": Reading(rejects=lambda a: is_empty(a.operand("shape"))),
    },
)
