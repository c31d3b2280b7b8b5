"""Concat-1, from its specification page: tensors joined along an axis."""

from itertools import accumulate

import numpy as np

from opconform.operations import contexts
from opconform.operations.operation import Arguments, AttributeSpec, Operation, Port, Region, Rejection, TensorType
from opconform.tensors.tensor import Tensor


def _axis(arguments: Arguments) -> int | None:
    """The non-negative axis, or None if the first input has no such dimension (Attributes, axis)."""
    given, tensors = arguments.attributes.get("axis"), arguments.every("inputs")
    rank = len(tensors[0].shape) if tensors else 0
    if not isinstance(given, int) or isinstance(given, bool) or not -rank <= given < rank:
        return None
    return given % rank


def _axis_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the axis; an input of rank 0 has no axis (Attributes, axis)."""
    given, tensors = arguments.attributes.get("axis"), arguments.every("inputs")
    if given is None:
        return ["axis.required"]
    if not isinstance(given, int) or isinstance(given, bool):
        return ["axis.type"]
    return ["axis.range"] if tensors and tensors[0].shape and _axis(arguments) is None else []


def _input_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the inputs (Inputs, 1..N)."""
    tensors, axis = arguments.every("inputs"), _axis(arguments)
    if not tensors:
        return ["inputs.required"]
    types = ["inputs.element-type"] if len({each.element_type for each in tensors}) > 1 else []
    scalars = ["inputs.positive-rank"] if any(not each.shape for each in tensors) else []
    if len({len(each.shape) for each in tensors}) > 1:
        return [*types, *scalars, "inputs.rank"]
    others = {(*each.shape[:axis], *each.shape[axis + 1 :]) for each in tensors} if axis is not None else set()
    return [*types, *scalars, *(["inputs.shape"] if len(others) > 1 else [])]


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    violated = (*_axis_violations(arguments), *_input_violations(arguments))
    axis = _axis(arguments)
    if violated or axis is None:
        raise Rejection(violated)
    tensors = arguments.every("inputs")
    element_type, shape = tensors[0].element_type, tensors[0].shape
    size = sum(each.shape[axis] for each in tensors)
    return (TensorType(element_type=element_type, shape=(*shape[:axis], size, *shape[axis + 1 :])),)


def _regions(arguments: Arguments) -> tuple[Region, ...]:
    """The region of the output that each input is."""
    axis, shapes = _axis(arguments), [each.shape for each in arguments.every("inputs")]
    starts = accumulate((0 if axis is None else shape[axis] for shape in shapes), initial=0)
    return tuple(
        Region(
            input=f"inputs_{number}",
            start=tuple(start if each == axis else 0 for each in range(len(shape))),
            sizes=shape,
        )
        for number, (start, shape) in enumerate(zip(starts, shapes, strict=False))
    )


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    [joined] = _infer(arguments)
    tensors = [arguments.tensor(each.input).array for each in _regions(arguments)]
    array = np.empty(joined.shape, np.result_type(*tensors))
    for tensor, region in zip(tensors, _regions(arguments), strict=True):
        array[region.index] = tensor
    return (Tensor(element_type=joined.element_type, array=array),)


def _values(arguments: Arguments) -> tuple[int, ...] | None:
    """The integers of a list that is joined from lists."""
    lists = [each.known_integers for each in arguments.every("inputs") if len(each.shape) == 1]
    known = [integer for each in lists if each is not None for integer in each]
    return None if None in lists or len(lists) < len(arguments.inputs) else tuple(known)


CONCAT = Operation(
    name="Concat-1",
    inputs=(Port("inputs", role="tensor", variadic=True),),
    attributes=(AttributeSpec("axis", type="int"),),
    infer=_infer,
    evaluate=_evaluate,
    bits="inputs.bits",
    contexts={
        "chain": contexts.chain("inputs_0"),
        "repeated": contexts.repeated,
        "doubled": contexts.doubled(_axis),
        "split": contexts.split(_axis),
    },
    joined=_regions,
    values=_values,
)
