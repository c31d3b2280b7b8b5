"""What arguments have in common with few others, in words; reports name it where failing cases share it.

An operation is judged without this module, so that its mutants do not have to be caught.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest

from opconform.operations.axis import axis_from_front, dimension
from opconform.operations.operation import Arguments, Rejection
from opconform.operations.pad import padding_of
from opconform.operations.reshape import sizes_of
from opconform.operations.slice import slices_of
from opconform.operations.strided_slice import kinds_of, parts_of
from opconform.operations.transpose import order_of
from opconform.operations.variadic_split import REMAINDER, lengths_of
from opconform.tensors.element_types import ELEMENT_TYPES

#: The longest step that fits into 32 bits.
_LONGEST = (1 << 31) - 1


def relations_of(op: str, arguments: Arguments) -> Iterable[str]:
    """The relations between valid or invalid arguments of an operation, such as that lengths exceed a dimension."""
    return _RELATIONS[op](arguments) if op in _RELATIONS else ()


def _integers(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The elements of a control input; none if it is omitted."""
    given = arguments.inputs.get(name)
    return given.integers or () if given is not None else ()


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
    if any(size + begin + end == 0 < size for size, begin, end in ends):
        yield "the pads together remove a whole dimension"
    if padding.mode == "constant" and any(max(begin, end) > 0 for _, begin, end in ends):
        value = arguments.inputs.get("pad_value")
        if value and value.tensor and value.element_type != "string" and any(value.tensor.array.tobytes()):
            yield "a number other than 0 is added"


def _slices(arguments: Arguments) -> Iterator[str]:
    """Where slices start and stop, and how far their steps go."""
    yield from _steps(arguments, "step")
    shape = arguments.inputs["data"].shape if "data" in arguments.inputs else ()
    empty = [axis for number, size in enumerate(shape) if not size for axis in (number, number - len(shape))]
    axes = _integers(arguments, "axes") or range(len(_integers(arguments, "start")))
    if any(each in empty for each in axes):
        yield "a dimension of 0 is sliced"
    try:
        slices = slices_of(arguments)
    except Rejection:
        return
    some = [(each, size) for each, size in zip(slices, shape, strict=True) if each.step]
    if any(max(each.start, each.stop) < -size < 0 for each, size in some if each.step < 0):
        yield "a backward slice starts and stops before the first element"
    if any(_LONGEST < abs(end) <= size for each, size in some for end in (each.start, each.stop)):
        yield "a slice starts or stops beyond 31 bits inside data"
    if not _integers(arguments, "start"):
        yield "no dimension is sliced"
    yield from _first(range(*each.indices(size)) for each, size in some)


def _strided(arguments: Arguments) -> Iterator[str]:
    """How far strides go, and what they select."""
    yield from _steps(arguments, "stride")
    indices = (_integers(arguments, name) for name in ("begin", "end", "stride"))
    if any(stride < 0 and begin == end for begin, end, stride in zip(*indices, strict=False)):
        yield "a backward slice ends where it begins"
    try:
        yield from _first(each for each in parts_of(arguments) if isinstance(each, range))
    except Rejection:
        return
    if "slice" not in kinds_of(arguments):
        yield "no dimension is sliced"


def _first(slices: Iterable[range]) -> Iterator[str]:
    """Whether a backward slice selects a single element, which is the first one."""
    if any(each.step < 0 and [*each[:2]] == [0] for each in slices):
        yield "a backward slice selects only the first element"


def _steps(arguments: Arguments, name: str) -> Iterator[str]:
    """How far the steps of an input go."""
    if min(_integers(arguments, name), default=0) < -_LONGEST:
        yield "a negative step is beyond 31 bits"


def _splits(arguments: Arguments) -> Iterator[str]:
    """Whether the elements of an output are apart in data, and whether there is only one output."""
    lengths = arguments.inputs.get("split_lengths")
    if arguments.attributes.get("num_splits") == 1 or (lengths is not None and math.prod(lengths.shape) == 1):
        yield "a single output is requested"
    axis = axis_from_front(arguments)
    if axis is not None and math.prod(arguments.inputs["data"].shape[:axis]) > 1:
        yield "an inner dimension is divided"


def _copies(arguments: Arguments) -> Iterator[str]:
    """What zeros copy, and where dimensions of 0 go."""
    data, pattern = arguments.inputs.get("data"), _integers(arguments, "shape")
    if data is None:
        return
    if arguments.attributes.get("special_zero") is True and 0 in pattern[: len(data.shape)] and -1 not in pattern:
        sizes = [size or copied for size, copied in zip_longest(pattern, data.shape[: len(pattern)], fillvalue=0)]
        if math.prod(sizes) != math.prod(data.shape):
            yield "the sizes have another product than those of data, and a 0 copies one"
    try:
        sizes = [*sizes_of(arguments)]
    except Rejection:
        return
    if any(size == 0 != other for size, other in zip(data.shape, sizes, strict=False)):
        yield "a dimension of 0 moves"


def _batches(arguments: Arguments) -> Iterator[str]:
    """How the batch dimensions of data and indices compare, and whether tuples of indices select nothing."""
    data, indices = (arguments.inputs.get(each) for each in ("data", "indices"))
    given = arguments.attributes.get("batch_dims")
    if data is None or indices is None or type(given) is not int:
        return
    if -1 - len(indices.shape) <= given < -min(len(data.shape), len(indices.shape)):
        yield "batch_dims is out of range, and at most one dimension before those of the indices"
    if 0 < given <= len(data.shape) and math.prod(data.shape[:given]) == 1:
        yield "only batch dimensions of 1 are given"
    one, other = (each.shape[: max(given, 0)] for each in (data, indices))
    if len(one) == len(other) and one != other:
        yield "the batch dimensions of data and indices differ"
    length, batches = indices.shape[-1] if indices.shape else 0, math.prod(one)
    if one and batches and math.prod(indices.shape[:-1]) % batches == 0 and given + length <= len(data.shape):
        yield "the batches of data divide the tuples of the indices"
    if given >= 0 and length and 0 in data.shape[given + length :]:
        yield "the dimensions after those of a tuple of indices have a 0"


def _gathered(arguments: Arguments) -> Iterator[str]:
    """Whether a batch selects nothing, beside what holds for all batches."""
    yield from _batches(arguments)
    axis, batches = axis_from_front(arguments), arguments.attributes.get("batch_dims")
    if axis is None or "indices" not in arguments.inputs or type(batches) is not int or batches < 0:
        return
    shape, selected = arguments.inputs["data"].shape, arguments.inputs["indices"].shape[batches:]
    if 0 not in shape[:batches] and 0 in (*shape[batches:axis], *selected, *shape[axis + 1 :]):
        yield "the output of a batch is empty"


def _transposed(arguments: Arguments) -> Iterator[str]:
    """Whether the elements of data stay in place."""
    try:
        order = order_of(arguments)
    except Rejection:
        return
    kept = [each for each in order if arguments.inputs["arg"].shape[each] != 1]
    if kept == sorted(kept) and [*order] != sorted(order):
        yield "only dimensions of 1 move"


_RELATIONS: Mapping[str, Callable[[Arguments], Iterable[str]]] = {
    "Gather-8": _gathered,
    "GatherND-8": _batches,
    "Pad-12": _pads,
    "Reshape-1": _copies,
    "Slice-8": _slices,
    "Split-1": _splits,
    "StridedSlice-1": _strided,
    "Transpose-1": _transposed,
    "VariadicSplit-1": _lengths,
}
