"""ReverseSequence-1, from its specification page: data with the first elements of each slice in the opposite order."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.checks import NUMBERS
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Movement
from opconform.operations.places import Places
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.rounding import Number
from opconform.tensors.tensor import Array


def _rank(arguments: Arguments) -> int:
    return len(arguments.shape("data"))


def _axes(arguments: Arguments) -> tuple[int, int]:
    """The dimensions of the slices and of the sequences."""
    batch, sequence = (from_front(arguments.number(name), _rank(arguments)) for name in ("batch_axis", "seq_axis"))
    return batch, sequence


def _size(arguments: Arguments) -> int:
    """The dimension of the sequences."""
    return arguments.shape("data")[_axes(arguments)[1]]


def _lengths(arguments: Arguments) -> tuple[Number, ...]:
    return arguments.elements("seq_lengths")


def _are_others(arguments: Arguments) -> bool:
    """Whether there is not one length per slice (Inputs, 2)."""
    count = arguments.shape("data")[_axes(arguments)[0]]
    return arguments.shape("seq_lengths") != (count,)


def _is_fraction(arguments: Arguments) -> bool:
    return any(length % 1 != 0 for length in _lengths(arguments))  # also infinities and NaNs


def _is_outside(arguments: Arguments) -> bool:
    if _is_fraction(arguments):
        raise Unknown
    return any(not 1 <= length <= _size(arguments) for length in _lengths(arguments))


def _reversed(arguments: Arguments, places: Places) -> list[Array]:
    output = np.array(places["data"], order="C")
    slices, given = (np.moveaxis(array, _axes(arguments), (0, 1)) for array in (output, places["data"]))
    for number, length in enumerate(map(int, _lengths(arguments))):
        slices[number, :length] = given[number, :length][::-1]
    return [output]


REVERSE_SEQUENCE = Movement(
    name="ReverseSequence-1",
    inputs=(Port("data", ranks=RanksFrom(2)), Port("seq_lengths", setting=True, types=NUMBERS, ranks=(1,))),
    attributes=(AttributeSpec("batch_axis", type="int", default=0), AttributeSpec("seq_axis", type="int", default=1)),
    checks={
        "batch_axis.range": lambda a: is_outside(a.number("batch_axis"), _rank(a)),
        "seq_axis.range": lambda a: is_outside(a.number("seq_axis"), _rank(a)),
        "seq_axis.other": lambda a: len({*_axes(a)}) == 1,
        "seq_lengths.count": _are_others,
        "seq_lengths.whole": _is_fraction,
        "seq_lengths.range": _is_outside,
    },
    moved=_reversed,
    shapes=lambda a: [a.shape("data")],
    contexts={
        "chain": contexts.chain("data"),
        "doubled": contexts.doubled(lambda a: _axes(a)[1]),
        "convert": contexts.convert,
    },
    facts={
        "nothing is reversed": lambda a: all(length <= 1 for length in _lengths(a)),
        "whole sequences are reversed": lambda a: all(length == _size(a) for length in _lengths(a)),
        "the sequences are before the slices": lambda a: _axes(a)[1] < _axes(a)[0],
        "the sequences are the last dimension": lambda a: _axes(a)[1] == _rank(a) - 1,
        "the lengths are floating-point numbers": lambda a: has_kind(a.operand("seq_lengths"), "float"),
    },
    readings={"data.zero-size": Reading(rejects=lambda a: is_empty(a.operand("data")))},
)
