"""Mutants of Squeeze-1 and Squeeze-15: dimensions of 1 that are found wrongly."""

from tests.mutants.row import Call, MutantRow, moves, refuses, rows


def _indices(call: Call) -> list[int]:
    return call.integers("axes") if call.inputs.get("axes") is not None else []


def _names_other(call: Call) -> bool:
    """Whether an index names a dimension other than 1."""
    return any(call.data.shape[index] != 1 for index in _indices(call))


def _without_next(call: Call) -> list[int]:
    """The dimensions, of which a loop forwards skips the one after each that it removes."""
    shape, place = list(call.data.shape), 0
    named = {index % len(shape) for index in _indices(call)} or {*range(len(shape))}
    places = [*range(len(shape))]
    while place < len(shape):
        if shape[place] == 1 and places[place] in named:
            del shape[place], places[place]
        place += 1
    return shape


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("squeezes", ("Squeeze-1", "Squeeze-15"),
    ("all-removed", "Every dimension of 1 is removed, whatever the indices are.", "microsoft/onnxscript#360",
        moves(lambda _, array: array.reshape([size for size in array.shape if size != 1]))),
    ("neighbour-kept", "Of two dimensions of 1 beside each other, the second one stays.", "hyperspy/hyperspy#2676",
        moves(lambda call, _: call.data.reshape(_without_next(call)))),
    ("negative-kept", "A negative index removes nothing.", "robertknight/rten#1173",
        moves(lambda call, array: call.data if any(index < 0 for index in _indices(call)) else array)),
    ("other-size-refused", "An index of a dimension other than 1 is refused.", "openvinotoolkit/openvino#24715",
        refuses(_names_other)),
)
# fmt: on
