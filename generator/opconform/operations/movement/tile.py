"""Tile-1, from its specification page: data repeated along each dimension."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments
from opconform.operations.checks import INTEGERS
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Array


def _missing(arguments: Arguments) -> int:
    """How many more dimensions data has than repeats, which is negative if there are more repeats."""
    return len(arguments.shape("data")) - len(arguments.integers("repeats"))


def _shape(arguments: Arguments) -> Shape:
    """The sizes times the repeats, of which the fewer have ones in front (Short description)."""
    missing = _missing(arguments)
    sizes = (*(1,) * -missing, *arguments.shape("data"))
    repeats = (*(1,) * missing, *arguments.integers("repeats"))
    return tuple(size * count for size, count in zip(sizes, repeats, strict=True))


def _moved(arguments: Arguments, places: Places) -> list[Array]:
    data, repeats = places["data"], arguments.integers("repeats")
    # numpy repeats one dimension after the other, and can need much memory before one of them becomes empty.
    return [np.empty(_shape(arguments), data.dtype) if 0 in repeats else np.tile(data, repeats)]


TILE = Movement(
    name="Tile-1",
    inputs=(Port("data"), Port("repeats", setting=True, types=INTEGERS, ranks=(1,))),
    checks={"repeats.negative": lambda a: any(integer < 0 for integer in a.integers("repeats"))},
    moved=_moved,
    shapes=lambda a: [_shape(a)],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
        "shape-of": contexts.shape_of("data", "repeats"),
    },
    facts={
        "no dimension is repeated": lambda a: {*a.integers("repeats")} <= {1},
        "a dimension is repeated no times": lambda a: 0 in a.integers("repeats"),
        "there are more repeats than dimensions": lambda a: _missing(a) < 0,
        "there are fewer repeats than dimensions": lambda a: _missing(a) > 0,
    },
)
