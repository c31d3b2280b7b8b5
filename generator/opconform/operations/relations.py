"""What arguments have in common with few others, in words; reports name it where failing cases share it.

An operation is judged without this module, so that its mutants do not have to be caught.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from opconform.operations.axis import axis_from_front, dimension
from opconform.operations.operation import Arguments, Rejection
from opconform.operations.pad import padding_of
from opconform.operations.slice import slices_of
from opconform.operations.variadic_split import REMAINDER, lengths_of
from opconform.tensors.element_types import ELEMENT_TYPES

#: The longest step that fits into 32 bits.
_LONGEST = (1 << 31) - 1


def relations_of(op: str, arguments: Arguments) -> Iterable[str]:
    """The relations between valid or invalid arguments of an operation, such as that lengths exceed a dimension."""
    return _RELATIONS[op](arguments) if op in _RELATIONS else ()


def _lengths(arguments: Arguments) -> Iterator[str]:
    """How the sum of the lengths compares with the dimension."""
    yield from _splits(arguments)
    lengths, size = lengths_of(arguments), dimension(arguments)
    if lengths is None or size is None:
        return
    excess = sum(each for each in lengths if each != REMAINDER) - size
    which = "the other lengths" if REMAINDER in lengths else "the lengths"
    if excess > 0:
        yield f"{which} exceed the dimension"
    if excess == 1:
        yield f"{which} exceed the dimension by 1"
    if sum(lengths) > ELEMENT_TYPES[arguments.inputs["split_lengths"].element_type].maximum:
        yield "the sum of the lengths exceeds their element type"


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
        value = arguments.inputs.get("pad_value")
        if value and value.tensor and value.element_type != "string" and any(value.tensor.array.tobytes()):
            yield "a number other than 0 is added"


def _slices(arguments: Arguments) -> Iterator[str]:
    """Where slices start and stop, and how far their steps go."""
    yield from _steps(arguments, "step")
    try:
        slices, shape = slices_of(arguments), arguments.inputs["data"].shape
    except Rejection:
        return
    backward = [(each, size) for each, size in zip(slices, shape, strict=True) if each.step and each.step < 0]
    if any(max(each.start, each.stop) < -size < 0 for each, size in backward):
        yield "a backward slice starts and stops before the first element"


def _steps(arguments: Arguments, name: str) -> Iterator[str]:
    """How far the steps of an input go."""
    given = arguments.inputs.get(name)
    if given is not None and min(given.integers or (0,)) < -_LONGEST:
        yield "a step backward is longer than 31 bits"


def _splits(arguments: Arguments) -> Iterator[str]:
    """Whether the elements of an output are apart in data."""
    axis = axis_from_front(arguments)
    if axis is not None and math.prod(arguments.inputs["data"].shape[:axis]) > 1:
        yield "an inner dimension is divided"


_RELATIONS: Mapping[str, Callable[[Arguments], Iterable[str]]] = {
    "Pad-12": _pads,
    "Slice-8": _slices,
    "Split-1": _splits,
    "StridedSlice-1": partial(_steps, name="stride"),
    "VariadicSplit-1": _lengths,
}
