"""Mutants of Unsqueeze-1: indices that are not counted in the output."""

from collections.abc import Callable

from opconform.tensors.tensor import Array
from tests.mutants.row import Call, Hook, MutantRow, moves, rows

Insertion = Callable[[list[int], int], int]


def _inserted(call: Call, axes: list[int], place_of: Insertion) -> list[int]:
    """The dimensions of data, and a 1 inserted for one index after the other."""
    shape = list(call.data.shape)
    for axis in axes:
        shape.insert(place_of(shape, axis), 1)
    return shape


def _in_turn(place_of: Insertion, *, is_sorted: bool = False) -> Hook:
    def moved(call: Call, array: Array) -> Array:
        axes = call.integers("axes")
        return array.reshape(_inserted(call, sorted(axes) if is_sorted else axes, place_of))

    return moves(moved)


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("unsqueezes", ("Unsqueeze-1",),
    ("before-the-last", "A negative index is one of data.", "microsoft/onnxruntime#11944",
        _in_turn(lambda _, axis: axis)),
    ("counted-in-turn", "A negative index counts in what has been inserted so far.", "apache/tvm#13846",
        _in_turn(lambda shape, axis: axis + (len(shape) + 1) * (axis < 0))),
    ("sorted-as-given", "The indices are sorted before negative ones are counted.", "robertknight/rten#1339",
        _in_turn(lambda shape, axis: axis + (len(shape) + 1) * (axis < 0), is_sorted=True)),
)
# fmt: on
