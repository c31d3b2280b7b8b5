"""What the slicing steps of StridedSlice-1 do, from its specification page."""

from collections.abc import Iterator
from typing import NamedTuple

from opconform.operations.arguments import Arguments, Unknown
from opconform.suite.case import Shape

#: The inputs that have one element per slicing step (Inputs, 2 to 4); the last one is optional.
INDICES = ("begin", "end", "stride")
#: The attributes that have one bit per slicing step (Attributes).
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
#: The slicing steps that take one dimension of data.
_ONE_DIMENSION = ("slice", "shrink")


def values_of(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The elements of an index input; strides of 1 if the only optional one is omitted (Inputs, 4)."""
    if name not in arguments.inputs:
        return (1,) * len(arguments.integers("begin"))
    return arguments.integers(name)


def counts_of(arguments: Arguments) -> set[Shape]:
    """The lengths of the index inputs that are lists (Detailed description, second property)."""
    shapes = [arguments.inputs[index].shape for index in INDICES if index in arguments.inputs]
    return {shape for shape in shapes if len(shape) == 1}


def mask_of(arguments: Arguments, name: str) -> list[int]:
    """The bits of the slicing steps in a mask, padded with zeros; longer masks are cut (Detailed description)."""
    count = len(arguments.integers("begin"))
    return [*arguments.numbers(name), *[0] * count][:count]


class _Step(NamedTuple):
    """What one slicing step does to one dimension: `slice` or `shrink` it, add a `new` one, or leave it `whole`."""

    kind: str
    number: int
    size: int


def kinds_of(arguments: Arguments) -> list[str]:
    """What each slicing step does; an ellipsis precedes a new dimension, and that a removed one."""
    if len(counts_of(arguments)) > 1:
        raise Unknown
    masks = [mask_of(arguments, name) for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    names = ("ellipsis", "new", "shrink", "slice")
    return [names[(*bits, 1).index(1)] for bits in zip(*masks, strict=True)]


def taken_by(arguments: Arguments) -> int:
    """The number of dimensions of data that slicing steps take, with at most one ellipsis."""
    kinds = kinds_of(arguments)
    if kinds.count("ellipsis") > 1:
        raise Unknown
    return sum(kind in _ONE_DIMENSION for kind in kinds)


def steps_of(arguments: Arguments) -> Iterator[_Step]:
    """What happens to each dimension, in order, without the last ones, which have no slicing step."""
    kinds, shape = kinds_of(arguments), arguments.shape("data")
    others, sizes = len(shape) - taken_by(arguments), iter(shape)
    if others < 0:
        raise Unknown
    for number, kind in enumerate(kinds):
        if kind == "ellipsis":
            yield from [_Step("whole", number, next(sizes)) for _ in range(others)]
        else:
            yield _Step(kind, number, 1 if kind == "new" else next(sizes))


def index_of(arguments: Arguments, number: int) -> int:
    """The index of the only element along a removed dimension (Detailed description, `shrink_axis_mask`)."""
    return 0 if mask_of(arguments, "begin_mask")[number] else values_of(arguments, "begin")[number]


def _selected(arguments: Arguments, step: _Step) -> range:
    """The elements along a sliced dimension (Detailed description, the notes, `begin_mask` and `end_mask`)."""
    begin, end, stride = (values_of(arguments, index)[step.number] for index in INDICES)
    first = None if mask_of(arguments, "begin_mask")[step.number] else max(begin, -step.size)
    last = None if mask_of(arguments, "end_mask")[step.number] else end
    return range(*slice(first, last, stride).indices(step.size))


def parts_of(arguments: Arguments) -> list[range | int | None]:
    """Per dimension its selected elements, the index of a removed dimension, or None for a new dimension.

    The last dimensions have no slicing step and are left out.
    """
    parts = list[range | int | None]()
    for step in steps_of(arguments):
        match step.kind:
            case "new":
                parts.append(None)
            case "shrink":
                parts.append(index_of(arguments, step.number))
            case "slice":
                parts.append(_selected(arguments, step))
            case _:
                parts.append(range(step.size))
    return parts
