"""What arguments have in common with few others, in words; reports name it where failing cases share it.

An operation is judged without this module, so that its mutants do not have to be caught.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from opconform.operations.axis import dimension
from opconform.operations.operation import Arguments, Rejection
from opconform.operations.pad import padding_of
from opconform.operations.slice import slices_of
from opconform.operations.variadic_split import REMAINDER, lengths_of


def relations_of(op: str, arguments: Arguments) -> Iterable[str]:
    """The relations between valid or invalid arguments of an operation, such as that lengths exceed a dimension."""
    return _RELATIONS[op](arguments) if op in _RELATIONS else ()


def _lengths(arguments: Arguments) -> Iterator[str]:
    """How the sum of the lengths compares with the dimension."""
    lengths, size = lengths_of(arguments), dimension(arguments)
    if lengths is None or size is None:
        return
    excess = sum(each for each in lengths if each != REMAINDER) - size
    which = "the other lengths" if REMAINDER in lengths else "the lengths"
    if excess > 0:
        yield f"{which} exceed the dimension"
    if excess == 1:
        yield f"{which} exceed the dimension by 1"


def _pads(arguments: Arguments) -> Iterator[str]:
    """What the pads remove and add."""
    try:
        padding = padding_of(arguments)
    except Rejection:
        return
    ends = [*zip(arguments.inputs["data"].shape, padding.begin, padding.end, strict=True)]
    if any(max(-begin, -end) > size for size, begin, end in ends):
        yield "a pad removes more elements than data has"
    if any(size + begin + end < 0 for size, begin, end in ends):
        yield "the pads together remove more elements than data has"
    if padding.mode == "constant" and any(max(begin, end) > 0 for _, begin, end in ends):
        yield "pad_value is added"


def _slices(arguments: Arguments) -> Iterator[str]:
    """Where slices start and stop."""
    try:
        slices, shape = slices_of(arguments), arguments.inputs["data"].shape
    except Rejection:
        return
    backward = [(each, size) for each, size in zip(slices, shape, strict=True) if each.step and each.step < 0]
    if any(max(each.start, each.stop) < -size < 0 for each, size in backward):
        yield "a backward slice starts and stops before the first element"


_RELATIONS: Mapping[str, Callable[[Arguments], Iterable[str]]] = {
    "Pad-12": _pads,
    "Slice-8": _slices,
    "VariadicSplit-1": _lengths,
}
