"""Tile-1, from its specification page: data repeated along each dimension."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments
from opconform.operations.checks import INTEGERS
from opconform.operations.operation import Operation
from opconform.suite.case import Shape
from opconform.suite.declarations import Port


def _missing(arguments: Arguments) -> int:
    """How many more dimensions data has than repeats, which is negative if there are more repeats."""
    return len(arguments.shape("data")) - len(arguments.integers("repeats"))


def _shape(arguments: Arguments) -> Shape:
    """The sizes times the repeats, of which the fewer have ones in front (Short description)."""
    missing = _missing(arguments)
    sizes = (*(1,) * -missing, *arguments.shape("data"))
    repeats = (*(1,) * missing, *arguments.integers("repeats"))
    return tuple(size * count for size, count in zip(sizes, repeats, strict=True))


TILE = Operation(
    name="Tile-1",
    inputs=(Port("data"), Port("repeats", setting=True, types=INTEGERS, ranks=(1,))),
    checks={"repeats.negative": lambda a: any(integer < 0 for integer in a.integers("repeats"))},
    moved=lambda a, places: [np.tile(places["data"], a.integers("repeats"))],
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
