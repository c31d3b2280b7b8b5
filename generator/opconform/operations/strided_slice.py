"""StridedSlice-1, from its specification page: a region of data, with strides, new and removed dimensions."""

from typing import NamedTuple

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, Rejection, TensorType
from opconform.suite.case import Shape
from opconform.tensors.tensor import Tensor

#: The inputs that have one element per slicing step (Inputs, 2 to 4); the last one is optional.
_INDICES = ("begin", "end", "stride")
#: The attributes that have one bit per slicing step (Attributes).
_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")

#: The slicing steps that take one dimension of data.
_ONE_DIMENSION = ("slice", "shrink")


def _values(arguments: Arguments, name: str) -> tuple[int, ...]:
    """The elements of an index input; strides of 1 if the only optional one is omitted (Inputs, 4)."""
    given = arguments.inputs.get(name)
    if given is None:
        return (1,) * len(_values(arguments, "begin"))
    return given.integers or ()


def _mask(arguments: Arguments, name: str, count: int) -> list[int]:
    """The first bits of a mask, padded with zeros; longer masks are cut (Detailed description)."""
    given = arguments.attributes[name]
    bits = [int(str(each)) for each in given] if isinstance(given, tuple) else []
    return [*bits, *[0] * count][:count]


def _bit(arguments: Arguments, name: str, number: int) -> int:
    """The bit of one slicing step in a mask."""
    return _mask(arguments, name, number + 1)[number]


def _index_violations(arguments: Arguments, name: str) -> list[str]:
    """The violated requirements on one index input (Inputs, 2 to 4; Types)."""
    given = arguments.inputs.get(name)
    if given is None:
        return [] if name == "stride" else [f"{name}.required"]
    wrong_rank = [] if len(given.shape) == 1 else [f"{name}.rank"]
    return [*wrong_rank, *([] if given.is_integer else [f"{name}.element-type"])]


def _count_violations(arguments: Arguments) -> list[str]:
    """The violated requirement on the numbers of elements (Detailed description, second property)."""
    given = [arguments.inputs[each].shape for each in _INDICES if each in arguments.inputs]
    return ["indices.count"] if len({each for each in given if len(each) == 1}) > 1 else []


def _mask_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the types and values of the masks (Attributes)."""
    given = [arguments.attributes[each] for each in _MASKS]
    if any(not isinstance(each, tuple) or any(type(one) is not int for one in each) for each in given):
        return ["masks.type"]
    return (
        ["masks.values"] if any(one not in (0, 1) for each in given if isinstance(each, tuple) for one in each) else []
    )


class _Step(NamedTuple):
    """What one slicing step does to one dimension: `slice` or `shrink` it, add a `new` one, or leave it `whole`."""

    kind: str
    number: int
    size: int


def kinds_of(arguments: Arguments) -> list[str]:
    """What each slicing step does; an ellipsis precedes a new dimension, and that a removed one."""
    count = len(_values(arguments, "begin"))
    masks = [_mask(arguments, each, count) for each in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")]
    names = ("ellipsis", "new", "shrink", "slice")
    return [names[(*bits, 1).index(1)] for bits in zip(*masks, strict=True)]


def _steps(arguments: Arguments, shape: Shape) -> list[_Step]:
    """What happens to each dimension, in order; without an ellipsis, the last dimensions remain as they are."""
    kinds, sizes = kinds_of(arguments), iter(shape)
    others = len(shape) - sum(each in _ONE_DIMENSION for each in kinds)
    steps = list[_Step]()
    for number, kind in enumerate(kinds if "ellipsis" in kinds else [*kinds, "ellipsis"]):
        if kind == "ellipsis":
            steps += [_Step("whole", number, next(sizes)) for _ in range(others)]
        else:
            steps.append(_Step(kind, number, 1 if kind == "new" else next(sizes)))
    return steps


def _step_violations(arguments: Arguments, shape: Shape) -> list[str]:
    """The violated requirements on slicing steps that have the right types and numbers."""
    kinds, strides = kinds_of(arguments), _values(arguments, "stride")
    zero = ["stride.zero"] if ("slice", 0) in zip(kinds, strides, strict=True) else []
    if kinds.count("ellipsis") > 1:
        return [*zero, "ellipsis.single"]
    if sum(each in _ONE_DIMENSION for each in kinds) > len(shape):
        return [*zero, "indices.rank"]
    removed = [each for each in _steps(arguments, shape) if each.kind == "shrink"]
    inside = all(-each.size <= _index(arguments, each.number) < each.size for each in removed)
    return [*zero, *([] if inside else ["shrink.range"])]


def _index(arguments: Arguments, number: int) -> int:
    """The index of the only element along a removed dimension (Detailed description, `shrink_axis_mask`)."""
    return 0 if _bit(arguments, "begin_mask", number) else _values(arguments, "begin")[number]


def _selected(arguments: Arguments, step: _Step) -> range:
    """The elements along a sliced dimension (Detailed description, the notes, `begin_mask` and `end_mask`)."""
    size, number = step.size, step.number
    begin, end, stride = (_values(arguments, each)[number] for each in _INDICES)
    lowest, highest = (0, size) if stride > 0 else (-1, size - 1)
    first, last = (each + size if each < 0 else each for each in (begin, end))
    first = min(max(first, 0), highest)
    last = min(max(last, lowest), size)
    if _bit(arguments, "begin_mask", number):
        first = 0 if stride > 0 else size - 1
    if _bit(arguments, "end_mask", number):
        last = size if stride > 0 else -1
    return range(first, last, stride)


def parts_of(arguments: Arguments) -> list[range | int | None]:
    """Per dimension its selected elements, the index of a removed dimension, or None for a new dimension.

    Raises:
        Rejection: The arguments are invalid.
    """
    data = arguments.inputs.get("data")
    violated = [
        *([] if data is not None else ["data.required"]),
        *(each for name in _INDICES for each in _index_violations(arguments, name)),
        *_count_violations(arguments),
        *_mask_violations(arguments),
    ]
    if data is not None and not violated:
        violated = _step_violations(arguments, data.shape)
    if violated or data is None:
        raise Rejection(tuple(violated))
    parts = list[range | int | None]()
    for step in _steps(arguments, data.shape):
        match step.kind:
            case "new":
                parts.append(None)
            case "shrink":
                parts.append(_index(arguments, step.number))
            case "slice":
                parts.append(_selected(arguments, step))
            case _:
                parts.append(range(step.size))
    return parts


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    sizes = (1 if each is None else len(each) for each in parts_of(arguments) if not isinstance(each, int))
    return (TensorType(element_type=arguments.inputs["data"].element_type, shape=tuple(sizes)),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    data = arguments.tensor("data")
    index = tuple(
        slice(each.start, each.stop if each.stop >= 0 else None, each.step) if isinstance(each, range) else each
        for each in parts_of(arguments)
    )
    return (Tensor(element_type=data.element_type, array=np.array(data.array[index], data.array.dtype, order="C")),)


STRIDED_SLICE = Operation(
    name="StridedSlice-1",
    inputs=(
        Port("data", role="tensor"),
        Port("begin", role="control"),
        Port("end", role="control"),
        Port("stride", role="control", optional=True),
    ),
    attributes=tuple(AttributeSpec(each, type="ints", default=(0,)) for each in _MASKS),
    infer=_infer,
    evaluate=_evaluate,
    bits="data.bits",
    contexts={
        "chain": contexts.chain("data"),
        "convert": contexts.convert,
        "doubled": contexts.doubled(lambda _: -1),
        "shape-of": contexts.shape_of("data", "end"),
    },
)
