"""Transpose-1, from its specification page: a tensor with its dimensions in another order."""

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import INTEGERS
from opconform.operations.operation import Movement
from opconform.suite.declarations import Port


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("arg"))


def _whole(arguments: Arguments) -> tuple[int, ...]:
    """An order that has an element per dimension."""
    order = arguments.integers("input_order")
    if len(order) != _rank(arguments):
        raise Unknown
    return order


def order_of(arguments: Arguments) -> tuple[int, ...]:
    """The dimension of arg that is each dimension of the output (Inputs, 2)."""
    return arguments.integers("input_order") or tuple(reversed(range(_rank(arguments))))


def _is_still(arguments: Arguments) -> bool:
    """Whether the dimensions that are not 1 keep their order, although others move."""
    order, shape = order_of(arguments), arguments.shape("arg")
    if sorted(order) != [*range(len(shape))]:
        raise Unknown
    kept = [position for position in order if shape[position] != 1]
    return kept == sorted(kept) and [*order] != sorted(order)


TRANSPOSE = Movement(
    name="Transpose-1",
    inputs=(Port("arg"), Port("input_order", setting=True, types=INTEGERS, ranks=(1,), prefix="order")),
    checks={
        "order.length": lambda a: len(a.integers("input_order")) not in (0, _rank(a)),
        "order.negative": lambda a: any(x < 0 for x in _whole(a)),
        "order.range": lambda a: any(x >= _rank(a) for x in _whole(a)),
        "order.unique": lambda a: len({*_whole(a)}) < _rank(a),
    },
    moved=lambda a, places: [places["arg"].transpose(order_of(a))],
    contexts={
        "chain": contexts.chain("arg"),
        "inverse": contexts.inverse(order_of),
        "identity": contexts.identity(order_of),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
    facts={"only dimensions of 1 move": _is_still},
)
